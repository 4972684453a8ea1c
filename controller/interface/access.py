"""The interface of authorizers (KIP-504): `controller.rules.permissions.allows` calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from controller.interface.effects import Noted
    from controller.interface.inputs import Principal
    from controller.state.tables.acl import AclOperation, AclResourceType
    from controller.state.tables.acl_index import AclIndex


class Action(NamedTuple):
    """What a request wants to do. principal, host: of its sender, host being the text of an address.

    listener: on which the request, or the envelope around it, came in. resource_name: literal.
    """

    principal: Principal
    host: str
    listener: str
    api_key: int
    operation: AclOperation
    resource_type: AclResourceType
    resource_name: str


class Decision(NamedTuple):
    """rule: why, for the audit log."""

    allowed: bool
    rule: str


class Authorizer(Protocol):
    """An authorizer: `controller.rules.authorizer.StandardAuthorizer`, or a class of the operator."""

    def decide(self, action: Action, acls: AclIndex | None) -> Decision:
        """Decide on one action; acls: those that are committed, None where they are not loaded yet.

        Raises ApiError(UNKNOWN_SERVER_ERROR) where the decision needs ACLs that are not loaded.
        """

    def denies_all(self, action: Action, acls: AclIndex | None) -> bool:
        """Whether `decide` denies an action whatever the name of its resource; False also where only `decide` can say.

        Its cost does not depend on the number of names.
        """


class Access:
    """The authorizer of this node, and its decisions since the audit log was last written.

    is_ready: whether the ACLs are as new as what was committed when this process started; once true it stays true.
    early_start_listeners: those that serve requests before that; None for all.
    """

    __slots__ = ("allowed_count", "authorizer", "denied_count", "early_start_listeners", "is_ready", "notes")

    def __init__(self, authorizer: Authorizer, early_start_listeners: frozenset[str] | None = None) -> None:
        self.authorizer = authorizer
        self.early_start_listeners = early_start_listeners
        self.is_ready = False
        self.allowed_count = 0
        self.denied_count = 0
        self.notes: list[Noted] = []

    def must_wait(self, listener: str) -> bool:
        """Whether requests on this listener wait until the ACLs are loaded (`early.start.listeners`)."""
        early = self.early_start_listeners
        return not self.is_ready and early is not None and listener not in early

    def drain(self) -> list[Noted]:
        """The lines for the audit log since the last call."""
        notes, self.notes = self.notes, []
        return notes
