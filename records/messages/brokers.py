"""The life of a broker: registration, heartbeats (KIP-631)."""

from records.schema import message, since, struct, tagged
from records.wire import array, boolean, int16, int32, int64, nullable, string, uint16, uuid


@message(api_key=62, kind="request", versions=(0, 4), flexible=0)
class BrokerRegistrationRequest:
    """Asks: BrokerRegistration."""

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

    broker_id: int32
    cluster_id: string
    incarnation_id: uuid
    listeners: array[Listener]
    features: array[Feature]
    rack: nullable[string]
    is_migrating_zk_broker: boolean = since(1, default=False)
    log_dirs: array[uuid] = since(2, default=(), ignorable=True)
    previous_broker_epoch: int64 = since(3, default=-1, ignorable=True)


@message(api_key=62, kind="response", versions=(0, 4), flexible=0)
class BrokerRegistrationResponse:
    """Answers: BrokerRegistration."""

    throttle_time_ms: int32
    error_code: int16
    broker_epoch: int64 = -1


@message(api_key=63, kind="request", versions=(0, 2), flexible=0)
class BrokerHeartbeatRequest:
    """Asks: BrokerHeartbeat."""

    broker_id: int32
    broker_epoch: int64 = -1
    current_metadata_offset: int64
    want_fence: boolean
    want_shut_down: boolean
    offline_log_dirs: array[uuid] = tagged(0, default=(), since=1)
    cordoned_log_dirs: nullable[array[uuid]] = tagged(1, default=None, since=2)


@message(api_key=63, kind="response", versions=(0, 2), flexible=0)
class BrokerHeartbeatResponse:
    """Answers: BrokerHeartbeat."""

    throttle_time_ms: int32
    error_code: int16
    is_caught_up: boolean = False
    is_fenced: boolean = True
    should_shut_down: boolean


@message(api_key=64, kind="request", versions=(0, 0), flexible=0)
class UnregisterBrokerRequest:
    """Asks: UnregisterBroker."""

    broker_id: int32


@message(api_key=64, kind="response", versions=(0, 0), flexible=0)
class UnregisterBrokerResponse:
    """Answers: UnregisterBroker."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
