"""A forced voter set is at the end of the log, at a higher epoch, and a node of ours accepts it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from raft.interface.voters import VoterSet
from raft.storage.files import OsFiles
from raft.storage.log import LogLimits
from raft.storage.opening import open_partition
from records.batch import build_batch
from tests.tools.offline.stock_directories import SEGMENT, stock_directory
from tools.offline import forced_voters
from tools.offline.examined import examine
from tools.offline.forced_voters import force_voter
from tools.offline.replayed import Replay

if TYPE_CHECKING:
    from pathlib import Path

    from raft.interface.config import Voter


def voter_1(directory: Path) -> Voter:
    voters = examine(str(directory)).voters
    assert voters is not None
    voter = voters.get(1)
    assert voter is not None
    return voter


def test_the_voter_is_appended_at_the_new_epoch_and_a_node_starts_from_it(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")
    voter = voter_1(directory)
    before = (directory / SEGMENT).read_bytes()

    force_voter(examine(str(directory)), voter, 1001, 1_700_000_000_000)

    found = examine(str(directory))
    opened = open_partition(OsFiles(), found.directory, LogLimits())
    assert (directory / SEGMENT).read_bytes().startswith(before)
    assert (found.end_offset, found.epoch, found.voters) == (59, 1001, VoterSet([voter]))
    assert opened.recovered.voter_sets[-1] == (58, VoterSet([voter]))
    assert opened.recovered.election is not None
    assert (opened.recovered.election.epoch, opened.recovered.election.voted) == (1001, None)
    assert opened.notes == []
    assert Replay(found).run().fault is None


@pytest.mark.parametrize("missing", [1, 400])
def test_an_unfinished_append_is_replaced_also_where_it_is_longer_than_the_voter_record(
    tmp_path: Path, missing: int
) -> None:
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")
    before = examine(str(directory))
    records = [b"x" * 300] * 5
    batch = build_batch(records, base_offset=before.end_offset, leader_epoch=before.epoch, timestamp_ms=0)
    with (directory / SEGMENT).open("ab") as log:
        log.write(batch[:-missing])
    torn = examine(str(directory))
    assert torn.torn is not None

    force_voter(torn, voter_1(directory), 1001, 0)

    found = examine(str(directory))
    assert (found.end_offset, found.torn, found.fault) == (59, None, None)


def test_with_static_voters_only_the_epoch_moves_up(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    voter = voter_1(stock_directory(tmp_path, "4.3-dynamic/node-1"))
    before = (directory / SEGMENT).read_bytes()

    force_voter(examine(str(directory)), voter, 1002, 0)

    found = examine(str(directory))
    assert (directory / SEGMENT).read_bytes() == before
    assert found.election is not None
    assert found.election.epoch == 1002


def test_static_voters_become_dynamic_in_one_batch(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    voter = voter_1(stock_directory(tmp_path, "4.3-dynamic/node-1"))

    force_voter(examine(str(directory)), voter, 1002, 0, kraft_version=1)

    found = examine(str(directory))
    opened = open_partition(OsFiles(), found.directory, LogLimits())
    assert (found.end_offset, found.epoch, found.kraft_version, found.voters) == (1041, 1002, 1, VoterSet([voter]))
    assert opened.recovered.kraft_versions[-1] == (1039, 1)
    assert opened.recovered.voter_sets[-1] == (1040, VoterSet([voter]))
    assert Replay(found).run().fault is None


def test_a_crash_at_any_point_leaves_a_directory_that_a_node_starts_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stock_directory(tmp_path, "4.3-dynamic/node-1")
    voter = voter_1(first)
    for left in range(100):
        directory = tmp_path / f"run-{left}"
        shutil.copytree(first, directory)
        files = Crashing(left)
        monkeypatch.setattr(forced_voters, "OsFiles", lambda files=files: files)
        try:
            force_voter(examine(str(directory)), voter, 1001, 0)
            break
        except Crashed:
            found = examine(str(directory))
            assert found.fault is None
            assert found.end_offset in (58, 59)
            open_partition(OsFiles(), found.directory, LogLimits()).log.close()
    assert left >= 4


class Crashed(Exception):
    """The process ends here."""


class Crashing(OsFiles):
    """Files of which one write or rename is not complete. left: the changes before it."""

    def __init__(self, left: int) -> None:
        self.left = left

    def write(self, handle: int, position: int, data: bytes) -> None:
        if self.left == 0:
            super().write(handle, position, data[: len(data) // 2])
            raise Crashed
        self.left -= 1
        super().write(handle, position, data)

    def rename(self, old: str, new: str) -> None:
        if self.left == 0:
            raise Crashed
        self.left -= 1
        super().rename(old, new)
