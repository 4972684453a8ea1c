"""A copy of a log directory is whole under its name, or is not there."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from raft.storage.files import OsFiles
from tests.mounts import small_file_system
from tests.tools.offline.stock_directories import PARTITION, stock_directory
from tools.offline.saved_copy import CopyExists, check_room, copy_name, digests, save_copy

if TYPE_CHECKING:
    from pathlib import Path


def test_a_copy_has_the_same_files_and_sums_that_sha256sum_accepts(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    target = tmp_path / "copy"

    found = save_copy(str(directory), str(target))

    assert found == digests(str(target)) == digests(str(directory))
    assert not (tmp_path / "copy.part").exists()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=target, check=True)


def test_a_copy_that_fails_does_not_get_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = stock_directory(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("raft.storage.files.OsFiles.write", full)
    with pytest.raises(OSError, match="No space left"):
        save_copy(str(directory), str(tmp_path / "copy"))

    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "copy.part").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")
def test_a_copy_without_room_leaves_nothing_and_says_what_it_needs(tmp_path: Path) -> None:
    source = stock_directory(tmp_path)
    with small_file_system(tmp_path / "disk", 600) as disk:
        directory = disk / "metadata"
        shutil.copytree(source, directory)
        (disk / "filler").write_bytes(bytes(240 << 10))

        for _ in range(2):
            with pytest.raises(OSError, match=r"the copy .*/copy needs \d+ KiB, and \d+ KiB are free"):
                save_copy(str(directory), str(disk / "copy"))

        assert sorted(path.name for path in disk.iterdir()) == ["filler", "metadata"]


def test_an_interrupted_copy_is_named(tmp_path: Path) -> None:
    (tmp_path / "copy.part").mkdir()

    with pytest.raises(CopyExists, match=r"copy\.part is there: another copy to this place runs, or was interrupted"):
        save_copy(str(stock_directory(tmp_path)), str(tmp_path / "copy"))


def test_a_directory_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()

    with pytest.raises(CopyExists, match="is there already"):
        save_copy(str(stock_directory(tmp_path)), str(tmp_path / "copy"))


def test_the_default_name_is_beside_the_directory() -> None:
    assert copy_name("/var/lib/kafka/metadata/", 1_700_000_000) == "/var/lib/kafka/metadata.backup-20231114T221320Z"


def test_a_copy_that_reads_back_with_other_bytes_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = stock_directory(tmp_path)
    write = OsFiles.write

    def lose(files: OsFiles, handle: int, position: int, data: bytes) -> None:
        write(files, handle, position, bytes(len(data)))

    monkeypatch.setattr("raft.storage.files.OsFiles.write", lose)
    with pytest.raises(OSError, match="reads back with other bytes than were written"):
        save_copy(str(directory), str(tmp_path / "copy"))

    assert not (tmp_path / "copy").exists()


def test_what_a_crash_has_left_is_not_copied(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    (directory / PARTITION / "00000000000000000999-0000000002.checkpoint.part").write_bytes(b"half")

    assert [name for name in save_copy(str(directory), str(tmp_path / "copy")) if name.endswith(".part")] == []


def test_the_room_is_that_of_the_file_system_of_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    look = os.statvfs

    def statvfs(path: str) -> os.statvfs_result:
        looked.append(path)
        return look(path)

    monkeypatch.setattr(os, "statvfs", statvfs)
    (tmp_path / "elsewhere").mkdir()
    check_room(str(stock_directory(tmp_path)), str(tmp_path / "elsewhere" / "deeper" / "copy"))

    assert looked == [str(tmp_path / "elsewhere")]
