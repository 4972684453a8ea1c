"""The tables of partitions equal, row by row, the result of the controller's own replay."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from controller.state.state import State
from pipeline.tables.history import Events
from pipeline.tables.partitions import OPEN, PARTS, STATE, fold
from records.batch import batches, records_of
from records.frame import decode_record
from records.uuids import MIGRATING_DIRECTORY, uuid_text
from tests.controller.lives import bursts, first_records, next_record
from tests.pipeline.logs import BEGIN_MS, CLUSTER, GOLDEN, batches_of, node_directory, read
from tests.pipeline.tables.partition_reference import PartitionReference, counting
from tests.pipeline.tables.runner import Runner, ordered

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("leadership", "isr_changes", "unavailability", "under_replication", "reassignments")


def replayed(records: list[tuple[Any, int, int]]) -> PartitionReference:
    """The result of a replay of records, each with offset and time in ms."""
    reference = PartitionReference()
    times = {offset: time_ms for _, offset, time_ms in records}
    for record, offset in counting([(record, offset) for record, offset, _ in records]):
        reference.replay(record, offset, times[offset] * 1000)
    return reference


def a_life(random: Random, count: int) -> list[Any]:
    """Records of a cluster, transactions included."""
    state = State()
    records = first_records()
    for offset in range(count):
        record = records[offset] if offset < len(records) else next_record(random, state)
        if offset >= len(records):
            records.append(record)
        state.commit(offset + 1)
        state.replay(record, offset)
        state.commit(offset + 1)
    return records


def log_of(random: Random, directory: Path, records: list[Any]) -> list[tuple[Any, int, int]]:
    """Write a log of the records; each with its offset and time."""
    data = batches_of(random, records)
    node_directory(directory, {0: b"".join(data)})
    return [
        (decode_record(record.value or b"")[0], record.offset, record.timestamp)
        for piece in data
        for batch in batches(piece)
        for record in records_of(piece, batch)
    ]


def partitions_of(runner: Runner) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["topic_id"], row["partition"]): row for row in runner.state.to_pylist()}


def check(runner: Runner, reference: PartitionReference) -> None:
    for name in TABLES:
        assert runner.rows(name) == ordered(reference.rows[name]), name
    found = partitions_of(runner)
    assert len(found) == len(reference.partitions)
    for (topic_id, number), partition in reference.partitions.items():
        row = found[uuid_text(topic_id), number]
        assert row["topic"] == reference.names.get(topic_id, row["topic"])
        assert {name: row[name] for name in ("leader", "leader_epoch", "partition_epoch", "recovery")} == {
            "leader": partition.leader, "leader_epoch": partition.leader_epoch,
            "partition_epoch": partition.partition_epoch, "recovery": partition.recovery_state,
        }  # fmt: skip
        lists = ("replicas", "isr", "removing", "adding", "elr", "last_known_elr")
        assert {name: tuple(row[name]) for name in lists} == {name: getattr(partition, name) for name in lists}
        directories = [uuid_text(directory) for directory in partition.directories]
        if set(row["directories"] or ()) <= {uuid_text(MIGRATING_DIRECTORY)}:
            assert set(directories) <= {uuid_text(MIGRATING_DIRECTORY)}
        else:
            assert row["directories"] == directories


@pytest.mark.parametrize("seed", range(12))
def test_all_tables_of_a_random_history_equal_the_replay(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    log = log_of(random, tmp_path / "node", a_life(random, 700))

    runner = Runner(CLUSTER)
    runner.run(read(tmp_path / "node"))

    check(runner, replayed(log))


@pytest.mark.parametrize("seed", range(12, 20))
def test_incremental_runs_give_the_rows_of_one_run(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    log = log_of(random, tmp_path / "node", a_life(random, 600))
    table = read(tmp_path / "node")

    runner = Runner(CLUSTER)
    for until in sorted(random.sample(range(600), 7)):
        runner.run(table, until)
    runner.run(table)

    check(runner, replayed(log))


@pytest.mark.parametrize("seed", range(3))
def test_similar_records_have_the_same_rows_as_by_the_replay(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    log = log_of(random, tmp_path / "node", bursts(random, 40, State()))

    runner = Runner(CLUSTER)
    runner.run(read(tmp_path / "node", range_bytes=1000))

    check(runner, replayed(log))


@pytest.mark.parametrize("quorum", ["4.3-static", "4.0-static"])
def test_the_tables_of_stock_logs_equal_the_replay(quorum: str) -> None:
    table = read(GOLDEN / quorum / "node-1")
    data = next((GOLDEN / quorum / "node-1" / "__cluster_metadata-0").glob("*.log")).read_bytes()
    log = [
        (decode_record(record.value or b"")[0], record.offset, record.timestamp)
        for batch in batches(data)
        if not batch.is_control
        for record in records_of(data, batch)
    ]

    runner = Runner(table["cluster"][-1].as_py())
    runner.run(table)

    check(runner, replayed(log))
    assert pc.sum(pc.is_valid(table["problem"])).as_py() == 0
    assert log[0][2] > BEGIN_MS // 2


def test_the_parts_of_a_fold_are_those_that_were_asked_for(tmp_path: Path) -> None:
    log_of(Random(1), tmp_path / "node", a_life(Random(1), 300))
    table = read(tmp_path / "node")
    rows = table.filter(pc.is_in(table["type"], pa.array([3, 5], pa.int32())))

    whole = fold(rows, Events())

    assert set(whole) == set(PARTS)
    for names in ({STATE}, {"isr_changes"}, {OPEN + "leadership", "unavailability"}):
        assert fold(rows, Events(), frozenset(names)) == {name: whole[name] for name in names}
