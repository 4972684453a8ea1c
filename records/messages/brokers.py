"""Registration and heartbeats of brokers (KIP-631)."""

from records.schema import message, since, struct, tagged_field
from records.wire import array, boolean, int16, int32, int64, nullable, string, uint16, uuid


@message(api_key=62, kind="request", versions=(0, 4), flexible=0)
class BrokerRegistrationRequest:
    """A starting broker registers with the active controller (KIP-631, KIP-858, KIP-966).

    incarnation_id: a new random id at each start of the process.
    listeners: where clients and other brokers reach it.
    features: the feature levels that it supports.
    is_migrating_zk_broker: of the migration from ZooKeeper; no longer accepted.
    log_dirs: ids of its log directories.
    previous_broker_epoch: from its last clean shutdown; -1 if that was not clean.
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
    """Gives the broker its epoch: the offset of its registration in the metadata log.

    broker_epoch: for all its requests from now on; -1 with an error.
    """

    throttle_time_ms: int32
    error_code: int16
    broker_epoch: int64 = -1


@message(api_key=63, kind="request", versions=(0, 2), flexible=0)
class BrokerHeartbeatRequest:
    """A broker's heartbeat: its metadata offset, and whether it wants to be fenced or shut down (KIP-631, KIP-858,
    KIP-1066).

    current_metadata_offset: the end of the records that it has applied; it is unfenced after it has applied its
        registration.
    want_fence: whether it wants to be, or stay, fenced.
    want_shut_down: whether it requests a controlled shutdown.
    offline_log_dirs: ids of directories that have failed.
    cordoned_log_dirs: ids of directories that take no new replicas; null where unchanged.
    """

    broker_id: int32
    broker_epoch: int64 = -1
    current_metadata_offset: int64
    want_fence: boolean
    want_shut_down: boolean
    offline_log_dirs: array[uuid] = tagged_field(0, default=(), since=1)
    cordoned_log_dirs: nullable[array[uuid]] = tagged_field(1, default=None, since=2)


@message(api_key=63, kind="response", versions=(0, 2), flexible=0)
class BrokerHeartbeatResponse:
    """Says whether the broker is fenced, has caught up, and may stop.

    is_caught_up: whether it has applied its own registration.
    should_shut_down: whether it leads nothing more and can stop.
    """

    throttle_time_ms: int32
    error_code: int16
    is_caught_up: boolean = False
    is_fenced: boolean = True
    should_shut_down: boolean


@message(api_key=64, kind="request", versions=(0, 0), flexible=0)
class UnregisterBrokerRequest:
    """Removes the registration of a broker that will not come back (KIP-631).

    broker_id: the broker to unregister.
    """

    broker_id: int32


@message(api_key=64, kind="response", versions=(0, 0), flexible=0)
class UnregisterBrokerResponse:
    """Says whether the registration was removed."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
