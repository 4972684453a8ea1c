"""Registered brokers (KIP-631, KIP-841, KIP-858, KIP-1066)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, java_order, uuid_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.state.state import State
    from records.metadata.brokers import (
        BrokerRegistrationChangeRecord,
        FenceBrokerRecord,
        RegisterBrokerRecord,
        RegisterControllerRecord,
        UnfenceBrokerRecord,
        UnregisterBrokerRecord,
    )

# BrokerRegistrationChangeRecord: what its fields say.
UNFENCE = -1
NO_CHANGE = 0
FENCE = 1
ENTER_CONTROLLED_SHUTDOWN = 1

SECURITY_PROTOCOLS = {0: "PLAINTEXT", 1: "SSL", 2: "SASL_PLAINTEXT", 3: "SASL_SSL"}


class Endpoint(NamedTuple):
    """Where a listener is reached. security_protocol: a key of SECURITY_PROTOCOLS."""

    host: str
    port: int
    security_protocol: int


class VersionRange(NamedTuple):
    """The levels of a feature that a node supports, both inclusive."""

    min: int
    max: int


class Broker(NamedTuple):
    """A registered broker.

    epoch: changes with each incarnation. listeners: by name. directories: ids of its log directories that are online,
    ascending; empty where it registered before metadata.version 3.7-IV2. cordoned: directories that take no new
    replicas; None as long as the broker has not reported them.
    """

    broker_id: int
    epoch: int
    incarnation_id: bytes
    listeners: Mapping[str, Endpoint]
    features: Mapping[str, VersionRange]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    is_migrating_zk_broker: bool
    directories: tuple[bytes, ...]
    cordoned: tuple[bytes, ...] | None

    @property
    def is_active(self) -> bool:
        """Whether it may lead partitions and be in their ISR."""
        return not self.fenced and not self.in_controlled_shutdown

    @property
    def default_directory(self) -> bytes:
        """The directory that a new replica on this broker is assigned to at first (KIP-858)."""
        if not self.directories:
            return MIGRATING_DIRECTORY
        return self.directories[0] if len(self.directories) == 1 else UNASSIGNED_DIRECTORY

    def has_online(self, directory: bytes) -> bool:
        """Whether a replica in this directory can be served."""
        if directory in (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY):
            return True
        if directory == LOST_DIRECTORY:
            return False
        return not self.directories or directory in self.directories

    @property
    def has_uncordoned_directory(self) -> bool:
        """Whether new replicas may be placed on it (KIP-1066)."""
        if not self.directories or self.cordoned is None:
            return True
        return any(directory not in self.cordoned for directory in self.directories)


def replay_register_broker(state: State, record: RegisterBrokerRecord, offset: int) -> None:
    """A broker registered, for the first time or in place of its former incarnation."""
    broker = Broker(
        record.broker_id,
        record.broker_epoch,
        record.incarnation_id,
        listeners_of(record),
        features_of(record),
        record.rack,
        record.fenced,
        record.in_controlled_shutdown,
        record.is_migrating_zk_broker,
        tuple(sorted(record.log_dirs, key=java_order)),
        None if record.cordoned_log_dirs is None else tuple(record.cordoned_log_dirs),
    )
    _own(state, broker.broker_id, broker.directories)
    state.brokers.put(broker.broker_id, broker)
    state.registration_offsets.put(broker.broker_id, offset)


def replay_unregister_broker(state: State, record: UnregisterBrokerRecord, _offset: int) -> None:
    broker = _require_registered(state, record.broker_id, record.broker_epoch)
    _own(state, broker.broker_id, ())
    state.brokers.remove(broker.broker_id)
    state.registration_offsets.remove(broker.broker_id)


def replay_fence_broker(state: State, record: FenceBrokerRecord, _offset: int) -> None:
    """Fence a broker; only releases before 3.3 wrote this record."""
    broker = _require_registered(state, record.id, record.epoch)
    state.brokers.put(broker.broker_id, broker._replace(fenced=True))


def replay_unfence_broker(state: State, record: UnfenceBrokerRecord, _offset: int) -> None:
    """Unfence a broker; only releases before 3.3 wrote this record."""
    broker = _require_registered(state, record.id, record.epoch)
    state.brokers.put(broker.broker_id, broker._replace(fenced=False))


def replay_broker_registration_change(state: State, record: BrokerRegistrationChangeRecord, _offset: int) -> None:
    """Change the fields that the record names; null directories, or none, mean no change."""
    broker = _require_registered(state, record.broker_id, record.broker_epoch)
    if record.fenced not in (UNFENCE, NO_CHANGE, FENCE):
        raise ValueError(f"broker {broker.broker_id}: the change of fencing is {record.fenced}")
    if record.in_controlled_shutdown not in (NO_CHANGE, ENTER_CONTROLLED_SHUTDOWN):
        raise ValueError(f"broker {broker.broker_id}: the change of shutdown is {record.in_controlled_shutdown}")
    fenced = broker.fenced if record.fenced == NO_CHANGE else record.fenced == FENCE
    directories = tuple(sorted(record.log_dirs, key=java_order)) or broker.directories
    _own(state, broker.broker_id, directories)
    changed = broker._replace(
        fenced=fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown or record.in_controlled_shutdown != NO_CHANGE,
        directories=directories,
        cordoned=broker.cordoned if record.cordoned_log_dirs is None else tuple(record.cordoned_log_dirs),
    )
    if changed != broker:
        state.brokers.put(broker.broker_id, changed)


def listeners_of(record: RegisterBrokerRecord | RegisterControllerRecord) -> dict[str, Endpoint]:
    """The listeners of a registration by name; raises ValueError for an unnamed one or an unknown protocol."""
    listeners = {}
    for endpoint in record.end_points:
        if endpoint.security_protocol not in SECURITY_PROTOCOLS:
            raise ValueError(f"listener {endpoint.name}: there is no security protocol {endpoint.security_protocol}")
        if not endpoint.name:
            raise ValueError(f"the listener at {endpoint.host}:{endpoint.port} has no name")
        listeners[endpoint.name] = Endpoint(endpoint.host, endpoint.port, endpoint.security_protocol)
    return listeners


def features_of(record: RegisterBrokerRecord | RegisterControllerRecord) -> dict[str, VersionRange]:
    """The feature levels that a registration offers, by name."""
    return {
        feature.name: VersionRange(feature.min_supported_version, feature.max_supported_version)
        for feature in record.features
    }


def _require_registered(state: State, broker_id: int, epoch: int) -> Broker:
    broker = state.brokers.get(broker_id)
    if broker is None:
        raise ValueError(f"broker {broker_id} is not registered")
    if broker.epoch != epoch:
        raise ValueError(f"broker {broker_id} is registered with epoch {broker.epoch}, not {epoch}")
    return broker


def _own(state: State, broker_id: int, directories: tuple[bytes, ...]) -> None:
    """Set the directories that the broker owns; raises ValueError where another broker owns one."""
    owners = state.directory_owners
    registered = state.brokers.get(broker_id)
    former = () if registered is None else registered.directories
    if former == directories:
        return
    for directory in former:
        if directory not in directories and directory in owners:
            owners.remove(directory)
    for directory in directories:
        owner = owners.get(directory)
        if owner is None:
            owners.put(directory, broker_id)
        elif owner != broker_id:
            raise ValueError(f"directory {uuid_text(directory)} of broker {broker_id} belongs to broker {owner}")
