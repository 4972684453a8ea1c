"""The real file operations, and the lock against other processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from raft.storage.errors import StorageError
from raft.storage.files import OsFiles, crc_of_file, read_whole, replace_file
from records.crc import crc32c
from tests.raft.storage.disk import Crashed, Disk, Inode

if TYPE_CHECKING:
    from pathlib import Path

FILES = OsFiles()


def test_written_bytes_are_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    handle = FILES.open(path, create=True)

    FILES.write(handle, 0, b"0123456789")
    FILES.write(handle, 4, b"xy")
    FILES.sync_data(handle)

    assert (FILES.size(handle), FILES.read(handle, 2, 5), FILES.read(handle, 8, 100), FILES.read(handle, 50, 5)) == (
        10, b"23xy6", b"89", b"",
    )  # fmt: skip
    FILES.truncate(handle, 3)
    FILES.sync(handle)
    FILES.close(handle)
    assert (tmp_path / "a").read_bytes() == b"012"


def test_a_partial_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, data, at: real(handle, bytes(data)[:7], at))
    handle = FILES.open(str(tmp_path / "a"), create=True)

    FILES.write(handle, 3, bytes(range(100)))

    FILES.close(handle)
    assert (tmp_path / "a").read_bytes() == bytes(3) + bytes(range(100))


def test_a_full_disk_is_an_error_and_no_endless_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [5, 0, 0]
    monkeypatch.setattr(os, "pwrite", lambda *_: taken.pop(0))
    handle = FILES.open(str(tmp_path / "a"), create=True)

    with pytest.raises(OSError, match="wrote 5 of 10 bytes"):
        FILES.write(handle, 0, b"0123456789")
    FILES.close(handle)


def test_names_are_listed_without_directories(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_bytes(b"")
    FILES.make_directory(str(tmp_path / "c"))
    FILES.make_directory(str(tmp_path / "c"))

    assert (FILES.list(str(tmp_path)), FILES.is_directory(str(tmp_path / "c")), FILES.exists(str(tmp_path / "d"))) == (
        ["a", "b"], True, False,
    )  # fmt: skip


def test_a_directory_does_not_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")

    with pytest.raises(FileExistsError):
        FILES.make_directory(str(tmp_path / "a"))


def test_a_protected_file_may_not_be_written(tmp_path: Path) -> None:
    handle = FILES.open(str(tmp_path / "a"), create=True, mode=0o600)
    FILES.close(handle)

    FILES.protect(str(tmp_path / "a"))

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o400


def test_the_files_do_not_pass_to_children(tmp_path: Path) -> None:
    handle = FILES.open(str(tmp_path / "a"), create=True)

    assert not os.get_inheritable(handle)
    FILES.close(handle)


def test_a_file_larger_than_expected_is_not_read() -> None:
    disk = Disk()
    disk.files["a"] = Inode(bytearray(11))

    with pytest.raises(StorageError, match="a has 11 bytes; at most 10 are expected"):
        read_whole(disk, "a", 10)
    assert disk.handles == {}


def test_a_replaced_file_is_the_old_or_the_new_one_at_any_crash() -> None:
    for crash_at in range(2, 8):
        disk = Disk()
        disk.files["d/a"] = disk.durable["d/a"] = Inode(bytearray(b"old"), b"old")
        disk.crash_at = crash_at
        for _ in range(2):
            try:
                replace_file(disk, "d/a", b"newer")
            except Crashed:
                break
        from random import Random

        found = {bytes(disk.after_crash(Random(seed)).files["d/a"].data) for seed in range(40)}

        assert found <= {b"old", b"newer"}
        assert found == {b"newer"} or crash_at < 6


def test_a_second_name_is_given_though_a_crash_left_its_temporary_file(tmp_path: Path) -> None:
    for name in ("a", "b", "b.tmp"):
        (tmp_path / name).write_bytes(b"old")

    replace_file(FILES, str(tmp_path / "a"), b"newer", str(tmp_path / "b"))

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"newer", "b": b"newer"}
    assert (tmp_path / "a").samefile(tmp_path / "b")


def test_the_crc_of_a_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raft.storage.files.WINDOW_BYTES", 100)
    data = os.urandom(1000)
    (tmp_path / "a").write_bytes(data)
    handle = FILES.open_to_read(str(tmp_path / "a"))

    assert crc_of_file(FILES, handle, 10, 990) == crc32c(data[10:990])
    assert crc_of_file(FILES, handle, 10, 990, crc32c(data[:10])) == crc32c(data[:990])
    assert crc_of_file(FILES, handle, 10, 1001) is None
    FILES.close(handle)
