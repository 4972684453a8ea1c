from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from raft.storage.directory_lock import DirectoryLock
from raft.storage.files import OsFiles
from tests.mounts import remount_read_only, small_file_system
from tests.tools.offline.stock_directories import stock_directory
from tools.kraftctl.main import main
from tools.offline.lock import DirectoryLocked, hold_unused, lock_holder, lock_where_lockable

if TYPE_CHECKING:
    from pathlib import Path


def test_a_directory_without_a_lock_file_gets_none(tmp_path: Path) -> None:
    with lock_where_lockable(str(tmp_path)):
        pass

    assert list(tmp_path.iterdir()) == []


def test_the_lock_file_stays(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()

    with lock_where_lockable(str(tmp_path)):
        pass

    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_node_that_starts_while_a_directory_without_a_lock_file_is_read_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(DirectoryLocked, match="A node has started in"), hold_unused(str(tmp_path)):
        DirectoryLock(OsFiles(), str(tmp_path)).release()


HOLD = "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.lockf(file, fcntl.LOCK_EX); print(); sys.stdin.read()"


def test_the_holder_of_a_lock_is_found_by_one_who_may_only_read_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / ".lock")
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        open_file = os.open

        def refuse_writers(name: str, flags: int) -> int:
            if flags & os.O_ACCMODE != os.O_RDONLY:
                raise PermissionError(13, "Permission denied", name)
            return open_file(name, flags)

        monkeypatch.setattr(os, "open", refuse_writers)
        found = lock_holder(path)
        monkeypatch.undo()
        assert process.stdin is not None
        process.stdin.close()

    assert found == process.pid
    assert lock_holder(path) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")
@pytest.mark.parametrize("verb", ["log verify", "log replay", "recover measure", "backup save"])
def test_a_read_only_file_system_is_read_although_a_lock_file_was_left(
    tmp_path: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_file_system(tmp_path / "disk", 4096) as disk:
        directory = stock_directory(disk)
        (directory / ".lock").touch()
        remount_read_only(disk)
        target = [str(tmp_path / "saved")] if verb == "backup save" else []
        source = ["--directory", str(directory)] if target else [str(directory)]

        code = main([*verb.split(), *source, *target])

    assert (code, capsys.readouterr().err) == (0, "")
