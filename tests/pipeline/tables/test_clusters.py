"""The tables of a cluster's other records, and its memory, compared with the controller's own state."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from controller.state.state import State
from pipeline.tables import memory
from pipeline.tables.clusters import BROKER_TYPES, Cluster, Row, spans_of, state_of
from pipeline.tables.history import Moment
from records.frame import encode_record
from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from records.metadata.configs import ConfigRecord
from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from records.metadata.topics import RemoveTopicRecord, TopicRecord
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from records.schema import schema_of
from tests.pipeline.logs import CLUSTER, batches_of, election, node_directory, read, value_of
from tests.pipeline.tables.cluster_reference import ClusterReference
from tests.pipeline.tables.partition_reference import counting
from tests.pipeline.tables.runner import Runner
from tests.pipeline.tables.test_partitions import a_life, log_of

if TYPE_CHECKING:
    from pathlib import Path

TOPIC_ID = b"\1" * 16


def row(offset: int, record: Any, *, is_checkpoint: bool = False) -> Row:
    kind = record.__schema__.api_key
    return Row(offset, offset * 1_000_000, 1, is_checkpoint, False, kind, None, value_of(record))


def taken(*records: Any) -> Cluster:
    """A cluster that replayed these, at offsets 0, 1 … and seconds 0, 1 …"""
    cluster = Cluster(CLUSTER)
    cluster.take([row(offset, record) for offset, record in enumerate(records)], {})
    return cluster


def registration(epoch: int, *, fenced: bool = True) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=7, is_migrating_zk_broker=False, incarnation_id=bytes(15) + bytes((epoch,)), broker_epoch=epoch,
        end_points=(), features=(), rack="a", fenced=fenced, in_controlled_shutdown=False, log_dirs=(),
    )  # fmt: skip


def change(epoch: int, fenced: int = 0, shutdown: int = 0) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(
        broker_id=7, broker_epoch=epoch, fenced=fenced, in_controlled_shutdown=shutdown
    )


def config(name: str, value: str | None, kind: int = 2, resource: str = "orders") -> ConfigRecord:
    return ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value)


@pytest.mark.parametrize("seed", range(6))
def test_the_stored_memory_of_a_cluster_equals_the_controllers_state(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    log = log_of(random, tmp_path / "node", a_life(random, 500))
    table = read(tmp_path / "node")

    runner = Runner(CLUSTER)
    for until in sorted(random.sample(range(500), 4)):
        runner.run(table, until)
    runner.run(table)

    state = State()
    for record, offset in counting([(record, offset) for record, offset, _ in log]):
        state.commit(offset + 1)
        state.end_offset = offset
        state.replay(record, offset)
        state.commit(offset + 1)
    image = memory.load(runner.text).image
    assert dict(image.brokers) == dict(state.brokers)
    assert dict(image.controllers) == dict(state.controllers)
    assert dict(image.topic_ids) == dict(state.topic_ids)
    assert dict(image.acls) == dict(state.acls)
    assert {user: one.iterations for user, one in image.scram.items()} == {
        user: one.iterations for user, one in state.scram.items()
    }
    assert dict(image.tokens) == dict(state.tokens)
    assert {key: dict(quotas) for key, quotas in image.quotas.items()} == {
        key: dict(quotas) for key, quotas in state.quotas.items()
    }
    lasting = {broker: state_of(value) for broker, value in state.brokers.items()}
    assert {session["broker"]: session["state"] for session in runner.cluster.open_sessions()} == lasting


@pytest.mark.parametrize("seed", range(6, 18))
def test_sessions_configs_and_acls_of_a_random_history_equal_the_replay(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    log = log_of(random, tmp_path / "node", a_life(random, 700))
    table = read(tmp_path / "node")
    times = {offset: time_ms * 1000 for _, offset, time_ms in log}
    reference = ClusterReference()
    for record, offset in counting([(record, offset) for record, offset, _ in log]):
        reference.replay(record, offset, times[offset])

    runner = Runner(CLUSTER)
    for until in sorted(random.sample(range(700), 3)):
        runner.run(table, until)
    runner.run(table)

    sessions = [*runner.others["broker_sessions"], *runner.cluster.open_sessions()]
    named = ("broker", "broker_epoch", "state", "start_offset", "start_time", "end_offset", "duration_ms", "end_reason")
    found = sorted((tuple(row[name] for name in named) for row in sessions), key=lambda row: (row[0], row[3]))
    assert found == reference.rows_of_sessions()
    named = ("offset", "resource_type", "resource", "config", "value_before", "value_after", "cause")
    assert [tuple(row[name] for name in named) for row in runner.others["config_changes"]] == reference.configs
    named = ("offset", "action", "acl_id", "resource", "principal", "host")
    assert [tuple(row[name] for name in named) for row in runner.others["acl_changes"]] == reference.acls
    assert all((reference.sessions, reference.configs, reference.acls))


def test_a_broker_has_sessions_until_it_is_unregistered() -> None:
    cluster = taken(
        registration(10), change(10, fenced=-1), change(10, shutdown=1), FenceBrokerRecord(id=7, epoch=10),
        registration(14), UnregisterBrokerRecord(broker_id=7, broker_epoch=14),
    )  # fmt: skip

    rows = [
        (
            one["broker_epoch"],
            one["state"],
            one["start_offset"],
            one["end_offset"],
            one["duration_ms"],
            one["end_reason"],
        )
        for one in cluster.rows["broker_sessions"]
    ]
    assert rows == [
        (10, "fenced", 0, 1, 1000, "unfenced"),
        (10, "active", 1, 2, 1000, "shutdown"),
        (10, "shutting_down", 2, 3, 1000, "fenced"),
        (10, "fenced", 3, 4, 1000, "registered"),
        (14, "fenced", 4, 5, 1000, "unregistered"),
    ]
    assert cluster.open_sessions() == []
    assert {schema_of(type(record)).api_key for record in (registration(1), change(1))} < BROKER_TYPES


def test_a_config_change_has_the_value_before_and_a_secret_is_hidden() -> None:
    cluster = taken(
        TopicRecord(name="orders", topic_id=TOPIC_ID), config("retention.ms", "1"), config("retention.ms", "2"),
        config("ssl.key.password", "do-not-tell", 4, "1"), config("retention.ms", None),
        config("cleanup.policy", "compact"), RemoveTopicRecord(topic_id=TOPIC_ID),
    )  # fmt: skip

    rows = [
        (one["offset"], one["resource_type"], one["config"], one["value_before"], one["value_after"], one["cause"])
        for one in cluster.rows["config_changes"]
    ]
    assert rows == [
        (1, "TOPIC", "retention.ms", None, "1", "set"),
        (2, "TOPIC", "retention.ms", "1", "2", "set"),
        (3, "BROKER", "ssl.key.password", None, "[hidden]", "set"),
        (4, "TOPIC", "retention.ms", "2", None, "removed"),
        (5, "TOPIC", "cleanup.policy", None, "compact", "set"),
        (6, "TOPIC", "cleanup.policy", "compact", None, "topic_deleted"),
    ]


def test_a_removed_acl_is_listed_as_it_was() -> None:
    acl = AccessControlEntryRecord(
        id=TOPIC_ID, resource_type=2, resource_name="orders", pattern_type=4, principal="User:a", host="*", operation=3,
        permission_type=2,
    )  # fmt: skip

    cluster = taken(acl, RemoveAccessControlEntryRecord(id=TOPIC_ID))

    rows = [
        (one["offset"], one["action"], one["resource_type"], one["pattern_type"], one["operation"], one["permission"])
        for one in cluster.rows["acl_changes"]
    ]
    assert rows == [
        (0, "added", "TOPIC", "PREFIXED", "READ", "DENY"),
        (1, "removed", "TOPIC", "PREFIXED", "READ", "DENY"),
    ]


def test_an_aborted_transaction_is_ignored_and_an_open_one_waits() -> None:
    begin, end, abort = BeginTransactionRecord(), EndTransactionRecord(), AbortTransactionRecord()
    records = [begin, config("a", "1"), abort, begin, config("retention.ms", "2"), end, begin, config("b", "3")]

    cluster = taken(*records)

    assert spans_of([row(offset, record) for offset, record in enumerate(records)]) == ([(0, 2)], 6)
    assert [(one["offset"], one["value_after"]) for one in cluster.rows["config_changes"]] == [(4, "2")]


def test_an_election_has_the_time_without_records_before_it(tmp_path: Path) -> None:
    first = election(0, 1, 1, 5_000)
    records = batches_of(Random(0), [TopicRecord(name="t", topic_id=TOPIC_ID)], first=1)
    second = election(2, 4, 2, int.from_bytes(records[-1][35:43], "big") + 3_300)
    node_directory(tmp_path / "node", {0: first + b"".join(records) + second})

    runner = Runner(CLUSTER)
    table = read(tmp_path / "node")
    runner.run(table, 2)
    runner.run(table)

    rows = [
        {name: one[name] for name in ("offset", "epoch", "leader", "voters", "granting", "previous_leader")}
        for one in runner.others["elections"]
    ]
    assert rows == [
        {"offset": 0, "epoch": 1, "leader": 1, "voters": [1, 2, 3], "granting": [1, 2], "previous_leader": None},
        {"offset": 2, "epoch": 4, "leader": 2, "voters": [1, 2, 3], "granting": [1, 2], "previous_leader": 1},
    ]
    # What came right before it was taken in by the run before.
    whole = Runner(CLUSTER)
    whole.run(table)
    assert whole.others["elections"][1]["silence_ms"] == 3_300
    assert pa.types.is_timestamp(table.schema.field("time").type)


def test_differences_between_a_checkpoint_and_the_log_before_it_are_changes_in_between() -> None:
    cluster = Cluster(CLUSTER)
    before = [registration(10), change(10, fenced=-1), config("retention.ms", "1"), config("cleanup.policy", "compact")]
    cluster.take([row(offset, record) for offset, record in enumerate(before)], {})

    cluster = memory.load(memory.dump(cluster))
    checkpoint = [registration(90, fenced=False), config("retention.ms", "5")]
    cluster.take([row(99, record, is_checkpoint=True) for record in checkpoint], {})

    assert [
        (one["offset"], one["config"], one["value_before"], one["value_after"], one["cause"])
        for one in cluster.rows["config_changes"]
    ] == [(99, "cleanup.policy", "compact", None, "removed"), (99, "retention.ms", "1", "5", "set")]
    assert [(one["state"], one["end_offset"], one["end_reason"]) for one in cluster.rows["broker_sessions"]] == [
        ("active", 99, "registered")
    ]
    assert [(one["broker_epoch"], one["state"]) for one in cluster.open_sessions()] == [(90, "active")]
    assert cluster.events.resets == [Moment(99, 99_000_000)]
    assert encode_record(checkpoint[1], 0)
