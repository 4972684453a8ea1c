"""Records of registered brokers and controllers (KIP-631, KIP-919)."""

from records.schema import message, since, struct, tagged_field
from records.wire import array, boolean, int8, int16, int32, int64, nullable, string, uint16, uuid


@message(api_key=0, kind="metadata", versions=(0, 4), flexible=0)
class RegisterBrokerRecord:
    """A broker registered, also one that registers again after a restart; it is fenced until it has caught up (KIP-631,
    KIP-858, KIP-1066).

    broker_epoch: the offset of this record.
    incarnation_id: drawn anew at each start of the broker.
    end_points: where it listens.
    features: what it could do.
    is_migrating_zk_broker: of the migration from ZooKeeper.
    log_dirs: ids of its log directories.
    """

    @struct
    class BrokerEndpoint:
        name: string
        host: string
        port: uint16
        security_protocol: int16

    @struct
    class BrokerFeature:
        name: string
        min_supported_version: int16
        max_supported_version: int16

    broker_id: int32
    is_migrating_zk_broker: boolean = since(2, default=False)
    incarnation_id: uuid
    broker_epoch: int64
    end_points: array[BrokerEndpoint]
    features: array[BrokerFeature]
    rack: nullable[string]
    fenced: boolean = True
    in_controlled_shutdown: boolean = since(1, default=False)
    log_dirs: array[uuid] = tagged_field(0, default=(), since=3)
    cordoned_log_dirs: nullable[array[uuid]] = tagged_field(1, default=None, since=4)


@message(api_key=1, kind="metadata", versions=(0, 0), flexible=0)
class UnregisterBrokerRecord:
    """A broker's registration is gone (KIP-631)."""

    broker_id: int32
    broker_epoch: int64


@message(api_key=7, kind="metadata", versions=(0, 0), flexible=0)
class FenceBrokerRecord:
    """A broker is fenced: it leads no partition, and clients do not see it (KIP-631; replaced by
    BrokerRegistrationChangeRecord).

    id: the broker.
    epoch: its broker epoch.
    """

    id: int32
    epoch: int64


@message(api_key=8, kind="metadata", versions=(0, 0), flexible=0)
class UnfenceBrokerRecord:
    """A broker is no longer fenced (KIP-631; replaced by BrokerRegistrationChangeRecord).

    id: the broker.
    epoch: its broker epoch.
    """

    id: int32
    epoch: int64


@message(api_key=17, kind="metadata", versions=(0, 3), flexible=0)
class BrokerRegistrationChangeRecord:
    """A broker is fenced or unfenced, is being led out, or its directories changed (KIP-841, KIP-858, KIP-1066).

    fenced: -1 unfenced now, 0 unchanged, 1 fenced now.
    in_controlled_shutdown: 0 unchanged, 1 from now on.
    log_dirs: ids of its log directories; empty for unchanged.
    cordoned_log_dirs: ids of directories that take no new replicas; null for unchanged.
    """

    broker_id: int32
    broker_epoch: int64
    fenced: int8 = tagged_field(0, default=0)
    in_controlled_shutdown: int8 = tagged_field(1, default=0, since=1)
    log_dirs: array[uuid] = tagged_field(2, default=(), since=2)
    cordoned_log_dirs: nullable[array[uuid]] = tagged_field(3, default=None, since=3)


@message(api_key=27, kind="metadata", versions=(0, 0), flexible=0)
class RegisterControllerRecord:
    """A controller registered its endpoints and supported features (KIP-919).

    incarnation_id: drawn anew at each start of the controller.
    end_points: where it listens.
    features: what it could do.
    """

    @struct
    class ControllerEndpoint:
        name: string
        host: string
        port: uint16
        security_protocol: int16

    @struct
    class ControllerFeature:
        name: string
        min_supported_version: int16
        max_supported_version: int16

    controller_id: int32
    incarnation_id: uuid
    zk_migration_ready: boolean
    end_points: array[ControllerEndpoint]
    features: array[ControllerFeature]


@message(api_key=29, kind="metadata", versions=(0, 0), flexible=0)
class UnregisterControllerRecord:
    """A controller's registration is gone."""

    controller_id: int32
