"""ControllerRegistration: a controller registers its endpoints and supported features (KIP-919).

UnregisterController: an administrator removes the registration of a controller that is gone (KIP-1312).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.handlers.registrations import endpoints, features
from controller.interface.results import Result
from records.errors import ApiError, Error
from records.features.record_versions import CONTROLLER_REGISTRATION, CONTROLLER_UNREGISTRATION
from records.messages.controllers import ControllerRegistrationResponse, UnregisterControllerResponse
from records.metadata.brokers import RegisterControllerRecord, UnregisterControllerRecord

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.controllers import ControllerRegistrationRequest, UnregisterControllerRequest


def register_controller(
    state: State, _context: RequestContext, request: ControllerRegistrationRequest, _env: Env
) -> Result:
    """ControllerRegistration: always writes a record, even if nothing has changed."""
    if state.metadata_version < CONTROLLER_REGISTRATION:
        raise ApiError(
            Error.UNSUPPORTED_VERSION, "The current MetadataVersion is too old to support controller registrations."
        )
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=False,
        end_points=endpoints(RegisterControllerRecord.ControllerEndpoint, request.listeners),
        features=features(RegisterControllerRecord.ControllerFeature, request.features),
    )
    response = ControllerRegistrationResponse(throttle_time_ms=0, error_code=Error.NONE, error_message="")
    return Result(response, [(record, 0)])


def unregister_controller(
    state: State, _context: RequestContext, request: UnregisterControllerRequest, env: Env
) -> Result:
    """UnregisterController: removes a registration, whether or not its controller is a voter or running.

    A controller that still runs registers anew. Raises ApiError: INVALID_REQUEST for the active controller itself,
    UNSUPPORTED_VERSION below metadata.version 4.4-IV2, CONTROLLER_ID_NOT_REGISTERED.
    """
    node_id = request.controller_id
    if node_id == env.node_id:
        raise ApiError(Error.INVALID_REQUEST, "Controller cannot unregister itself while it is active.")
    if state.metadata_version < CONTROLLER_UNREGISTRATION:
        raise ApiError(
            Error.UNSUPPORTED_VERSION, "The current MetadataVersion is too old to support controller unregistration."
        )
    if node_id not in state.controllers:
        raise ApiError(Error.CONTROLLER_ID_NOT_REGISTERED, f"Controller ID {node_id} is not currently registered.")
    response = UnregisterControllerResponse(throttle_time_ms=0, error_code=Error.NONE, error_message="")
    return Result(response, [(UnregisterControllerRecord(controller_id=node_id), 0)])
