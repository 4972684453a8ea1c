"""The real file operations, and the lock against other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from raft.storage.directory_lock import DirectoryLock
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


def test_the_crc_of_a_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raft.storage.files.WINDOW_BYTES", 100)
    data = os.urandom(1000)
    (tmp_path / "a").write_bytes(data)
    handle = FILES.open_to_read(str(tmp_path / "a"))

    assert crc_of_file(FILES, handle, 10, 990) == crc32c(data[10:990])
    assert crc_of_file(FILES, handle, 10, 990, crc32c(data[:10])) == crc32c(data[:990])
    assert crc_of_file(FILES, handle, 10, 1001) is None
    FILES.close(handle)


HOLDER = """
import fcntl, sys
handle = open(sys.argv[1], "w")
fcntl.lockf(handle, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


WAITING = """
import fcntl, sys
handle = open(sys.argv[1], "r+")
print("opened", flush=True)
sys.stdin.readline()
fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process that holds the POSIX lock, as a stock node does."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_directory_that_another_process_has_locked_is_refused(tmp_path: Path) -> None:
    process = holder(tmp_path / ".lock")

    with pytest.raises(StorageError) as error:
        DirectoryLock(FILES, str(tmp_path))

    process.communicate("")
    assert str(error.value) == (
        f"Failed to acquire lock on file .lock in {tmp_path}. A Kafka instance in another process or thread is using"
        " this directory."
    )
    DirectoryLock(FILES, str(tmp_path)).release()


def test_a_directory_that_this_process_has_locked_is_refused(tmp_path: Path) -> None:
    lock = DirectoryLock(FILES, str(tmp_path))

    with pytest.raises(StorageError, match="another process or thread"):
        DirectoryLock(FILES, str(tmp_path))

    # The failed attempt must not have let go of the lock against others.
    probe = f"import fcntl; fcntl.lockf(open({str(tmp_path / '.lock')!r}, 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode == 1
    lock.release()
    DirectoryLock(FILES, str(tmp_path)).release()


def test_a_process_that_has_opened_the_file_before_a_release_excludes_others_after_it(tmp_path: Path) -> None:
    """A stock node opens the file, ours stops, the stock node takes the lock, and another one of ours starts."""
    first = DirectoryLock(FILES, str(tmp_path))
    stock = subprocess.Popen(
        [sys.executable, "-c", WAITING, str(tmp_path / ".lock")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert stock.stdin is not None
    assert stock.stdout is not None
    assert stock.stdout.readline() == "opened\n"

    first.release()
    stock.stdin.write("\n")
    stock.stdin.flush()
    held = stock.stdout.readline()
    with pytest.raises(StorageError, match="another process or thread"):
        DirectoryLock(FILES, str(tmp_path))

    stock.communicate("")
    assert held == "held\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change an owner")
def test_a_lock_file_that_root_makes_belongs_to_the_owner_of_the_directory(tmp_path: Path) -> None:
    os.chown(tmp_path, 4711, 4712)

    DirectoryLock(FILES, str(tmp_path)).release()

    found = (tmp_path / ".lock").stat()
    assert (found.st_uid, found.st_gid) == (4711, 4712)


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node stops, and removes the file, between our opening it and our locking it."""
    import fcntl

    real = fcntl.lockf
    removed: list[bool] = []

    def remove_first(handle: int, how: int) -> None:
        if not removed:
            (tmp_path / ".lock").unlink()
            removed.append(True)
        real(handle, how)

    monkeypatch.setattr(fcntl, "lockf", remove_first)

    lock = DirectoryLock(FILES, str(tmp_path))

    assert removed == [True]
    assert (tmp_path / ".lock").exists()
    lock.release()


def test_a_missing_directory_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"Failed to acquire lock on file \.lock in .*/gone: .*No such file"):
        DirectoryLock(FILES, str(tmp_path / "gone"))


def test_releasing_a_lock_keeps_a_file_of_another_holder(tmp_path: Path) -> None:
    """An operator may have removed it; what has its name by then is another's."""
    first = DirectoryLock(FILES, str(tmp_path))
    (tmp_path / ".lock").unlink()
    first.release()
    second = DirectoryLock(FILES, str(tmp_path))
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").write_text("another's")

    second.release()

    assert (tmp_path / ".lock").read_text() == "another's"
