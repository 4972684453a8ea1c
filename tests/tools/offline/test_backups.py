"""A backup has the bytes of the log, and anything that is changed in it is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from raft.storage.names import LOG, segment_name
from tests.tools.offline.stock_directories import PARTITION, SEGMENT, append_unreplayable, stock_directory
from tests.tools.offline.test_truncation import committed, split
from tools.offline.backups import BadBackup, last_time_ms, offset_at, read_manifest, save_directory, verify_backup
from tools.offline.examined import examine
from tools.offline.saved_copy import CopyExists

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = "4L6g3nShT-eMCtK--X86sw"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of node 1 of 4.3-static."""
    save_directory(examine(str(stock_directory(tmp_path))), str(tmp_path / "backup"), 5)
    return tmp_path / "backup"


def test_a_backup_of_a_directory_has_its_bytes_and_says_what_it_holds(tmp_path: Path, backup: Path) -> None:
    manifest, found = verify_backup(str(backup))

    assert manifest == read_manifest(str(backup))
    assert manifest[:7] == (CLUSTER, str(tmp_path / "4.3-static-node-1"), 5, 0, 1039, 712, 2)
    assert found.end_offset == 1039
    assert (backup / SEGMENT).read_bytes() == (tmp_path / "4.3-static-node-1" / SEGMENT).read_bytes()
    assert (backup / SEGMENT).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", [SEGMENT, "__cluster_metadata-0/00000000000000000712-0000000002.checkpoint"])
def test_each_changed_missing_and_added_file_is_found(backup: Path, name: str) -> None:
    data = bytearray((backup / name).read_bytes())
    data[len(data) // 2] ^= 1
    (backup / name).write_bytes(data)
    with pytest.raises(BadBackup, match="has other bytes than were saved"):
        verify_backup(str(backup))
    (backup / name).unlink()
    with pytest.raises(BadBackup, match="is missing"):
        verify_backup(str(backup))
    (backup / SEGMENT).with_name("other.log").write_bytes(b"x")
    with pytest.raises(BadBackup, match=r"missing|not in the manifest"):
        verify_backup(str(backup))


def test_a_record_that_cannot_be_replayed_is_found(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    append_unreplayable(directory, 1039, 2)
    save_directory(examine(str(directory)), str(tmp_path / "backup"), 5)

    with pytest.raises(BadBackup, match="offset 1039: FenceBrokerRecord cannot be replayed"):
        verify_backup(str(tmp_path / "backup"))


def test_a_manifest_with_any_other_value_is_refused_or_does_not_fit(backup: Path) -> None:
    path = backup / "backup.json"
    whole = json.loads(path.read_text())
    for key in whole.keys() - {"made_ms", "source", "cluster_id", "last_time_ms", "committed", "start_offset", "epoch"}:
        for value in (None, -1, "x", [], {}, 1 << 80):
            path.write_text(json.dumps({**whole, key: value}))
            with pytest.raises(BadBackup):
                verify_backup(str(backup))
    path.write_text("[" * 100_000)
    with pytest.raises(BadBackup):
        read_manifest(str(backup))


def test_a_directory_that_is_there_is_not_overwritten(tmp_path: Path, backup: Path) -> None:
    with pytest.raises(CopyExists, match="is there already"):
        save_directory(examine(str(tmp_path / "4.3-static-node-1")), str(backup), 5)


def test_a_time_means_the_batches_that_were_written_by_then(backup: Path) -> None:
    manifest, found = verify_backup(str(backup))

    assert offset_at(found, manifest.last_time_ms) == 1039
    assert offset_at(found, manifest.last_time_ms - 1) < 1039
    assert offset_at(found, 0) == 0


@pytest.mark.parametrize("is_last_empty", [False, True])
def test_the_last_time_is_that_of_the_last_batch_whichever_segment_has_it(tmp_path: Path, is_last_empty: bool) -> None:
    """A crash between the creation of a segment and the first append to it leaves one without a batch."""
    directory = stock_directory(tmp_path)
    expected = last_time_ms(examine(str(directory)))
    split(directory, 580, 728)
    if is_last_empty:
        (directory / PARTITION / segment_name(1039, LOG)).touch()

    found = examine(str(directory))

    assert [segment.base_offset for segment in found.segments] == [0, 580, 728] + [1039] * is_last_empty
    assert last_time_ms(found) == expected > 0


def test_a_damaged_directory_is_not_backed_up(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    data = bytearray((directory / SEGMENT).read_bytes())
    data[-3] ^= 1
    (directory / SEGMENT).write_bytes(data)

    with pytest.raises(BadBackup, match=r"offset 1038.*A backup would lack the records from there on"):
        save_directory(examine(str(directory)), str(tmp_path / "backup"), 5)

    assert sorted(path.name for path in tmp_path.iterdir()) == [directory.name]


def test_a_backup_says_what_the_committed_prefix_of_the_directory_proves(tmp_path: Path) -> None:
    directory = committed(stock_directory(tmp_path), 1039)

    manifest = save_directory(examine(str(directory)), str(tmp_path / "backup"), 5)

    assert (manifest.end_offset, manifest.committed) == (1039, 1039)


def test_a_batch_that_was_not_written_whole_is_not_backed_up(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    whole = (directory / SEGMENT).read_bytes()
    (directory / SEGMENT).write_bytes(whole + (1039).to_bytes(8, "big") + b"\0\0\1\0torn")

    save_directory(examine(str(directory)), str(tmp_path / "backup"), 5)

    assert (tmp_path / "backup" / SEGMENT).read_bytes() == whole
