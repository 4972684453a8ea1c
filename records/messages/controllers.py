"""Registration of controllers (KIP-919)."""

from records.schema import message, struct
from records.wire import array, boolean, int16, int32, nullable, string, uint16, uuid


@message(api_key=70, kind="request", versions=(0, 0), flexible=0)
class ControllerRegistrationRequest:
    """Asks: ControllerRegistration."""

    @struct
    class Listener:
        name: string
        host: string
        port: uint16
        security_protocol: int16

    @struct
    class Feature:
        name: string
        min_supported_version: int16
        max_supported_version: int16

    controller_id: int32
    incarnation_id: uuid
    zk_migration_ready: boolean
    listeners: array[Listener]
    features: array[Feature]


@message(api_key=70, kind="response", versions=(0, 0), flexible=0)
class ControllerRegistrationResponse:
    """Answers: ControllerRegistration."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]


@message(api_key=94, kind="request", versions=(0, 0), flexible=0)
class UnregisterControllerRequest:
    """Asks: UnregisterController."""

    controller_id: int32


@message(api_key=94, kind="response", versions=(0, 0), flexible=0)
class UnregisterControllerResponse:
    """Answers: UnregisterController."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
