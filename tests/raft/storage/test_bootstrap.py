from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.storage.bootstrap import read_bootstrap
from raft.storage.errors import CorruptSnapshot
from raft.storage.files import OsFiles
from raft.storage.snapshot_file import SnapshotBytes

if TYPE_CHECKING:
    from pathlib import Path

SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


def written(directory: Path, name: str, *values: bytes) -> None:
    source = SnapshotBytes(0, 1_700_000_000_000)
    header = source.header(0)
    data = source.data(list(values)) if values else b""
    path = directory / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(header + data + source.footer())


def test_a_directory_without_a_formatter_has_no_bootstrap_records(tmp_path: Path) -> None:
    assert read_bootstrap(OsFiles(), str(tmp_path)) is None


@pytest.mark.parametrize("name", ["bootstrap.checkpoint", SNAPSHOT])
def test_the_bootstrap_records_are_in_either_file(tmp_path: Path, name: str) -> None:
    written(tmp_path, name, b"first", b"second")

    assert read_bootstrap(OsFiles(), str(tmp_path)) == [b"first", b"second"]


def test_bootstrap_checkpoint_takes_precedence_over_the_0_0_snapshot(tmp_path: Path) -> None:
    written(tmp_path, "bootstrap.checkpoint", b"of the file")
    written(tmp_path, SNAPSHOT, b"of the snapshot")

    assert read_bootstrap(OsFiles(), str(tmp_path)) == [b"of the file"]


def test_an_empty_bootstrap_file_is_skipped(tmp_path: Path) -> None:
    written(tmp_path, "bootstrap.checkpoint")
    written(tmp_path, SNAPSHOT, b"of the snapshot")

    assert read_bootstrap(OsFiles(), str(tmp_path)) == [b"of the snapshot"]


def test_a_file_that_is_not_a_snapshot_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bootstrap.checkpoint").write_bytes(b"not a snapshot")

    with pytest.raises(CorruptSnapshot, match=r"bootstrap\.checkpoint"):
        read_bootstrap(OsFiles(), str(tmp_path))
