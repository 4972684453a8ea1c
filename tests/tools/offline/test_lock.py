from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from raft.storage.directory_lock import DirectoryLock
from raft.storage.files import OsFiles
from tests.mounts import remount_read_only, small_file_system
from tests.tools.offline.stock_directories import stock_directory
from tools.kraftctl.main import main
from tools.offline.lock import DirectoryLocked, hold_unused, lock_where_lockable

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
