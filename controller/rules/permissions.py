"""Whether the sender of a request is allowed what it asks for: one decision at a time, and the audit log of them.

Handlers call `allows`; the operation on the whole cluster that most APIs need is checked before, in
`controller.core.authorization`. Without an authorizer (`Env.access` is None) everything is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface.access import Action
from controller.interface.effects import Noted
from controller.state.tables.acl import AclOperation, AclResourceType
from records.registry import APIS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State

AUDIT_LOGGER = "kafka.authorizer.logger"
DENIED = "authorization_denied"
ALLOWED = "authorization_allowed"
# The denied actions of one request that have a line each; one more line counts the others.
DENIED_LINES_MAX = 100
# Levels of the audit logger at which allowed requests are logged too.
_VERBOSE = frozenset({"TRACE", "DEBUG"})

_TYPE_NAMES = {
    AclResourceType.TOPIC: "Topic",
    AclResourceType.GROUP: "Group",
    AclResourceType.CLUSTER: "Cluster",
    AclResourceType.TRANSACTIONAL_ID: "TransactionalId",
    AclResourceType.DELEGATION_TOKEN: "DelegationToken",
    AclResourceType.USER: "User",
}


def allows(
    state: State,
    context: RequestContext,
    env: Env,
    operation: AclOperation,
    resource_type: AclResourceType,
    resource_name: str,
    *,
    log_denied: bool = True,
    log_allowed: bool = True,
) -> bool:
    """Whether the sender of a request is allowed an operation on a resource; decided once for each request.

    log_denied, log_allowed: False where the answer of the request does not depend on it as a whole, as in a filter.
    Raises ApiError(UNKNOWN_SERVER_ERROR) where the ACLs are not loaded and the sender is no super user.
    """
    access = env.access
    if access is None or context.is_own:
        return True
    if context.decisions is None:
        context.decisions = {}
    key = operation, resource_type, resource_name
    known = context.decisions.get(key)
    if known is not None:
        return known
    env.slices.pause()
    action = action_of(context, operation, resource_type, resource_name)
    allowed, rule = access.authorizer.decide(action, state.acls.index() if access.is_ready else None)
    context.decisions[key] = allowed
    if allowed:
        access.allowed_count += 1
        if log_allowed and env.loggers is not None and env.loggers.level(AUDIT_LOGGER) in _VERBOSE:
            access.notes.append(Noted(ALLOWED, audit_fields(action, rule)))
    else:
        access.denied_count += 1
        if log_denied:
            context.denials += 1
            if context.denials <= DENIED_LINES_MAX:
                access.notes.append(Noted(DENIED, audit_fields(action, rule)))
    return allowed


def action_of(context: RequestContext, operation: AclOperation, resource_type: AclResourceType, name: str) -> Action:
    sender = context.principal, context.client_address, context.listener
    return Action(*sender, context.api_key, operation, resource_type, name)


def permission_on(
    state: State,
    context: RequestContext,
    env: Env,
    operation: AclOperation,
    resource_type: AclResourceType,
    names: Collection[str],
) -> Callable[[str], bool]:
    """Whether the sender of a request is allowed an operation on a resource of a type, as a function of its name.

    names: those that may be asked for. Where they are many, and no ACL allows the operation on any resource, all of
    them are denied by one look, with one line in the log, so that a refusal costs less than the request.
    """
    access = env.access
    if access is not None and not context.is_own and len(names) > DENIED_LINES_MAX:
        action = action_of(context, operation, resource_type, next(iter(names)))
        if access.authorizer.denies_all(action, state.acls.index() if access.is_ready else None):
            if context.decisions is None:
                context.decisions = {}
            key = operation, resource_type, None
            if key not in context.decisions:
                context.decisions[key] = False
                access.denied_count += len(names)
                fields = audit_fields(action, "NoAclAllows")
                access.notes.append(Noted(DENIED, {**fields, "more": len(names) - 1}))
            return lambda _name: False
    return lambda name: allows(state, context, env, operation, resource_type, name)


def note_omitted(context: RequestContext, env: Env) -> None:
    """One line for the denied actions of a request that have none of their own; called once, with its answer."""
    omitted = context.denials - DENIED_LINES_MAX
    if omitted > 0 and env.access is not None:
        fields = {
            "principal": str(context.principal),
            "host": context.client_address,
            "request": _request_name(context.api_key),
            "more": omitted,
        }
        env.access.notes.append(Noted(DENIED, fields))
        context.denials = 0


def audit_fields(action: Action, rule: str) -> dict[str, str]:
    """What stock Kafka's audit log says of a decision."""
    type_name = _TYPE_NAMES.get(action.resource_type, action.resource_type.name)
    return {
        "principal": str(action.principal),
        "operation": action.operation.name,
        "host": action.host,
        "resource": f"{type_name}:LITERAL:{action.resource_name}",
        "request": _request_name(action.api_key),
        "rule": rule,
    }


def _request_name(api_key: int) -> str:
    return APIS[api_key][0] if api_key in APIS else str(api_key)
