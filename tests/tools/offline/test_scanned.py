"""A batch that is read by columns has the effect of its records one by one."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from controller.state.snapshots import steps
from controller.state.view import stable_view
from raft.storage.names import snapshot_name
from raft.storage.snapshot_file import SnapshotBytes
from records.batch import build_batch
from records.bulk.bulk_shapes import Columns
from records.metadata.topics import TopicRecord
from records.metadata.transactions import NoOpRecord
from records.schema import replace
from tests.tools.offline.random_metadata import TIME_MS, RandomMetadata, batches_of, values_of
from tests.tools.offline.stock_directories import PARTITION, SEGMENT, stock_directory
from tools.offline import replayed as replayed_module
from tools.offline.examined import examine
from tools.offline.log_file import StoredBatch
from tools.offline.replayed import Replay, bytes_to_read
from tools.offline.scanned import scan_batch

if TYPE_CHECKING:
    from pathlib import Path

END_OFFSET, EPOCH = 1039, 2  # of the stock directory


def stored(records: list[Any]) -> StoredBatch:
    return StoredBatch(0, build_batch(values_of(records), base_offset=0, leader_epoch=1, timestamp_ms=TIME_MS))


def large_topic(seed: int) -> list[Any]:
    source = RandomMetadata(Random(seed))
    while len(records := source.topic()) < 100:
        pass
    return records


@pytest.fixture
def by_columns(monkeypatch: pytest.MonkeyPatch) -> list[StoredBatch]:
    """The batches that a replay reads by columns."""
    read: list[StoredBatch] = []

    def noting(batch: StoredBatch) -> Any:
        found = scan_batch(batch)
        if found is not None and any(isinstance(each, Columns) for each in found):
            read.append(batch)
        return found

    monkeypatch.setattr(replayed_module, "scan_batch", noting)
    return read


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("faults", [0.0, 0.001])
def test_a_replay_by_columns_ends_as_one_record_by_record(
    tmp_path: Path, seed: int, faults: float, by_columns: list[StoredBatch]
) -> None:
    rng = Random(seed)
    values = values_of(RandomMetadata(rng, faults).records(1500), rng)
    directory = stock_directory(tmp_path)
    with (directory / SEGMENT).open("ab") as file:
        file.write(batches_of(values, END_OFFSET, EPOCH, rng))
    found = examine(str(directory))

    fast, slow = Replay(found).run(), Replay(found, by_columns=False).run()

    assert by_columns
    assert fast._replace(state=slow.state) == slow
    assert fast.fault is None or faults
    if fast.fault is None:
        assert fast.end_offset == END_OFFSET + len(values)
        assert fast.state.contents() == slow.state.contents()
        assert fast.state.end_offset == slow.state.end_offset


@pytest.mark.parametrize("seed", range(6))
def test_a_checkpoint_loaded_by_columns_has_the_state_of_the_log(
    tmp_path: Path, seed: int, by_columns: list[StoredBatch]
) -> None:
    rng = Random(seed)
    directory = stock_directory(tmp_path)
    values = values_of(RandomMetadata(rng).records(2500))
    with (directory / SEGMENT).open("ab") as file:
        file.write(batches_of(values, END_OFFSET, EPOCH, rng))
    whole = Replay(examine(str(directory)), by_columns=False).run()
    assert whole.fault is None
    end = whole.end_offset
    whole.state.commit(end)
    writing = SnapshotBytes(EPOCH, TIME_MS)
    made = filter(None, steps(stable_view(whole.state)))
    parts = [writing.header(TIME_MS), *(writing.body(body, count) for body, count in made)]
    for path in (directory / PARTITION).iterdir():
        if path.suffix in (".log", ".checkpoint"):
            path.unlink()
    (directory / PARTITION / f"{end:020d}.log").touch()
    (directory / PARTITION / snapshot_name(end, EPOCH)).write_bytes(b"".join([*parts, writing.footer()]))
    found = examine(str(directory))
    notes: list[int] = []
    by_columns.clear()

    replayed = Replay(found, notes.append).run()

    assert by_columns
    assert (replayed.fault, replayed.start_offset, replayed.end_offset) == (None, end, end)
    assert replayed.state.contents() == whole.state.contents()
    assert notes[-1] == bytes_to_read(found)


def test_topics_and_partitions_are_read_by_columns() -> None:
    records = large_topic(1)

    found = scan_batch(stored(records))

    assert found is not None
    assert sum(len(each) if isinstance(each, Columns) else 1 for each in found) == len(records)


def test_a_partition_before_its_topic_is_left_to_the_reader_of_single_records() -> None:
    topic, *partitions = large_topic(2)
    other = TopicRecord(name="other", topic_id=b"o" * 16)

    assert scan_batch(stored([*partitions, topic])) is None
    assert scan_batch(stored([partitions[0], topic, *partitions[1:]])) is None
    # A record that is neither of a topic nor of a partition divides the batch, and both parts are read by columns.
    assert scan_batch(stored([*partitions, NoOpRecord(), topic, *partitions])) is None
    assert scan_batch(stored([topic, *partitions, other])) is not None


def test_topics_of_one_name_or_id_are_left_to_the_reader_of_single_records() -> None:
    topics = [TopicRecord(name=f"topic-{number:03}", topic_id=bytes([number]) * 16) for number in range(100)]
    same_name = replace(topics[90], topic_id=b"o" * 16)
    same_id = replace(topics[90], name="another name")

    assert scan_batch(stored(topics)) is not None
    for other in (same_name, same_id):
        assert scan_batch(stored([*topics[:50], other, *topics[50:]])) is None


def test_small_and_damaged_batches_are_left_to_the_reader_of_single_records() -> None:
    records = large_topic(3)
    whole = stored(records)
    damaged = StoredBatch(0, whole.data[:61] + b"\xff" * 8 + whole.data[69:])
    unknown = values_of(records)
    unknown[50] = b"\1\x7f\0"

    assert scan_batch(stored(records[:20])) is None
    assert scan_batch(damaged) is None
    data = build_batch(unknown, base_offset=0, leader_epoch=1, timestamp_ms=TIME_MS)
    assert scan_batch(StoredBatch(0, data)) is None
