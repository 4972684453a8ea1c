"""The end of a log is removed as planned, in an order that survives a crash at any point."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from raft.interface.effects import HighWatermark
from raft.storage.files import OsFiles
from raft.storage.flusher import AtOnce
from raft.storage.names import PRODUCER_SNAPSHOT, segment_name
from raft.storage.storage import Storage
from tests.tools.offline.stock_directories import PARTITION, SEGMENT, stock_directory
from tools.offline import truncation
from tools.offline.examined import examine
from tools.offline.replayed import Replay
from tools.offline.truncation import CannotTruncate, plan_truncation, truncate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def split(directory: Path, *offsets: int) -> None:
    """Cut the one segment of a stock directory into several."""
    log = directory / SEGMENT
    data = log.read_bytes()
    cuts = [data.index(offset.to_bytes(8, "big") + b"\0\0") for offset in offsets]
    for offset, start, end in zip((0, *offsets), (0, *cuts), (*cuts, len(data)), strict=True):
        (directory / PARTITION / f"{offset:020d}.log").write_bytes(data[start:end])


def node(directory: Path) -> Storage:
    """The storage of a node of ours that starts from this directory."""
    return Storage(OsFiles(), str(directory / PARTITION), AtOnce(), on_input=lambda _: None, on_failure=lambda _: None)


def committed(directory: Path, end_offset: int) -> Path:
    """Have a node of ours store that the offsets below this one are committed."""
    storage = node(directory)
    storage.perform(HighWatermark(end_offset))
    storage.close()
    return directory


def test_a_plan_counts_what_is_lost_and_what_of_it_is_committed(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)

    plan = plan_truncation(examine(str(directory)), 600)

    assert plan == truncation.Truncation(
        directory=str(directory / PARTITION), asked=600, end_offset=580, lost=459, lost_committed=132,
        cut=(str(directory / SEGMENT), 53219), segments=[],
        snapshots=["00000000000000000712-0000000002.checkpoint"], epochs=((1, 0), (2, 330)), drops_prefix=True,
    )  # fmt: skip


def test_after_a_truncation_the_log_is_sound_and_ends_there(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    split(directory, 580, 728)
    expected = Replay(examine(str(directory))).run(330).state.contents()

    truncate(plan_truncation(examine(str(directory)), 330))

    found = examine(str(directory))
    assert (found.end_offset, found.seen_offset, found.epochs, found.fault) == (330, 330, ((1, 0),), None)
    assert [segment.base_offset for segment in found.segments] == [0]
    assert found.snapshots == [(262, 1)]
    assert Replay(found).run().state.contents() == expected


def test_a_crash_at_any_point_leaves_a_log_that_can_be_truncated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stock_directory(tmp_path)
    split(first, 580, 728)
    left = 0
    while True:
        directory = tmp_path / f"run-{left}"
        shutil.copytree(first, directory)
        files = Crashing(left)
        monkeypatch.setattr(truncation, "OsFiles", lambda files=files: files)
        try:
            truncate(plan_truncation(examine(str(directory)), 330))
            break
        except Crashed:
            found = examine(str(directory))
            assert found.fault is None
            assert found.end_offset >= 330
        left += 1
    assert left > 8


class Crashed(Exception):
    """The process ends here."""


class Crashing(OsFiles):
    """Files that raise Crashed instead of one change of the disk. left: the changes before it."""

    def __init__(self, left: int) -> None:
        self.left = left

    def _count(self) -> None:
        if self.left == 0:
            raise Crashed
        self.left -= 1

    def remove(self, path: str) -> None:
        self._count()
        super().remove(path)

    def truncate(self, handle: int, size: int) -> None:
        self._count()
        super().truncate(handle, size)

    def rename(self, old: str, new: str) -> None:
        self._count()
        super().rename(old, new)


class Noting(OsFiles):
    """Files that note in `did` what is done to the disk, in this order."""

    def __init__(self) -> None:
        self.did: list[str] = []

    def remove(self, path: str) -> None:
        self.did.append(path.rpartition("/")[2])
        super().remove(path)

    def truncate(self, handle: int, size: int) -> None:
        self.did.append("cut")
        super().truncate(handle, size)

    def sync_directory(self, path: str) -> None:
        self.did.append("synced")
        super().sync_directory(path)


def test_removed_checkpoints_are_on_disk_before_a_segment_goes_and_each_segment_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = stock_directory(tmp_path)
    split(directory, 580, 728)
    committed(directory, 1039)
    files = Noting()
    monkeypatch.setattr(truncation, "OsFiles", lambda: files)

    truncate(plan_truncation(examine(str(directory)), 330))

    steps = [step for step in files.did if not step.endswith(("index", ".snapshot"))]
    assert steps[:9] == [
        "committed-prefix-checkpoint", "00000000000000000712-0000000002.checkpoint",
        "00000000000000000533-0000000002.checkpoint", "synced", "00000000000000000728.log", "synced",
        "00000000000000000580.log", "synced", "cut",
    ]  # fmt: skip


@pytest.mark.parametrize(("end_offset", "said"), [(1040, "it cannot end at 1040"), (-1, "it cannot end at -1")])
def test_an_end_outside_of_the_log_is_refused(tmp_path: Path, end_offset: int, said: str) -> None:
    found = examine(str(stock_directory(tmp_path)))

    with pytest.raises(CannotTruncate, match=said):
        plan_truncation(found, end_offset)


def test_a_damaged_checkpoint_still_says_what_is_committed_and_is_removed(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    newest = directory / PARTITION / "00000000000000000712-0000000002.checkpoint"
    newest.write_bytes(newest.read_bytes()[:-40])

    plan = plan_truncation(examine(str(directory)), 600)
    truncate(plan)

    assert (plan.end_offset, plan.lost_committed, plan.snapshots) == (580, 132, [newest.name])
    storage = node(directory)
    assert storage.recovered.log_end == 580
    storage.close()


def test_committed_records_behind_damage_count_as_lost(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    data = bytearray((directory / SEGMENT).read_bytes())
    data[53219 + 30] ^= 1
    (directory / SEGMENT).write_bytes(data)
    found = examine(str(directory))

    plan = plan_truncation(found, 330)

    assert (found.end_offset, found.committed) == (580, 712)
    assert (plan.end_offset, plan.lost, plan.lost_committed) == (330, 709, 382)


def flipped(data: bytes) -> bytes:
    """The log with another byte in its last batch, that of offset 1038."""
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


@pytest.mark.parametrize(("damage", "end_offset"), [(flipped, 1038), (lambda data: data[:53219], 580)])
def test_committed_records_that_cannot_be_found_any_more_count_as_lost(
    tmp_path: Path, damage: Callable[[bytes], bytes], end_offset: int
) -> None:
    directory = stock_directory(tmp_path)
    for path in (directory / PARTITION).glob("*.checkpoint"):
        path.unlink()
    log = committed(directory, 1039) / SEGMENT
    log.write_bytes(damage(log.read_bytes()))
    found = examine(str(directory))
    assert found.fault is not None

    plan = plan_truncation(found, found.fault.offset)
    truncate(plan)

    assert (plan.end_offset, plan.lost, plan.lost_committed) == (end_offset, 1039 - end_offset, 1039 - end_offset)
    storage = node(directory)
    assert (storage.recovered.log_end, storage.notes) == (end_offset, [])
    storage.close()


@pytest.mark.parametrize("size", [0, 53219, None])
def test_a_log_that_goes_on_at_its_newest_checkpoint_loses_the_committed_records_behind_it(
    tmp_path: Path, size: int | None
) -> None:
    directory = committed(stock_directory(tmp_path), 1039)
    if size is None:
        (directory / SEGMENT).unlink()
    else:
        os.truncate(directory / SEGMENT, size)
    found = examine(str(directory))
    assert found.fault is not None

    plan = plan_truncation(found, found.fault.offset)
    truncate(plan)

    assert (plan.end_offset, plan.lost, plan.lost_committed, plan.snapshots) == (712, 327, 327, [])
    storage = node(directory)
    assert (storage.recovered.log_start, storage.recovered.log_end) == (712, 712)
    storage.close()


def test_a_log_without_a_segment_loses_a_damaged_checkpoint_behind_the_newest_whole_one(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    newest = directory / PARTITION / "00000000000000000712-0000000002.checkpoint"
    newest.write_bytes(newest.read_bytes()[:-40])
    (directory / SEGMENT).unlink()

    plan = plan_truncation(examine(str(directory)), 533)
    truncate(plan)

    assert (plan.end_offset, plan.lost_committed, plan.snapshots) == (533, 179, [newest.name])
    storage = node(directory)
    assert storage.recovered.log_end == 533
    storage.close()


def test_a_log_that_starts_at_a_checkpoint_keeps_one(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    split(directory, 580, 728)
    (directory / SEGMENT).unlink()

    with pytest.raises(CannotTruncate, match="the lowest possible end is 712"):
        plan_truncation(examine(str(directory)), 600)


def test_a_log_that_starts_at_a_checkpoint_may_end_exactly_where_its_only_one_ends(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    split(directory, 580, 728)
    expected = Replay(examine(str(directory))).run(712).state.contents()
    (directory / SEGMENT).unlink()

    truncate(plan_truncation(examine(str(directory)), 712))

    found = examine(str(directory))
    assert (found.start_offset, found.end_offset, found.fault) == (580, 712, None)
    assert found.snapshots[-1] == (712, 2)
    assert Replay(found).run().state.contents() == expected


def test_each_end_is_refused_or_leaves_a_checkpoint_to_begin_with(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    split(directory, 580, 728)
    (directory / SEGMENT).unlink()
    found = examine(str(directory))

    possible = []
    for end_offset in range(570, found.end_offset + 2):
        try:
            plan = plan_truncation(found, end_offset)
        except CannotTruncate:
            continue
        assert "00000000000000000712-0000000002.checkpoint" not in plan.snapshots
        assert plan.end_offset <= end_offset
        possible.append(end_offset)

    assert possible == list(range(712, found.end_offset + 1))


def test_an_epoch_that_begins_at_the_end_goes_too(tmp_path: Path) -> None:
    assert plan_truncation(examine(str(stock_directory(tmp_path))), 330).epochs == ((1, 0),)


def test_the_committed_prefix_goes_where_one_committed_offset_does(tmp_path: Path) -> None:
    found = examine(str(stock_directory(tmp_path)))

    drops = [plan_truncation(found._replace(committed=committed), 600).drops_prefix for committed in (580, 581)]

    assert drops == [False, True]


def test_producer_state_above_the_end_goes_and_that_up_to_it_stays(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    paths = [directory / PARTITION / segment_name(offset, PRODUCER_SNAPSHOT) for offset in (300, 330, 331, 1000)]
    for path in paths:
        path.write_bytes(b"producers")

    truncate(plan_truncation(examine(str(directory)), 330))

    assert [path.exists() for path in paths] == [True, True, False, False]
