"""One process per directory."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from raft.storage.directory_lock import DirectoryLock
from raft.storage.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path
from tests.raft.storage.test_files import FILES

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
