from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.storage.directory import Contents, has_partition_metadata, list_contents
from raft.storage.errors import StorageError
from raft.storage.files import OsFiles

if TYPE_CHECKING:
    from pathlib import Path

TEXT = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def test_the_files_of_a_directory_are_classified_by_their_names(tmp_path: Path) -> None:
    names = [
        "00000000000000000900.log", "00000000000000000000.log", "00000000000000000000.index",
        "00000000000000000000.timeindex", "00000000000000000100.index", "00000000000000000100.timeindex",
        "00000000000000000900-0000000002.checkpoint", "00000000000000001000-0000000001.checkpoint",
        "00000000000000000300-0000000001.checkpoint.deleted", "00000000000000000500.log.deleted",
        "leader-epoch-checkpoint", "notes.txt", "partition.metadata",
    ]  # fmt: skip
    for name in names:
        (tmp_path / name).write_bytes(b"")

    assert list_contents(OsFiles(), str(tmp_path)) == Contents(
        segments=[0, 900],
        snapshots=[(1000, 1), (900, 2)],
        orphans=["00000000000000000100.index", "00000000000000000100.timeindex"],
        leftovers=["00000000000000000300-0000000001.checkpoint.deleted", "00000000000000000500.log.deleted"],
    )


def test_a_directory_without_partition_metadata_is_not_marked(tmp_path: Path) -> None:
    assert has_partition_metadata(OsFiles(), str(tmp_path)) is False


@pytest.mark.parametrize("text", [TEXT, TEXT + b"\n"])
def test_the_mark_of_the_metadata_topic_is_recognised(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "partition.metadata").write_bytes(text)

    assert has_partition_metadata(OsFiles(), str(tmp_path)) is True


@pytest.mark.parametrize("text", [b"", b"\xff\xff", TEXT[:-1] + b"g", TEXT.replace(b"version: 0", b"version: 1")])
def test_the_mark_of_another_topic_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "partition.metadata").write_bytes(text)

    with pytest.raises(StorageError, match="topic_id: AAAAAAAAAAAAAAAAAAAAAQ"):
        has_partition_metadata(OsFiles(), str(tmp_path))
