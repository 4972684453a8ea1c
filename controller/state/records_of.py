"""The records that describe a view: the contents of a snapshot, section by section in Kafka's order (KIP-630)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.state.partitions.partition import partition_record
from controller.state.tables.features import METADATA_VERSION
from controller.state.tables.producer_ids import NEXT
from records.features.record_versions import (
    CONTROLLER_REGISTRATION,
    CORDONED_DIRECTORIES,
    DELEGATION_TOKENS,
    DIRECTORY_ASSIGNMENT,
    MIGRATION,
    SCRAM,
    partition_version,
    register_broker_version,
)
from records.metadata.brokers import RegisterBrokerRecord, RegisterControllerRecord
from records.metadata.configs import ClientQuotaRecord, ConfigRecord, FeatureLevelRecord
from records.metadata.producer_ids import ProducerIdsRecord
from records.metadata.security import AccessControlEntryRecord, DelegationTokenRecord, UserScramCredentialRecord
from records.metadata.topics import TopicRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.state.tables.brokers import Broker
    from controller.state.tables.controllers import Controller
    from controller.state.view import View

    Found = tuple[Any, int]
    Section = Callable[[View], Iterator[Found]]


class UnwritableMetadataError(Exception):
    """Metadata that records of the present metadata.version cannot express: a snapshot would lose it."""

    def __init__(self, metadata_version: int, what: str) -> None:
        self.what = what
        super().__init__(
            f"Metadata has been lost because the following could not be represented in metadata.version level"
            f" {metadata_version}: {what}"
        )


def records_of(view: View) -> Iterator[Found]:
    """Each record with its version. Raises UnwritableMetadataError.

    Replayed in this order into an empty state, they give an equal state. All topics are before all partitions.
    """
    for section in SECTIONS:
        yield from section(view)


def features(view: View) -> Iterator[Found]:
    """metadata.version first: how the rest is read may depend on it."""
    levels = view.tables["features"]
    if METADATA_VERSION not in levels:
        raise UnwritableMetadataError(0, "the metadata version")
    for name in sorted(levels, key=lambda name: (name != METADATA_VERSION, name)):
        yield FeatureLevelRecord(name=name, feature_level=levels[name]), 0


def brokers(view: View) -> Iterator[Found]:
    for _, broker in sorted(view.tables["brokers"].items()):
        yield register_broker_record(broker, view.metadata_version), register_broker_version(view.metadata_version)


def register_broker_record(broker: Broker, metadata_version: int) -> RegisterBrokerRecord:
    """The RegisterBrokerRecord with the present state of a broker. Raises UnwritableMetadataError."""
    lost = [
        what
        for level, is_set, what in (
            (MIGRATION, broker.is_migrating_zk_broker, "the isMigratingZkBroker state of one or more brokers"),
            (DIRECTORY_ASSIGNMENT, broker.directories, "the online log directories of one or more brokers"),
            (CORDONED_DIRECTORIES, broker.cordoned is not None, "the cordoned log directories of one or more brokers"),
        )
        if is_set and metadata_version < level
    ]
    if lost:
        raise UnwritableMetadataError(metadata_version, lost[0])
    return RegisterBrokerRecord(
        broker_id=broker.broker_id,
        is_migrating_zk_broker=broker.is_migrating_zk_broker,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=_end_points(RegisterBrokerRecord.BrokerEndpoint, broker),
        features=_features(RegisterBrokerRecord.BrokerFeature, broker),
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=broker.directories,
        cordoned_log_dirs=broker.cordoned,
    )


def controllers(view: View) -> Iterator[Found]:
    registrations = sorted(view.tables["controllers"].items())
    if registrations and view.metadata_version < CONTROLLER_REGISTRATION:
        raise UnwritableMetadataError(view.metadata_version, "controller registration data")
    for _, controller in registrations:
        record = RegisterControllerRecord(
            controller_id=controller.controller_id,
            incarnation_id=controller.incarnation_id,
            zk_migration_ready=controller.zk_migration_ready,
            end_points=_end_points(RegisterControllerRecord.ControllerEndpoint, controller),
            features=_features(RegisterControllerRecord.ControllerFeature, controller),
        )
        yield record, 0


def topics(view: View) -> Iterator[Found]:
    for topic in view.tables["topics"].values():
        yield TopicRecord(name=topic.name, topic_id=topic.topic_id), 0


def partitions(view: View) -> Iterator[Found]:
    for rows in view.columns.living():
        for row in rows.tolist():
            yield partition_at(view, row), partition_version(view.metadata_version)


def partition_at(view: View, row: int) -> Any:
    """The record of the partition in a row. Raises UnwritableMetadataError."""
    columns = view.columns.source(row)
    topic = view.topics[int(columns.topic[row])]
    try:
        return partition_record(
            columns.get(row),
            topic.topic_id,
            int(columns.partition_id[row]),
            version=partition_version(view.metadata_version),
        )
    except ValueError as error:
        raise UnwritableMetadataError(view.metadata_version, str(error)) from None


def configs(view: View) -> Iterator[Found]:
    for (resource_type, resource_name), values in view.tables["configs"].items():
        for name, value in values.items():
            record = ConfigRecord(resource_type=resource_type, resource_name=resource_name, name=name, value=value)
            yield record, 0


def client_quotas(view: View) -> Iterator[Found]:
    for entity, quotas in view.tables["quotas"].items():
        for key, value in quotas.items():
            parts = tuple(ClientQuotaRecord.EntityData(entity_type=type_, entity_name=name) for type_, name in entity)
            yield ClientQuotaRecord(entity=parts, key=key, value=value, remove=False), 0


def producer_ids(view: View) -> Iterator[Found]:
    """The next producer id. The broker that got the last block is not written."""
    current = view.tables["producer_ids"].get(NEXT)
    if current is not None and current.next_id >= 0:
        yield ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=current.next_id), 0


def acls(view: View) -> Iterator[Found]:
    for id_, acl in view.tables["acls"].items():
        yield AccessControlEntryRecord(id=id_, **acl._asdict()), 0


def scram(view: View) -> Iterator[Found]:
    credentials = view.tables["scram"]
    if credentials and view.metadata_version < SCRAM:
        raise UnwritableMetadataError(view.metadata_version, "SCRAM credentials of one or more users")
    for (name, mechanism), credential in credentials.items():
        yield UserScramCredentialRecord(name=name, mechanism=mechanism, **credential._asdict()), 0


def delegation_tokens(view: View) -> Iterator[Found]:
    tokens = view.tables["tokens"]
    if tokens and view.metadata_version < DELEGATION_TOKENS:
        raise UnwritableMetadataError(view.metadata_version, "one or more delegation tokens")
    for token in tokens.values():
        yield DelegationTokenRecord(**token._asdict()), 0


def _end_points(cls: Any, node: Broker | Controller) -> tuple[Any, ...]:
    return tuple(
        cls(name=name, host=endpoint.host, port=endpoint.port, security_protocol=endpoint.security_protocol)
        for name, endpoint in node.listeners.items()
    )


def _features(cls: Any, node: Broker | Controller) -> tuple[Any, ...]:
    return tuple(
        cls(name=name, min_supported_version=levels.min, max_supported_version=levels.max)
        for name, levels in node.features.items()
    )


# The order is Kafka's. `partitions` is by far the largest, and has a faster way in `controller.state.snapshots`.
SECTIONS: tuple[Section, ...] = (
    features,
    brokers,
    controllers,
    topics,
    partitions,
    configs,
    client_quotas,
    producer_ids,
    acls,
    scram,
    delegation_tokens,
)
