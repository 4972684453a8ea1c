"""ControllerRegistration: a controller registers its endpoints and supported features (KIP-919)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.features.record_versions import CONTROLLER_REGISTRATION
from controller.handlers.registrations import endpoints, features
from controller.interface.results import Result
from records.errors import ApiError, Error
from records.messages.controllers import ControllerRegistrationResponse
from records.metadata.brokers import RegisterControllerRecord

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.controllers import ControllerRegistrationRequest


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
