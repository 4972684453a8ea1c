"""At a start a torn tail is truncated, and damage is refused with file, position and offset; nothing is truncated
silently.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.config import SnapshotId
from raft.interface.effects import Append, HighWatermark, ResetLog
from raft.storage.committed_prefix import parse_prefix
from raft.storage.errors import CorruptLog, CorruptSnapshot, DiskFailed, StorageError
from raft.storage.flusher import AtOnce
from raft.storage.log import LogLimits
from raft.storage.names import COMMITTED_PREFIX, LOG, segment_name, snapshot_name
from raft.storage.snapshot_file import SnapshotBytes
from raft.storage.storage import Storage
from records.batch import build_batch, build_control_batch
from tests.raft.storage.batches import batch, bounds, kraft_version, run
from tests.raft.storage.disk import Disk, Inode, unexpected

if TYPE_CHECKING:
    from raft.storage.segment import Segment

DIRECTORY = "node/log"
ONE = len(batch(0))


def open_storage(disk: Disk, **limits: int) -> Storage:
    return Storage(
        disk, DIRECTORY, AtOnce(), on_input=lambda _: None, on_failure=unexpected, limits=LogLimits(**limits)
    )


def put(disk: Disk, name: str, data: bytes) -> None:
    disk.directories |= {"node", DIRECTORY}
    disk.files[f"{DIRECTORY}/{name}"] = Inode(bytearray(data), data)


def snapshot(end_offset: int, epoch: int) -> tuple[str, bytes]:
    source = SnapshotBytes(epoch, 9)
    return snapshot_name(end_offset, epoch), source.header(7) + source.data([b"state"]) + source.footer()


def directory(*segments: tuple[int, bytes], snapshots: tuple[tuple[int, int], ...] = ()) -> Disk:
    """A directory with these segments (base offset, bytes) and snapshots (end offset, epoch)."""
    disk = Disk()
    disk.directories |= {"node", DIRECTORY}
    for base, data in segments:
        put(disk, segment_name(base, LOG), data)
    for identity in snapshots:
        put(disk, *snapshot(*identity))
    return disk


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def log_bytes(disk: Disk, base: int = 0) -> bytes:
    return disk.tree()[f"{DIRECTORY}/{segment_name(base, LOG)}"]


def refused(disk: Disk) -> CorruptLog:
    """The error of a refused start, which must leave every file unchanged."""
    before = disk.tree()
    with pytest.raises(CorruptLog) as error:
        open_storage(disk)
    assert disk.tree() == before
    assert disk.handles == {}
    return error.value


def refused_copy(disk: Disk) -> CorruptLog:
    """The error of a start on a copy of these files."""
    copy = Disk()
    copy.directories |= disk.directories
    for path, data in disk.tree().items():
        put(copy, path.removeprefix(f"{DIRECTORY}/"), data)
    return refused(copy)


WHOLE = run(0, 20, size=200)
SIZE = len(batch(0, size=200))


def test_an_intact_log_is_unchanged_by_a_start() -> None:
    disk = directory((0, WHOLE))

    storage = open_storage(disk)

    assert (storage.recovered.log_start, storage.recovered.log_end, storage.recovered.epochs) == (0, 20, ((1, 0),))
    assert storage.recovered.log_bytes == len(WHOLE)
    assert storage.notes == []
    assert storage.read(0, 20, 1 << 20) == WHOLE


@pytest.mark.parametrize("missing", [1, 60, 100, SIZE - 61, SIZE - 17, SIZE - 1])
def test_an_incomplete_last_batch_is_truncated(missing: int) -> None:
    disk = directory((0, WHOLE[:-missing]))

    storage = open_storage(disk)

    assert storage.recovered.log_end == 19
    assert log_bytes(disk) == WHOLE[: 19 * SIZE]
    left = SIZE - missing
    reason = f"the batch has {SIZE} bytes, the file {left} more" if left >= 61 else f"{left} bytes are no batch"
    assert storage.notes == [
        ("log_tail_cut", {"file": f"{DIRECTORY}/{segment_name(0, LOG)}", "position": 19 * SIZE, "offset": 19,
                          "reason": reason, "bytes": left})
    ]  # fmt: skip


@pytest.mark.parametrize("zeros", [1, 61, 500, 5000])
def test_zeros_after_the_last_batch_are_truncated(zeros: int) -> None:
    disk = directory((0, WHOLE + bytes(zeros)))

    storage = open_storage(disk)

    assert storage.recovered.log_end == 20
    assert log_bytes(disk) == WHOLE


def test_unwritten_sectors_are_truncated_even_before_a_whole_batch() -> None:
    """Pages go to the disk in any order: of three batches that were not synced, the second alone may be lost."""
    unsynced = [batch(offset, size=2000) for offset in (20, 21, 22)]
    data = bytearray(WHOLE + b"".join(unsynced))
    start = (len(WHOLE) + len(unsynced[0])) // 512 * 512 + 512
    data[start : start + 512] = bytes(512)

    storage = open_storage(directory((0, bytes(data))))

    assert storage.recovered.log_end == 21


@pytest.mark.parametrize("size", [100, 300, 70_000])
@pytest.mark.parametrize("share", [7, 8, 9, 11, 12, 13, 15, 16])
def test_a_batch_with_only_its_first_sector_missing_is_truncated(share: int, size: int) -> None:
    """It begins so many bytes before the end of that sector, which hold its offset, and more or less of its length."""
    first = b"".join(batch(offset) for offset in range(299))
    first += batch(299, size=200 + (512 - share - len(first + batch(299, size=200))) % 512)
    data = bytearray(first + batch(300, size=size))
    at = len(first)
    data[at : at + share] = bytes(share)

    storage = open_storage(directory((0, bytes(data))))

    assert ((at + share) % 512, storage.recovered.log_end) == (0, 300)


@pytest.mark.parametrize("share", [7, 12, 300])
def test_a_batch_with_a_zero_offset_is_damage_if_its_first_sector_shows_it(share: int) -> None:
    first = batch(0, size=200)
    first = batch(0, size=200 + (512 - share - len(first)) % 512)
    data = bytearray(first + batch(1, size=300))
    data[len(first) : len(first) + 8] = bytes(8)

    error = refused(directory((0, bytes(data))))

    assert (error.position, error.offset, error.reason) == (
        len(first), 1, "the batch there has offset 0; no interrupted append leaves such bytes, so they are damaged"
    )  # fmt: skip


@pytest.mark.parametrize("share", [1, 2, 3])
def test_a_flipped_bit_is_damage_though_the_batch_ends_with_zeros_in_the_last_sector(share: int) -> None:
    """A record ends with its count of headers, a record of metadata before it with that of tagged fields."""
    data, at = ends_behind_a_sector(share, value=b"a record" + bytes(2))

    error = refused(directory((0, flipped(data, at + 61))))

    assert (error.position, error.offset) == (at, 1)


@pytest.mark.parametrize("share", [2, 3])
def test_a_batch_with_only_its_last_bytes_missing_is_truncated(share: int) -> None:
    data, at = ends_behind_a_sector(share, value=b"a record")

    disk = directory((0, data[:-share] + bytes(share)))

    storage = open_storage(disk)

    assert (storage.recovered.log_end, len(log_bytes(disk))) == (1, at)


def ends_behind_a_sector(share: int, value: bytes) -> tuple[bytes, int]:
    """Two batches, of which the last `share` bytes are in a sector of their own, and where the second begins."""
    last = build_batch([value], base_offset=1, leader_epoch=1, timestamp_ms=1_700_000_000_000)
    first = batch(0, size=200)
    first = batch(0, size=200 + (share - len(first) - len(last)) % 512)
    assert (len(first) + len(last)) % 512 == share
    return first + last, len(first)


@pytest.mark.parametrize("at", [0, 7, 9, 11, 16, 17, 21, 23, 61, 150, SIZE - 1])
def test_a_flipped_bit_in_the_middle_is_refused(at: int) -> None:
    disk = directory((0, flipped(WHOLE, 5 * SIZE + at)))

    error = refused(disk)

    assert (error.path, error.position, error.offset) == (f"{DIRECTORY}/{segment_name(0, LOG)}", 5 * SIZE, 5)
    assert str(error).startswith(f"{DIRECTORY}/00000000000000000000.log, byte {5 * SIZE}, offset 5: ")


@pytest.mark.parametrize("at", [0, 9, 16, 17, 21, 61, 150])
def test_a_flipped_bit_in_the_last_batch_is_refused(at: int) -> None:
    error = refused(directory((0, flipped(WHOLE, 19 * SIZE + at))))

    assert (error.position, error.offset) == (19 * SIZE, 19)


@pytest.mark.parametrize("bit", [1, 4, 128])
def test_no_flipped_bit_loses_a_batch_silently(bit: int) -> None:
    """One is not seen: the epoch of the first or last batch, which no CRC covers before it is committed."""
    data = run(0, 5, size=12)
    size = len(data) // 5
    unseen = []
    for at in range(len(data)):
        disk = directory((0, data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]))
        try:
            ends = {open_storage(disk).recovered.log_end}
            expected = {5}
            unseen.append(at)
        except CorruptLog as error:
            ends, expected = {error.offset}, {at // size, at // size + 1}

        assert ends <= expected
    assert set(unseen) <= {*range(12, 16), *range(4 * size + 12, 4 * size + 16)}


def test_a_damaged_length_that_covers_whole_batches_is_refused() -> None:
    data = bytearray(WHOLE)
    data[5 * SIZE + 10] ^= 0x40  # 16 KiB longer: behind the end of the file

    error = refused(directory((0, bytes(data))))

    assert (error.position, error.offset) == (5 * SIZE, 5)
    assert "the batch of offset 6 behind it is whole" in str(error)


def test_a_missing_batch_is_refused() -> None:
    error = refused(directory((0, run(0, 5) + run(6, 9))))

    assert (error.position, error.offset, error.reason) == (
        5 * ONE, 5, "the batch there has offset 6; no interrupted append leaves such bytes, so they are damaged",
    )  # fmt: skip


def test_a_repeated_batch_is_refused() -> None:
    assert (refused(directory((0, run(0, 5) + run(4, 9)))).offset) == 5


def test_an_epoch_that_falls_is_refused() -> None:
    error = refused(directory((0, run(0, 5, epoch=3) + run(5, 9, epoch=2))))

    assert (error.position, error.offset) == (5 * ONE, 5)
    assert "has epoch 2, the one before it 3" in str(error)


def test_an_epoch_that_falls_at_a_new_segment_is_refused() -> None:
    error = refused(directory((0, run(0, 5, epoch=3)), (5, run(5, 9, epoch=2))))

    assert (error.path[-10:], error.position, error.offset) == ("000005.log", 0, 5)


def test_garbage_after_the_last_batch_is_refused() -> None:
    assert refused(directory((0, WHOLE + b"garbage!" * 40))).offset == 20


def test_only_the_last_segment_may_be_torn() -> None:
    error = refused(directory((0, run(0, 5)[:-3]), (5, run(5, 9))))

    assert (error.position, error.offset) == (4 * ONE, 4)
    assert "there is a segment behind it" in str(error)


def test_a_missing_segment_is_refused() -> None:
    error = refused(directory((0, run(0, 5)), (7, run(7, 9))))

    assert (error.path[-10:], error.offset) == ("000007.log", 5)
    assert "the batches between are missing" in str(error)


def test_segments_that_overlap_are_refused() -> None:
    assert refused(directory((0, run(0, 5)), (3, run(3, 9)))).offset == 5


def test_segments_follow_each_other() -> None:
    storage = open_storage(directory((0, run(0, 5)), (5, run(5, 9, epoch=2)), (9, b"")))

    assert (storage.recovered.log_end, storage.recovered.epochs) == (9, ((1, 0), (2, 5)))


def test_a_log_without_a_snapshot_starts_at_0() -> None:
    with pytest.raises(
        StorageError, match=r"the log starts at offset 5 and needs a snapshot up to there; there is none"
    ):
        open_storage(directory((5, run(5, 9))))


def test_a_log_that_starts_after_its_newest_snapshot_is_refused() -> None:
    with pytest.raises(StorageError, match=r"the log starts at offset 5 .* the newest ends at 4"):
        open_storage(directory((5, run(5, 9)), snapshots=((4, 1),)))


def test_snapshots_before_the_start_of_the_log_are_removed() -> None:
    disk = directory((5, run(5, 9)), snapshots=((3, 1), (6, 1), (8, 1)))

    storage = open_storage(disk)

    assert [(found.id, found.timestamp_ms) for found in storage.recovered.snapshots] == [((6, 1), 7), ((8, 1), 7)]
    assert f"{DIRECTORY}/{snapshot_name(3, 1)}" not in disk.tree()


def test_segments_before_a_gap_that_a_snapshot_covers_are_dropped() -> None:
    """The start of the log was moved up, or the log was emptied, and a crash came between the renames."""
    disk = directory((0, run(0, 5)), (7, run(7, 9)), snapshots=((8, 1),))

    storage = open_storage(disk)

    assert (storage.recovered.log_start, storage.recovered.log_end) == (7, 9)
    assert storage.notes == [("log_segments_dropped", {"below": 7, "snapshot": 8})]
    storage.close()
    assert [name for name in disk.tree() if name.endswith((".log", ".deleted"))] == [
        f"{DIRECTORY}/{segment_name(7, LOG)}"
    ]


def test_segments_before_a_gap_are_not_dropped_for_an_incomplete_snapshot() -> None:
    disk = directory((0, run(0, 5)), (7, run(7, 9)), snapshots=((6, 1), (8, 1)))
    del disk.files[f"{DIRECTORY}/{snapshot_name(8, 1)}"].data[-1:]
    before = disk.tree()

    with pytest.raises(CorruptSnapshot):
        open_storage(disk)

    assert disk.tree() == before


@pytest.mark.parametrize("identity", [(30, 1), (12, 2), (30, 2)])
def test_a_log_that_ends_before_a_snapshot_restarts_from_it(identity: tuple[int, int]) -> None:
    disk = directory((0, WHOLE), snapshots=(identity,))

    storage = open_storage(disk)

    assert (storage.recovered.log_start, storage.recovered.log_end, storage.recovered.epochs) == (identity[0],) * 2 + (
        (),
    )
    assert storage.notes == [("log_reset_to_snapshot", {"log_end_offset": 20, "snapshot": identity[0]})]
    storage.perform(Append(1, identity[0], identity[0] + 1, 3, batch(identity[0], epoch=3)))
    storage.close()
    assert open_storage(disk).recovered.log_end == identity[0] + 1


def test_a_log_is_not_dropped_for_an_incomplete_snapshot() -> None:
    name, data = snapshot(30, 1)
    disk = directory((0, WHOLE))
    put(disk, name, data[:-20])
    before = disk.tree()

    with pytest.raises(StorageError, match=r"00000000000000000030-0000000001\.checkpoint"):
        open_storage(disk)

    assert disk.tree() == before


def test_a_directory_with_only_a_snapshot_starts_there() -> None:
    storage = open_storage(directory(snapshots=((30, 4),)))

    assert (storage.recovered.log_start, storage.recovered.log_end) == (30, 30)
    assert storage.notes == []


def test_a_newer_segment_of_the_same_name_as_the_new_log_is_not_mixed_up_with_it() -> None:
    """A log that rolled at 5 in an old epoch, and a snapshot that ends there in a later one."""
    disk = directory((0, run(0, 5)), (5, run(5, 9)), snapshots=((5, 2),))

    storage = open_storage(disk)

    assert (storage.recovered.log_start, storage.recovered.log_end, log_bytes(disk, 5)) == (5, 5, b"")


def test_a_snapshot_of_an_old_epoch_beyond_the_log_is_refused() -> None:
    with pytest.raises(StorageError, match="the log ends at offset 5 in epoch 3, but the newest snapshot, of epoch 2"):
        open_storage(directory((0, run(0, 5, epoch=3)), snapshots=((9, 2),)))


def test_control_values_are_those_of_the_newest_snapshot_and_of_the_log_after_it() -> None:
    data = kraft_version(0, 1, 1) + run(1, 4) + kraft_version(4, 1, 0) + run(5, 9) + kraft_version(9, 1, 1)

    without = open_storage(directory((0, data)))
    behind = open_storage(directory((0, data), snapshots=((5, 1),)))

    assert without.recovered.kraft_versions == ((0, 1), (4, 0), (9, 1))
    assert behind.recovered.kraft_versions == ((9, 1),)


def test_an_invalid_control_record_is_refused_before_anything_is_changed() -> None:
    version_9 = build_control_batch(
        [(b"\0\0\0\5", b"\0\x09\0\1\0")], base_offset=5, leader_epoch=1, timestamp_ms=1
    )  # fmt: skip

    error = refused(directory((0, run(0, 5) + version_9 + run(6, 9)[:-3])))

    assert error.offset == 5
    assert "KRaftVersionRecord" in str(error)


def test_leftovers_of_interrupted_writes_are_removed_and_other_files_stay() -> None:
    disk = directory((0, WHOLE))
    leftovers = [
        "quorum-state.tmp", "00000000000000000003-0000000001-7.checkpoint.part", "00000000000000000000.log.deleted",
        "00000000000000000009.index", "00000000000000000009.timeindex",
    ]  # fmt: skip
    for name in (*leftovers, "notes.txt", "mine.tmp"):
        put(disk, name, b"x")

    open_storage(disk)

    names = {path.rpartition("/")[2] for path in disk.tree()}
    assert {"notes.txt", "mine.tmp"} <= names
    assert names.isdisjoint(leftovers)


def test_a_directory_of_another_topic_is_refused() -> None:
    disk = directory((0, WHOLE[:-3]))
    put(disk, "partition.metadata", b"version: 0\ntopic_id: J8aAPcfLQt2bqs1JT_rMgQ")
    before = disk.tree()

    with pytest.raises(StorageError, match="J8aAPcfLQt2bqs1JT_rMgQ"):
        open_storage(disk)

    assert disk.tree() == before


# The committed offset of our own file.


def lived(*, close: bool = True, committed: int = 3000, **limits: int) -> Disk:
    """A directory with a log of 3000 batches, committed up to an offset that its prefix file has."""
    disk = Disk()
    disk.directories.add("node")
    storage = open_storage(disk, **limits)
    for offset in range(0, 3000, 10):
        epoch = 1 + offset // 1000
        storage.perform(Append(offset, offset, offset + 10, epoch, run(offset, offset + 10, epoch=epoch, size=200)))
    storage.perform(HighWatermark(committed))
    if close:
        storage.close()
    return disk


def prefix_of(disk: Disk) -> Any:
    return parse_prefix(disk.tree()[f"{DIRECTORY}/{COMMITTED_PREFIX}"])


def test_after_a_clean_close_a_start_does_not_read_committed_batches_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = lived()
    prefix = prefix_of(disk)
    walked: list[int] = []
    monkeypatch.setattr("raft.storage.walk.Walker._take", lambda _self, segment, *_: walked.append(segment.size))

    storage = open_storage(disk)

    assert (prefix.end_offset, prefix.epochs, prefix.segments[0].position) == (
        3000, ((1, 0), (2, 1000), (3, 2000)), len(log_bytes(disk)),
    )  # fmt: skip
    assert (storage.recovered.log_end, storage.recovered.epochs) == (3000, ((1, 0), (2, 1000), (3, 2000)))
    assert walked == []


def test_nor_are_those_of_a_segment_that_begins_within_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = lived(segment_bytes_max=100_000)

    def read(*_: Any) -> None:
        raise AssertionError("a batch is read")

    monkeypatch.setattr("raft.storage.walk.Walker._take", read)

    storage = open_storage(disk, segment_bytes_max=100_000)

    assert len(storage.log.segments) > 3
    assert (storage.recovered.log_end, storage.recovered.epochs) == (3000, ((1, 0), (2, 1000), (3, 2000)))


def test_a_node_that_is_killed_with_a_small_log_knows_most_of_what_was_committed() -> None:
    disk = Disk()
    disk.directories.add("node")
    storage = open_storage(disk)
    known = []
    for offset in range(400):
        storage.perform(Append(offset, offset, offset + 1, 1, run(offset, offset + 1, epoch=1, size=100)))
        storage.perform(HighWatermark(offset + 1))
        is_written = f"{DIRECTORY}/{COMMITTED_PREFIX}" in disk.tree()
        known.append(prefix_of(disk).end_offset if is_written else 0)

    assert all(end_offset >= 0.7 * (offset - 10) for offset, end_offset in enumerate(known, 1))
    assert len(set(known)) < 25  # a growing share of the log, so that few writes are enough


@pytest.mark.parametrize("committed", [0, 1, 999, 1000, 1700, 2990, 3000])
@pytest.mark.parametrize("segment_bytes", [1 << 30, 300_000])
def test_accepting_a_log_by_its_crc_equals_reading_it_batch_by_batch(committed: int, segment_bytes: int) -> None:
    disk = lived(committed=committed, segment_bytes_max=segment_bytes)
    adopted = open_storage(disk, segment_bytes_max=segment_bytes)
    state = [segment_state(segment) for segment in adopted.log.segments]
    adopted.log.close()

    disk.remove(f"{DIRECTORY}/{COMMITTED_PREFIX}")
    walked = open_storage(disk, segment_bytes_max=segment_bytes)

    assert adopted.recovered == replace(walked.recovered, committed=committed)
    assert adopted.log.control_offsets == walked.log.control_offsets
    assert state == [segment_state(segment) for segment in walked.log.segments]


def test_epochs_begin_where_the_log_does_though_the_prefix_file_is_of_before_its_start_moved_up() -> None:
    disk = lived(segment_bytes_max=300_000)
    bases = [int(name[len(DIRECTORY) + 1 : -4]) for name in sorted(disk.tree()) if name.endswith(".log")]
    assert bases[0] == 0 < bases[1] < 2000
    for name in [name for name in disk.tree() if name.startswith(f"{DIRECTORY}/{0:020}.")]:
        disk.remove(name)
    put(disk, *snapshot(bases[1], 1 + bases[1] // 1000))
    adopted = open_storage(disk, segment_bytes_max=300_000).recovered.epochs

    disk.remove(f"{DIRECTORY}/{COMMITTED_PREFIX}")
    walked = open_storage(disk, segment_bytes_max=300_000).recovered.epochs

    assert adopted == walked
    assert adopted[0][1] == bases[1]


def segment_state(segment: Segment) -> tuple[Any, ...]:
    index = segment.index
    place = (segment.base_offset, segment.end_offset, segment.size, segment.crc, segment.first_timestamp)
    return (*place, bytes(index.offsets), bytes(index.times), index._since, index.max_timestamp)


def test_a_torn_batch_below_the_committed_offset_is_refused() -> None:
    disk = lived()
    path = f"{DIRECTORY}/{segment_name(0, LOG)}"
    del disk.files[path].data[-100:]

    error = refused(disk)

    assert error.offset == 2999
    assert "all offsets below 3000 are committed" in str(error)


def test_the_committed_prefix_is_written_after_each_interval_in_which_more_was_committed() -> None:
    disk = directory((0, WHOLE))
    storage = open_storage(disk, prefix_interval_ms=1000)

    def end_after(now_ms: int) -> int | None:
        storage.tick(now_ms)
        text = disk.tree().get(f"{DIRECTORY}/{COMMITTED_PREFIX}")
        return None if text is None else parse_prefix(text).end_offset

    storage.perform(HighWatermark(7))
    first = [end_after(5000), end_after(5999), end_after(6000)]
    before = len(disk.operations)
    idle = end_after(7000)
    operations = disk.operations[before:]
    storage.perform(HighWatermark(20))
    later = [end_after(7500), end_after(8000)]

    assert (first, idle, later) == ([None, None, 7], 7, [7, 20])
    assert operations == []


def test_the_log_is_on_disk_before_the_file_that_says_what_of_it_is_committed() -> None:
    """Otherwise a power failure could leave a file that names more than the log has, and the start would refuse it."""
    disk = directory((0, WHOLE))
    storage = open_storage(disk, prefix_interval_ms=1000)
    storage.perform(HighWatermark(20))
    storage.tick(0)
    before = len(disk.operations)

    storage.tick(1000)

    done = disk.operations[before:]
    log, prefix = f"{DIRECTORY}/{segment_name(0, LOG)}", f"{DIRECTORY}/{COMMITTED_PREFIX}"
    assert done.index(("sync", log)) < done.index(("rename", prefix))


def test_committed_batches_behind_a_lost_sector_are_not_cut() -> None:
    """A quiet quorum wrote the file at a clean end alone: a start cut months of records behind one sector of zeros."""
    disk = directory((0, WHOLE))
    storage = open_storage(disk, prefix_interval_ms=1000)
    storage.perform(HighWatermark(20))
    storage.tick(0)
    storage.tick(1000)
    data = bytearray(WHOLE)
    data[1024:1536] = bytes(512)
    put(disk, segment_name(0, LOG), bytes(data))

    error = refused_copy(disk)

    assert (error.position, error.offset) == (1024 // SIZE * SIZE, 1024 // SIZE)
    assert str(error).endswith(
        "all offsets below 20 are committed and were on disk, so this is damage, and no torn end; the other voters have"
        " them: replace this voter, or have `kraftctl log truncate --lose-committed` cut it"
    )


def test_a_committed_prefix_that_cannot_be_written_fails_the_node() -> None:
    disk = directory((0, WHOLE))
    failures: list[DiskFailed] = []
    storage = Storage(disk, DIRECTORY, AtOnce(), on_input=lambda _: None, on_failure=failures.append)
    storage.perform(HighWatermark(20))
    storage.tick(0)
    disk.fail_at = len(disk.operations) + 1

    with pytest.raises(DiskFailed):
        storage.tick(200_000)

    assert [failure.operation for failure in failures] == [COMMITTED_PREFIX]


def test_a_log_shorter_than_the_committed_offset_is_refused() -> None:
    disk = lived()
    path = f"{DIRECTORY}/{segment_name(0, LOG)}"
    del disk.files[path].data[-10 * SIZE :]

    error = refused(disk)

    assert (error.offset, error.position) == (2990, 2990 * SIZE)
    assert "offsets below 3000 were committed and on disk" in str(error)
    assert f"remove {DIRECTORY}/{COMMITTED_PREFIX}" in str(error)


def test_a_missing_log_is_refused() -> None:
    disk = lived()
    disk.remove(f"{DIRECTORY}/{segment_name(0, LOG)}")

    assert "offsets below 3000 were committed" in str(refused(disk))


def test_a_changed_byte_that_no_batch_covers_is_refused() -> None:
    """The epoch of a batch is not under its CRC; the CRC of the prefix is over everything."""
    disk = lived()
    data = disk.files[f"{DIRECTORY}/{segment_name(0, LOG)}"].data
    at = 2500 * SIZE + 15
    assert data[at] == 3
    for position in range(at, len(data), SIZE):
        data[position] = 4

    error = refused(disk)

    assert "whole batches, but not those that were committed" in str(error)


def test_records_that_a_failed_sync_left_in_the_page_cache_are_cut() -> None:
    disk = directory((0, WHOLE))
    failures: list[DiskFailed] = []
    storage = Storage(disk, DIRECTORY, AtOnce(), on_input=lambda _: None, on_failure=failures.append)
    disk.fail_at = len(disk.operations) + 2  # the sync after the write
    storage.perform(Append(1, 20, 21, 1, batch(20, size=200)))
    storage.close()
    before = log_bytes(disk)

    restarted = open_storage(disk)

    assert [failure.operation for failure in failures] == ["flush of the log"]
    assert len(before) == 21 * SIZE
    assert restarted.recovered.log_end == 20
    assert log_bytes(disk) == WHOLE


def test_records_behind_the_committed_prefix_that_a_failed_sync_left_in_the_page_cache_are_cut() -> None:
    disk = lived()
    before = log_bytes(disk)
    failures: list[DiskFailed] = []
    storage = Storage(disk, DIRECTORY, AtOnce(), on_input=lambda _: None, on_failure=failures.append)
    disk.fail_at = len(disk.operations) + 2  # the sync after the write
    storage.perform(Append(3000, 3000, 3001, 3, batch(3000, epoch=3, size=200)))
    storage.close()
    cached = log_bytes(disk)

    restarted = open_storage(disk)

    assert [failure.operation for failure in failures] == ["flush of the log"]
    assert len(cached) > len(before)
    assert (restarted.recovered.log_end, log_bytes(disk)) == (3000, before)


def test_a_flipped_bit_in_committed_batches_is_reported_with_its_position() -> None:
    disk = lived()
    disk.files[f"{DIRECTORY}/{segment_name(0, LOG)}"].data[1234 * SIZE + 100] ^= 1

    error = refused(disk)

    assert (error.position, error.offset) == (1234 * SIZE, 1234)


def test_missing_indexes_are_rebuilt() -> None:
    disk = lived()
    expected = {name: data for name, data in disk.tree().items() if name.endswith("index")}
    for name in expected:
        disk.remove(name)

    open_storage(disk).close()

    assert {name: data for name, data in disk.tree().items() if name.endswith("index")} == expected


def test_damaged_indexes_are_rebuilt() -> None:
    disk = lived()
    expected = {name: data for name, data in disk.tree().items() if name.endswith("index")}
    for name in expected:
        disk.files[name].data[5] ^= 0xFF

    open_storage(disk).close()

    assert {name: data for name, data in disk.tree().items() if name.endswith("index")} == expected


def test_a_damaged_prefix_file_is_ignored_with_a_note() -> None:
    disk = lived()
    disk.files[f"{DIRECTORY}/{COMMITTED_PREFIX}"].data[3] ^= 1

    storage = open_storage(disk)

    assert storage.recovered.log_end == 3000
    assert [name for name, _ in storage.notes] == ["committed_prefix_ignored"]


def test_the_known_committed_offset_never_decreases() -> None:
    disk = lived()
    for _ in range(2):
        open_storage(disk).close()  # without having learned a high watermark

    assert prefix_of(disk).end_offset == 3000


def test_the_prefix_file_claims_no_more_than_the_log_has_after_a_reset_to_below_what_was_committed() -> None:
    """No replica orders that. But with more in the file each later start would be refused."""
    disk = directory((0, WHOLE))
    storage = open_storage(disk)
    storage.perform(HighWatermark(20))
    put(disk, *snapshot(7, 2))

    storage.perform(ResetLog(1, SnapshotId(7, 2)))
    storage.close()

    assert prefix_of(disk).end_offset == 7
    assert open_storage(disk).recovered.log_end == 7


def test_a_torn_tail_after_the_committed_offset_is_truncated() -> None:
    disk = lived(committed=2000)
    del disk.files[f"{DIRECTORY}/{segment_name(0, LOG)}"].data[-100:]

    storage = open_storage(disk)

    assert storage.recovered.log_end == 2999
    assert bounds(storage.read(2998, 2999, 1)) == [(2998, 2998)]


def test_the_epoch_checkpoint_is_repaired_from_the_log() -> None:
    disk = directory((0, run(0, 5) + run(5, 9, epoch=4)))
    put(disk, "leader-epoch-checkpoint", b"0\n2\n1 0\n7 3\n")

    storage = open_storage(disk)

    assert storage.recovered.epochs == ((1, 0), (4, 5))
    assert disk.tree()[f"{DIRECTORY}/leader-epoch-checkpoint"] == b"0\n2\n1 0\n4 5\n"
    assert [name for name, _ in storage.notes] == ["epoch_checkpoint_healed"]


def test_an_epoch_assigned_without_data_is_dropped() -> None:
    disk = directory((0, run(0, 5)))
    put(disk, "leader-epoch-checkpoint", b"0\n2\n1 0\n3 5\n")

    assert open_storage(disk).recovered.epochs == ((1, 0),)
