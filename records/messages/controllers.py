"""Registration of controllers (KIP-919)."""

from records.schema import message, struct
from records.wire import array, boolean, int16, int32, nullable, string, uint16, uuid


@message(api_key=70, kind="request", versions=(0, 0), flexible=0)
class ControllerRegistrationRequest:
    """A controller registers its endpoints and supported features with the active one (KIP-919).

    incarnation_id: a new random id at each start of the process.
    """

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
    """Says whether the controller is registered."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]


@message(api_key=94, kind="request", versions=(0, 0), flexible=0)
class UnregisterControllerRequest:
    """Removes the registration of a controller that will not come back.

    controller_id: the controller to unregister.
    """

    controller_id: int32


@message(api_key=94, kind="response", versions=(0, 0), flexible=0)
class UnregisterControllerResponse:
    """Says whether the registration was removed."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
