"""StandardAuthorizer: which ACL decides on an action (KIP-11, KIP-290, KIP-801).

In this order:

1. A super user is allowed everything, also before the ACLs are loaded.
2. The ACLs that count are those whose resource pattern covers the resource, whose principal is the sender or `User:*`,
   whose host is the sender's or `*`, and whose operation is the one asked for or ALL. From Kafka 4.4 on a
   host in CIDR notation is that of each sender in its range (KIP-1276), at every metadata.version, as there.
3. One of them that denies is enough; else one that allows is enough. It may also allow an operation that implies the
   one asked for: `_IMPLIED`. What is denied implies nothing.
4. Where an ACL covers the resource, but none of them counts, the action is denied.
5. Where no ACL covers the resource, `allow.everyone.if.no.acl.found` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface.access import Decision
from controller.state.tables.acl import WILDCARD, AclOperation, Permission
from records.errors import ApiError, Error
from records.java.cidr import covers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.interface.access import Action
    from controller.state.tables.acl import Acl
    from controller.state.tables.acl_index import AclIndex

EVERY_USER = "User:*"

SUPER_USER = Decision(allowed=True, rule="SuperUser")
DEFAULT_ALLOW = Decision(allowed=True, rule="DefaultAllow")
DEFAULT_DENY = Decision(allowed=False, rule="DefaultDeny")

# AclOperation -> the operations of ACLs that allow it too.
_IMPLIED = {
    AclOperation.DESCRIBE: frozenset(
        {AclOperation.DESCRIBE, AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS}),
}


class StandardAuthorizer:
    """Stock Kafka's authorizer. super_users: as `Type:Name`. takes_cidr: whether hosts of ACLs may be ranges."""

    __slots__ = ("allows_without_acls", "super_users", "takes_cidr")

    def __init__(
        self, super_users: Iterable[str] = (), *, allows_without_acls: bool = False, takes_cidr: bool = False
    ) -> None:
        self.super_users = frozenset(super_users)
        self.allows_without_acls = allows_without_acls
        self.takes_cidr = takes_cidr

    def decide(self, action: Action, acls: AclIndex | None) -> Decision:
        """Raises ApiError(UNKNOWN_SERVER_ERROR) for anyone but a super user while the ACLs are not loaded, and for a
        principal with the name of every user.
        """
        principal = f"{action.principal.type}:{action.principal.name}"
        if principal in self.super_users:
            return SUPER_USER
        if acls is None:
            raise ApiError(Error.UNKNOWN_SERVER_ERROR, "The ACLs are not loaded yet.")
        if principal == EVERY_USER:
            # Stock fails here too: nobody gets every user's rights by that name.
            raise ApiError(Error.UNKNOWN_SERVER_ERROR, f"duplicate element: {EVERY_USER}")
        principals = _principals(action, principal)
        allowing: Acl | None = None
        is_covered = False
        for of_pattern in acls.patterns(action.resource_type, action.resource_name):
            is_covered = True
            for name in principals:
                for acl in of_pattern.get(name, ()):
                    if not matches(acl, action, self.takes_cidr):
                        continue
                    if acl.permission_type != Permission.ALLOW:
                        return Decision(allowed=False, rule=rule_text(acl))
                    allowing = acl
        if allowing is not None:
            return Decision(allowed=True, rule=rule_text(allowing))
        return DEFAULT_ALLOW if self.allows_without_acls and not is_covered else DEFAULT_DENY

    def denies_all(self, action: Action, acls: AclIndex | None) -> bool:
        """Whether no ACL allows the action on any resource of its type, so that `decide` denies it for every name."""
        principal = f"{action.principal.type}:{action.principal.name}"
        if self.allows_without_acls or acls is None or principal in self.super_users or principal == EVERY_USER:
            return False
        return not any(
            fits(host, operation, Permission.ALLOW, action, self.takes_cidr)
            for name in _principals(action, principal)
            for host, operation in acls.allowing(action.resource_type, name)
        )


def _principals(action: Action, principal: str) -> tuple[str, ...]:
    """The principals whose ACLs count for a sender."""
    # Kafka reads the type of an ACL's principal up to the first colon, so no ACL names a type that has one.
    return (EVERY_USER,) if ":" in action.principal.type else (principal, EVERY_USER)


def matches(acl: Acl, action: Action, takes_cidr: bool = False) -> bool:
    """Whether an ACL, of a pattern and a principal that fit, is for this host and this operation."""
    return fits(acl.host, acl.operation, acl.permission_type, action, takes_cidr)


def fits(host: str, operation: int, permission: int, action: Action, takes_cidr: bool) -> bool:
    """Whether an ACL with this host, operation and permission is for the host and the operation of an action."""
    if host not in (WILDCARD, action.host) and not (takes_cidr and covers(host, action.host)):
        return False
    if operation in (AclOperation.ALL, action.operation):
        return True
    implied = _IMPLIED.get(action.operation)
    return implied is not None and permission == Permission.ALLOW and operation in implied


def rule_text(acl: Acl) -> str:
    """The ACL as the audit log names it."""
    values = ", ".join(f"{name}={value}" for name, value in acl._asdict().items())
    return f"MatchingAcl({values})"
