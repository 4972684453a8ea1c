"""A directory is read as a start of a node reads it; damage is a value, and nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.storage.names import snapshot_name
from raft.storage.snapshot_file import SnapshotBytes
from tests.raft.storage.batches import kraft_version, run
from tests.tools.offline.stock_directories import PARTITION, SEGMENT, append_unreplayable, stock_directory
from tools.offline.examined import Fault, NotALog, examine
from tools.offline.saved_copy import digests

if TYPE_CHECKING:
    from pathlib import Path


def test_a_directory_of_stock_is_sound_and_stays_as_it_is(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    before = digests(str(directory))

    found = examine(str(directory))

    assert (found.start_offset, found.end_offset, found.seen_offset, found.epoch) == (0, 1039, 1039, 2)
    assert (found.committed, found.epochs, found.fault, found.torn) == (712, ((1, 0), (2, 330)), None, None)
    assert found.snapshots == [(262, 1), (533, 2), (712, 2)]
    assert digests(str(directory)) == before


def test_voters_and_kraft_version_are_those_of_the_log(tmp_path: Path) -> None:
    found = examine(str(stock_directory(tmp_path, "4.3-dynamic/node-1") / PARTITION))

    assert found.kraft_version == 1
    assert found.voters is not None
    assert found.voters.ids == (1, 3)


def test_damage_is_named_with_file_byte_and_offset_and_what_is_behind_it_is_seen(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    log = directory / SEGMENT
    data = bytearray(log.read_bytes())
    data[53300] ^= 1
    log.write_bytes(data)

    found = examine(str(directory))

    assert found.fault == Fault(str(log), 53219, 580, found.fault.reason if found.fault else "")
    assert "the CRC does not fit the bytes" in str(found.fault)
    assert (found.end_offset, found.seen_offset) == (580, 1039)


def test_an_unfinished_append_is_no_fault(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    position = append_unreplayable(directory, 1039, 2)
    log = directory / SEGMENT
    log.write_bytes(log.read_bytes()[:-5])

    found = examine(str(directory))

    assert found.fault is None
    assert found.torn is not None
    assert (found.torn.position, found.torn.offset, found.end_offset) == (position, 1039, 1039)


def test_a_checkpoint_without_its_end_is_a_fault(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    path = directory / PARTITION / "00000000000000000712-0000000002.checkpoint"
    path.write_bytes(path.read_bytes()[:-40])

    found = examine(str(directory))

    assert found.fault is not None
    assert found.fault.file == str(path)
    assert found.snapshots == [(262, 1), (533, 2)]


@pytest.mark.parametrize("name", ["", "missing", "empty"])
def test_a_directory_without_a_log_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty" / PARTITION).mkdir(parents=True)

    with pytest.raises(NotALog, match=PARTITION if name == "" else "no "):
        examine(str(tmp_path / name))


def test_a_kraft_version_behind_the_newest_checkpoint_is_listed_once(tmp_path: Path) -> None:
    partition = tmp_path / PARTITION
    partition.mkdir()
    data = kraft_version(0, 1, 0) + run(1, 5) + kraft_version(5, 1, 1)
    (tmp_path / SEGMENT).write_bytes(data)
    source = SnapshotBytes(1, 9)
    (partition / snapshot_name(5, 1)).write_bytes(source.header(7) + source.footer())

    found = examine(str(tmp_path), with_mark=False)

    assert (found.fault, found.snapshots, found.end_offset) == (None, [(5, 1)], 6)
    assert found.kraft_versions == ((0, 0), (5, 1))
