"""The check that the sender of a request is allowed the operation on the cluster that its API needs (`Api.needs`).

The check is the same for every API. The controller makes it for its own requests, the node for envelopes and for the
requests of the quorum. For the resources that a request names, handlers call `controller.rules.permissions.allows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface.refusals import error_response
from controller.rules.permissions import allows
from controller.state.tables.acl import CLUSTER_NAME, AclResourceType
from records.errors import ApiError, Error

if TYPE_CHECKING:
    from controller.core.apis import Api
    from controller.core.controller import Controller
    from controller.interface.inputs import RequestContext
    from controller.state.tables.acl import AclOperation
    from records.features.levels import Release


def refusal(controller: Controller, api: Api, context: RequestContext, request: Any) -> Any:
    """The response to a request that its sender is not allowed to make; None if it is allowed."""
    try:
        if is_allowed(controller, api, context):
            return None
        assert api.needs is not None, "nothing is needed"
        error = ApiError(Error.CLUSTER_AUTHORIZATION_FAILED, denied_text(context, api.needs, controller.env.release))
    except ApiError as failed:
        error = failed
    if api.check_level is not None:
        try:
            api.check_level(controller.state, controller.env)
        except ApiError as too_low:
            error = too_low
    return error_response(request, error, context.version, controller.env.slices.spread)


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
