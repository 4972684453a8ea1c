"""The check that the sender of a request is allowed the operation on the cluster that its API needs (`Api.needs`).

The check is the same for every API. The controller makes it for its own requests, the node for envelopes and for the
requests of the quorum. For the resources that a request names, handlers call `controller.rules.permissions.allows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import Kind
from controller.interface.refusals import error_response, not_controller
from controller.rules.permissions import allows
from controller.state.tables.acl import CLUSTER_NAME, AclResourceType
from records.errors import ApiError, Error

if TYPE_CHECKING:
    from controller.core.apis import Api
    from controller.core.controller import Controller
    from controller.interface.inputs import RequestContext
    from controller.state.tables.acl import AclOperation
    from records.features.levels import Release


DESCRIBE_QUORUM = 55


def refusal(controller: Controller, api: Api, context: RequestContext, request: Any) -> Any:
    """The response to a request that its sender is not allowed to make; None if it is allowed."""
    try:
        if is_allowed(controller, api, context):
            return None
        assert api.needs is not None, "nothing is needed"
        error = ApiError(Error.CLUSTER_AUTHORIZATION_FAILED, denied_text(context, api.needs, controller.env.release))
    except ApiError as failed:
        error = or_not_controller(controller, api, failed)
    if api.check_level is not None:
        try:
            api.check_level(controller.state, controller.env)
        except ApiError as too_low:
            error = too_low
    return error_response(request, error, context.version, controller.env.slices.spread)


def or_not_controller(controller: Controller, api: Api, error: ApiError) -> ApiError:
    """The error of a request, or that of a standby where this node has not loaded its ACLs, and only the active
    controller or the leader can serve the request. Such a node is neither: a broker looks for it and sends it again.
    """
    access = controller.env.access
    if access is None or access.is_ready:
        return error
    if api.kind is Kind.RAFT and api.forwardable:
        is_of_leader = api.api_key == DESCRIBE_QUORUM
        return ApiError(Error.NOT_LEADER_OR_FOLLOWER if is_of_leader else Error.NOT_CONTROLLER)
    return not_controller(-1) if api.kind in (Kind.WRITE, Kind.ENVELOPE) else error


def is_allowed(controller: Controller, api: Api, context: RequestContext) -> bool:
    """Whether the sender is allowed what the API needs. Raises ApiError where that cannot be decided."""
    env, needs = controller.env, api.needs
    if needs is None or env.access is None:
        return True
    return allows(controller.state, context, env, needs, AclResourceType.CLUSTER, CLUSTER_NAME)


def denied_text(context: RequestContext, needs: AclOperation, release: Release) -> str:
    """The error text, which tools print, in the form that stock Kafka gives it."""
    request = (
        f"Request(processor=0, connectionId={context.client_address}-{context.source.connection}, "
        f"session=Session({context.principal},/{context.client_address}), "
        f"listenerName=ListenerName({context.listener}), securityProtocol={context.security_protocol}, "
        f"buffer=null, envelope={release.no_envelope})"
    )
    return f"Request {request} needs {needs.name} permission."


def on_loaded(controller: Controller) -> None:
    """The ACLs are as new as what was committed when this process started, so decisions may rest on them."""
    if controller.env.access is not None:
        controller.env.access.is_ready = True
