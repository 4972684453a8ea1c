"""The log compared with a list: appends, rolls, truncations, resets and reads on real files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raft.storage.errors import CorruptLog
from raft.storage.files import OsFiles
from raft.storage.log import LogLimits, MetadataLog, create_segment
from tests.raft.storage.batches import batch, bounds, run
from tests.raft.storage.disk import Disk

if TYPE_CHECKING:
    from pathlib import Path

    from raft.storage.files import Files


def new_log(files: Files, directory: str, **limits: int) -> MetadataLog:
    return MetadataLog(files, directory, [create_segment(files, directory, 0)], [], [], LogLimits(**limits))


def read_from(log: MetadataLog, offset: int, bytes_max: int = 1 << 20) -> bytes:
    data = b""
    while part := log.read(offset, log.end_offset, bytes_max):
        data += part
        offset = bounds(part)[-1][1] + 1
    return data


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("append"), st.lists(st.tuples(st.integers(1, 3), st.integers(5, 700)), min_size=1, max_size=4)
        ),
        st.tuples(st.just("truncate"), st.integers(0, 30)),
        st.tuples(st.just("reset"), st.integers(1, 5)),
        st.tuples(st.just("advance"), st.integers(0, 40)),
    ),
    max_size=25,
)


@given(STEPS, st.integers(0, 3000), st.integers(1, 4000))
@settings(max_examples=120)
def test_the_log_behaves_like_a_list(steps: list[tuple[str, object]], cache_bytes: int, bytes_max: int) -> None:
    disk = Disk()
    log = new_log(disk, "", segment_bytes_max=3000, cache_bytes_max=cache_bytes)
    kept: list[tuple[int, int, bytes]] = []  # base offset, end offset, bytes
    end = 0
    for number, (step, argument) in enumerate(steps, start=1):
        if step == "append":
            made = []
            for count, size in argument:  # type: ignore[attr-defined]
                made.append((end, end + count, batch(end, count=count, epoch=number, size=size)))
                end += count
            point = log.append(number, made[0][0], end, b"".join(data for *_, data in made))
            kept += made
        elif step == "truncate":
            target = max(end - int(str(argument)), log.first_offset)
            point = log.truncate(number, target)
            kept = [entry for entry in kept if entry[1] <= target]
            # A cut within a batch takes the whole of it.
            end = kept[-1][1] if kept else min(target, log.first_offset) if target < end else end
        elif step == "reset":
            end += int(str(argument))
            point = log.reset(number, end)
            kept = []
        else:
            point = log.advance_start(number, max(end - int(str(argument)), 0))
            kept = [entry for entry in kept if entry[0] >= log.first_offset]

        assert (log.end_offset, log.size) == (end, sum(len(data) for *_, data in kept)) == point[3:]
        assert read_from(log, log.first_offset, bytes_max) == b"".join(data for *_, data in kept)
        assert log.epochs == sorted(
            {int.from_bytes(data[12:16], "big"): base for base, _, data in reversed(kept)}.items()
        )
    for base, until, data in kept:
        assert log.read(base, log.end_offset, 1) == log.read(until - 1, log.end_offset, 1) == data


def test_an_append_is_written_unchanged(tmp_path: Path) -> None:
    log = new_log(OsFiles(), str(tmp_path))

    point = log.append(1, 0, 3, run(0, 3))

    assert (tmp_path / "00000000000000000000.log").read_bytes() == run(0, 3)
    assert (point.number, point.end_offset, point.log_bytes) == (1, 3, len(run(0, 3)))
    log.close()


def test_the_log_rolls_if_an_append_does_not_fit() -> None:
    disk = Disk()
    size = len(batch(0))
    log = new_log(disk, "", segment_bytes_max=3 * size)

    for offset in range(7):
        log.append(offset, offset, offset + 1, batch(offset))

    assert [(segment.base_offset, segment.end_offset) for segment in log.segments] == [(0, 3), (3, 6), (6, 7)]
    assert sorted(name for name in disk.tree() if name.endswith(".index")) == [
        "/00000000000000000000.index", "/00000000000000000003.index",
    ]  # fmt: skip
    assert disk.tree()["/00000000000000000003.snapshot"] == bytes.fromhex("000148674bc700000000")


def test_a_batch_larger_than_a_segment_has_its_own_segment() -> None:
    log = new_log(Disk(), "", segment_bytes_max=100)

    log.append(1, 0, 1, batch(0, size=5000))
    log.append(2, 1, 2, batch(1))

    assert [segment.base_offset for segment in log.segments] == [0, 1]


def test_the_log_rolls_when_the_first_record_of_a_segment_is_old() -> None:
    log = new_log(Disk(), "", segment_ms_max=1000)

    for offset, time_ms in enumerate((5000, 5500, 6000, 6001, 7001, 7002)):
        log.append(offset, offset, offset + 1, batch(offset, time_ms=time_ms))

    assert [segment.base_offset for segment in log.segments] == [0, 3, 5]


def test_a_first_record_without_a_time_is_not_old() -> None:
    log = new_log(Disk(), "", segment_ms_max=1000)

    for offset, time_ms in enumerate((-1, 5000)):
        log.append(offset, offset, offset + 1, batch(offset, time_ms=time_ms))

    assert [segment.base_offset for segment in log.segments] == [0]


def test_the_log_rolls_before_a_relative_offset_exceeds_an_int32() -> None:
    disk = Disk()
    log = MetadataLog(disk, "", [create_segment(disk, "", 0)], [], [], LogLimits())
    log.append(1, 0, 1, batch(0, time_ms=5))
    log.segments[0].end_offset = 2**31 - 1
    log.cache.clear(2**31 - 1)

    log.append(2, 2**31 - 1, 2**31, batch(2**31 - 1, time_ms=5))
    log.append(3, 2**31, 2**31 + 1, batch(2**31, time_ms=5))

    assert [segment.base_offset for segment in log.segments] == [0, 2**31]


def test_a_new_segment_waits_until_the_name_of_the_one_before_is_on_disk() -> None:
    """Else a crash could leave the newer one alone, and a start refuses a log with a hole."""
    disk = Disk()
    log = new_log(disk, "", segment_bytes_max=100)

    for offset in range(3):
        log.append(offset + 1, offset, offset + 1, batch(offset))
    log.flushed = 3
    log.append(4, 3, 4, batch(3))

    done = [
        (name, path) for name, path in disk.operations if path in {"", *(f"/{number:020}.log" for number in range(4))}
    ]
    kept = [entry for entry in done if entry[0] in {"create", "sync directory"}]
    assert kept == [
        ("create", "/00000000000000000000.log"),
        ("create", "/00000000000000000001.log"),
        ("sync directory", ""),
        ("create", "/00000000000000000002.log"),
        ("create", "/00000000000000000003.log"),
    ]


def test_a_new_segment_behind_a_reset_waits_until_the_name_of_the_one_of_the_reset_is_on_disk() -> None:
    disk = Disk()
    log = new_log(disk, "", segment_bytes_max=100)
    log.append(1, 0, 1, batch(0))
    log.flushed = 1

    log.reset(2, 50)
    for offset in (50, 51):
        log.append(offset, offset, offset + 1, batch(offset))

    names = [
        (name, path) for name, path in disk.operations
        if name == "sync directory" or (name == "create" and path.endswith(".log"))
    ]  # fmt: skip
    assert names[-3:] == [
        ("create", "/00000000000000000050.log"), ("sync directory", ""), ("create", "/00000000000000000051.log"),
    ]  # fmt: skip


def test_a_segment_is_on_disk_before_the_next_one_is_created() -> None:
    """Else a crash could tear a segment that is not the last, which would look like damage."""
    disk = Disk()
    log = new_log(disk, "", segment_bytes_max=100)
    log.append(1, 0, 1, batch(0))

    disk.operations.clear()
    log.append(2, 1, 2, batch(1))

    log_files = [entry for entry in disk.operations if entry[1].endswith(".log")]
    assert log_files == [
        ("sync", "/00000000000000000000.log"),
        ("create", "/00000000000000000001.log"),
        ("write", "/00000000000000000001.log"),
    ]


def test_a_truncation_is_on_disk_before_it_returns() -> None:
    """Else what is appended next could lie on the disk over a part of what was cut: bytes that nobody wrote."""
    disk = Disk()
    log = new_log(disk, "", segment_bytes_max=250)
    for offset in range(4):
        log.append(offset, offset, offset + 1, batch(offset))

    disk.operations.clear()
    log.truncate(9, 1)

    assert [operation for operation, _ in disk.operations] == ["rename"] * 2 + ["sync directory", "truncate", "sync"]
    assert disk.pending == []


def test_a_truncation_within_a_batch_removes_the_whole_batch() -> None:
    log = new_log(Disk(), "")
    log.append(1, 0, 5, batch(0, count=2) + batch(2, count=3))

    point = log.truncate(2, 4)

    assert (point.end_offset, log.end_offset) == (2, 2)


def test_a_truncation_by_a_damaged_header_removes_no_committed_record() -> None:
    """The first batch says that it reaches to offset 127 and beyond: a cut at 4 would take all there is."""
    disk = Disk()
    log = new_log(disk, "")
    log.append(1, 0, 5, batch(0, count=2) + batch(2, count=3))
    inode = disk.files["/00000000000000000000.log"]
    inode.data[26] ^= 0x80
    before = bytes(inode.data)

    with pytest.raises(CorruptLog, match="byte 0, offset 0: a batch says it reaches beyond offset 1"):
        log.truncate(2, 4, committed=2)

    assert bytes(inode.data) == before


def test_a_reset_removes_the_newest_segment_first_and_syncs_each_removal() -> None:
    disk = Disk()
    log = new_log(disk, "", segment_bytes_max=100)
    for offset in range(3):
        log.append(offset, offset, offset + 1, batch(offset))

    disk.operations.clear()
    log.reset(9, 50)

    changes = [(name, path[-16:]) for name, path in disk.operations if ".log" in path or name == "sync directory"]
    assert changes == [
        ("rename", "0002.log.deleted"), ("sync directory", ""), ("rename", "0001.log.deleted"), ("sync directory", ""),
        ("rename", "0000.log.deleted"), ("sync directory", ""), ("create", "/00000000000000000050.log"[-16:]),
    ]  # fmt: skip
    assert (log.first_offset, log.end_offset, log.epochs) == (50, 50, [])


def test_moving_the_start_never_removes_the_last_segment() -> None:
    log = new_log(Disk(), "", segment_bytes_max=100)
    for offset in range(3):
        log.append(offset, offset, offset + 1, batch(offset, epoch=offset + 1))

    log.advance_start(9, 100)

    assert [segment.base_offset for segment in log.segments] == [2]
    assert log.epochs == [(3, 2)]


def test_an_epoch_around_a_moved_start_begins_at_the_start() -> None:
    log = new_log(Disk(), "", segment_bytes_max=250)
    for offset in range(6):
        log.append(offset, offset, offset + 1, batch(offset, epoch=1 if offset < 1 else 2))

    log.advance_start(9, 4)

    assert log.epochs == [(2, 4)]


def test_a_read_before_the_start_is_refused() -> None:
    log = new_log(Disk(), "")
    log.reset(1, 50)
    log.append(2, 50, 51, batch(50))

    with pytest.raises(ValueError, match="offset 49 is before the start of the log, 50"):
        log.read(49, 51, 100)


@pytest.mark.parametrize(
    "data", [batch(4), batch(3) + batch(5), batch(3), batch(3, epoch=0), batch(3, count=3)], ids=str
)
def test_only_the_next_batch_is_appended(data: bytes) -> None:
    disk = Disk()
    log = new_log(disk, "")
    log.append(1, 0, 3, run(0, 3))

    with pytest.raises(AssertionError):
        log.append(2, 3, 5, data)

    assert disk.tree()["/00000000000000000000.log"] == run(0, 3)


@pytest.mark.parametrize("is_cached", [True, False])
def test_a_read_from_within_an_append_goes_on_behind_it(is_cached: bool) -> None:
    log = new_log(Disk(), "")
    first, second, third = batch(0, count=3), batch(3, count=4), batch(7)
    others = batch(8), batch(9, count=10)
    log.append(1, 0, 8, first + second + third)
    log.append(2, 8, 9, others[0])
    log.append(3, 9, 19, others[1])
    if not is_cached:
        log.cache.clear(19)

    found = [log.read(offset, 19, 1 << 20) for offset in (1, 4, 6, 7)]
    to_the_end = log.read(4, 9, 1 << 20)
    one = log.read(4, 19, 1)

    behind = third + b"".join(others)
    assert found == [first + second + behind, second + behind, second + behind, behind]
    assert (to_the_end, one) == (second + third + others[0], second)


def test_one_chunk_from_the_cache_is_returned_without_a_copy() -> None:
    log = new_log(Disk(), "")
    data = run(0, 3)
    log.append(1, 0, 3, data)

    assert log.read(0, 3, 1 << 20) is data


def test_files_of_removed_segments_are_renamed_and_listed() -> None:
    disk = Disk()
    log = new_log(disk, "", segment_bytes_max=100)
    for offset in range(2):
        log.append(offset, offset, offset + 1, batch(offset))

    log.advance_start(9, 1)

    assert log.deleted == [f"/00000000000000000000{suffix}.deleted" for suffix in (".index", ".timeindex", ".log")]
    assert set(log.deleted) <= set(disk.tree())
    assert len(log.retired) == 1
