from __future__ import annotations

from pathlib import Path

import pytest

from controller.state.partitions.bulk_batches import load_batch, replay_batch
from controller.state.records_of import SECTIONS, UnwritableMetadataError, records_of
from controller.state.snapshots import batches as snapshot_batches
from controller.state.state import State
from controller.state.view import stable_view
from records.batch import batches
from records.batch import records_of as records_in
from records.frame import decode_record
from records.metadata.brokers import RegisterBrokerRecord, RegisterControllerRecord
from records.metadata.configs import ClientQuotaRecord, ConfigRecord, FeatureLevelRecord
from records.metadata.producer_ids import ProducerIdsRecord
from records.metadata.security import AccessControlEntryRecord, DelegationTokenRecord, UserScramCredentialRecord
from records.metadata.topics import PartitionRecord, TopicRecord
from records.schema import replace
from tests.controller.lives import fresh

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
LOGS = sorted(GOLDEN.glob("*/node-*/__cluster_metadata-0/00000000000000000000.log"))
# The checkpoint at offset 0, if there is one, is from before the log, and holds what a new cluster begins with.
CHECKPOINTS = sorted(path for log in LOGS for path in log.parent.glob("*[1-9]*-*.checkpoint"))

BROKER = RegisterBrokerRecord(
    broker_id=1,
    incarnation_id=b"i" * 16,
    broker_epoch=7,
    end_points=(RegisterBrokerRecord.BrokerEndpoint(name="A", host="h", port=9092, security_protocol=0),),
    features=(
        RegisterBrokerRecord.BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=30),
    ),
    rack="r",
    fenced=False,
    in_controlled_shutdown=True,
    log_dirs=(b"d" * 16, b"e" * 16),
    cordoned_log_dirs=(b"e" * 16,),
)
PARTITION = PartitionRecord(
    partition_id=0,
    topic_id=b"t" * 16,
    replicas=(1, 2),
    isr=(1,),
    removing_replicas=(2,),
    adding_replicas=(1,),
    leader=1,
    leader_recovery_state=1,
    leader_epoch=3,
    partition_epoch=4,
    directories=(b"d" * 16, b"f" * 16),
    eligible_leader_replicas=(2,),
    last_known_elr=(1,),
)
# One record of each kind that a snapshot holds, in the order of its sections.
EVERYTHING = [
    FeatureLevelRecord(name="metadata.version", feature_level=30),
    FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1),
    FeatureLevelRecord(name="group.version", feature_level=1),
    BROKER,
    RegisterControllerRecord(
        controller_id=3000,
        incarnation_id=b"c" * 16,
        zk_migration_ready=False,
        end_points=(RegisterControllerRecord.ControllerEndpoint(name="C", host="h", port=1, security_protocol=0),),
        features=(),
    ),
    TopicRecord(name="a.b", topic_id=b"t" * 16),
    PARTITION,
    ConfigRecord(resource_type=2, resource_name="a.b", name="retention.ms", value="1"),
    ClientQuotaRecord(
        entity=(ClientQuotaRecord.EntityData(entity_type="user", entity_name=None),),
        key="request_percentage",
        value=1.5,
        remove=False,
    ),
    ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=1000),
    AccessControlEntryRecord(
        id=b"a" * 16,
        resource_type=2,
        resource_name="a",
        pattern_type=3,
        principal="User:x",
        host="*",
        operation=3,
        permission_type=3,
    ),
    UserScramCredentialRecord(name="x", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096),
    DelegationTokenRecord(
        owner="User:a",
        requester="User:b",
        renewers=("User:c",),
        issue_timestamp=1,
        max_timestamp=2,
        expiration_timestamp=3,
        token_id="t",
    ),
]


def versions_of(records):
    special = {RegisterBrokerRecord: 4, PartitionRecord: 2}
    return [(record, special.get(type(record), 0)) for record in records]


def test_the_records_of_a_view_are_in_kafkas_order():
    assert list(records_of(stable_view(fresh(EVERYTHING)))) == versions_of(EVERYTHING)
    assert len(SECTIONS) == 11


def test_the_records_contain_the_changes_of_brokers_and_partitions():
    state = fresh(EVERYTHING)
    state.replay(replace(BROKER, fenced=True, rack=None), state.end_offset)
    state.replay(ProducerIdsRecord(broker_id=1, broker_epoch=7, next_producer_id=5000), state.end_offset)
    state.commit(state.end_offset)

    found = [record for record, _ in records_of(stable_view(state))]

    assert replace(BROKER, fenced=True, rack=None) in found
    assert ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=5000) in found


def test_an_elr_is_kept_while_the_feature_is_off():
    records = [record for record in EVERYTHING if getattr(record, "name", "") != "eligible.leader.replicas.version"]

    found = [record for record, _ in records_of(stable_view(fresh(records)))]

    assert PARTITION in found


@pytest.mark.parametrize(
    ("level", "record", "what"),
    [
        (
            7,
            replace(BROKER, log_dirs=(), cordoned_log_dirs=None, is_migrating_zk_broker=True),
            "the isMigratingZkBroker",
        ),
        (16, replace(BROKER, cordoned_log_dirs=None), "the online log directories of one or more brokers"),
        (29, BROKER, "the cordoned log directories of one or more brokers"),
        (29, replace(BROKER, cordoned_log_dirs=()), "the cordoned log directories of one or more brokers"),
        (14, EVERYTHING[4], "controller registration data"),
        (16, PARTITION, "the directory assignment state of one or more replicas"),
        (10, EVERYTHING[-2], "SCRAM credentials"),
        (13, EVERYTHING[-1], "delegation tokens"),
    ],
)
def test_metadata_that_metadata_version_cannot_express_is_refused(level, record, what):
    topic = TopicRecord(name="a.b", topic_id=b"t" * 16)
    view = stable_view(fresh([FeatureLevelRecord(name="metadata.version", feature_level=level), topic, record]))

    with pytest.raises(UnwritableMetadataError, match=f"metadata.version level {level}: .*{what}"):
        list(records_of(view))
    with pytest.raises(UnwritableMetadataError, match=what):
        list(snapshot_batches(view, base_offset=1, leader_epoch=1, timestamp_ms=1))


def test_without_a_metadata_version_there_is_no_snapshot():
    with pytest.raises(UnwritableMetadataError, match="the metadata version"):
        list(records_of(stable_view(State())))


# What stock Kafka wrote.


def replayed(path, end_offset):
    """The state that a log of stock Kafka makes, up to an offset."""
    state = State()
    data = path.read_bytes()
    for batch in batches(data):
        if batch.base_offset >= end_offset:
            break
        if batch.is_control:
            state.end_offset = batch.last_offset + 1
            state.commit(state.end_offset)
        else:
            replay_batch(state, data, batch)
    return state


def loaded(path):
    """The state that a checkpoint of stock Kafka holds."""
    state = State()
    state.begin_load(end_offset_of(path))
    data = path.read_bytes()
    for batch in batches(data):
        if not batch.is_control:
            load_batch(state, data, batch)
    state.end_load()
    return state


def end_offset_of(path):
    return int(path.name.split("-")[0])


def in_any_order(record):
    """A record with the lists in order that Kafka writes in the order of a hash map."""
    if isinstance(record, RegisterBrokerRecord | RegisterControllerRecord):
        return replace(
            record,
            features=tuple(sorted(record.features, key=lambda feature: feature.name)),
            end_points=tuple(sorted(record.end_points, key=lambda end_point: end_point.name)),
        )
    if isinstance(record, ClientQuotaRecord):
        return replace(record, entity=tuple(sorted(record.entity, key=lambda part: part.entity_type)))
    return record


@pytest.mark.parametrize("path", CHECKPOINTS, ids=lambda path: f"{path.parent.parent.parent.name}-{path.name}")
def test_a_log_of_stock_kafka_has_the_records_of_its_checkpoint(path):
    ours = replayed(path.parent / "00000000000000000000.log", end_offset_of(path))
    data = path.read_bytes()
    theirs = [
        decode_record(record.value)
        for batch in batches(data)
        if not batch.is_control
        for record in records_in(data, batch)
    ]

    found = list(records_of(stable_view(ours)))

    assert sorted(((in_any_order(record), version) for record, version in found), key=repr) == sorted(
        ((in_any_order(record), version) for record, version in theirs), key=repr
    )


@pytest.mark.parametrize("log", LOGS, ids=lambda path: "-".join(path.parts[-4:-2]))
def test_a_checkpoint_of_stock_kafka_and_the_log_after_it_have_the_state_of_the_log(log):
    whole = replayed(log, 1 << 62)

    for path in log.parent.glob("*.checkpoint"):
        state = loaded(path)
        data = log.read_bytes()
        for batch in batches(data):
            if batch.base_offset < state.end_offset:
                continue
            if batch.is_control:
                state.end_offset = batch.last_offset + 1
                state.commit(state.end_offset)
            else:
                replay_batch(state, data, batch)

        assert state.contents() == whole.contents()
        assert state.digest() == whole.digest()
