"""The name of each new directory is on disk before anything is written into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from raft.storage.files import OsFiles
from raft.storage.meta_properties import MetaProperties
from records.metadata.transactions import NoOpRecord
from tests.tools.offline.stock_directories import stock_directory
from tools.offline.backups import save_directory
from tools.offline.directory_files import Form, write_directory
from tools.offline.examined import examine
from tools.offline.new_directories import make_directories
from tools.offline.saved_copy import save_copy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The directories that are synced, in order."""
    found: list[str] = []
    sync = OsFiles.sync_directory

    def note(files: OsFiles, directory: str) -> None:
        found.append(directory)
        sync(files, directory)

    monkeypatch.setattr(OsFiles, "sync_directory", note)
    return found


def test_the_parent_of_each_new_directory_is_synced(tmp_path: Path, synced: list[str]) -> None:
    make_directories(f"{tmp_path}/a/b/c", 0o700)
    make_directories(f"{tmp_path}/a/b/c")

    assert synced == [f"{tmp_path}", f"{tmp_path}/a", f"{tmp_path}/a/b"]
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def write_formatted(_: str, target: str) -> None:
    write_directory(target, MetaProperties(1, "A" * 22, 1, bytes(15) + b"x"), [NoOpRecord()], None, 0, 0, Form.FILE)


SAVES: dict[str, Callable[[str, str], Any]] = {
    "copy": save_copy,
    "backup": lambda source, target: save_directory(examine(source), target, 5),
    "format": write_formatted,
}


@pytest.mark.parametrize("kind", SAVES)
def test_what_is_saved_has_a_name_that_survives(tmp_path: Path, synced: list[str], kind: str) -> None:
    source = str(stock_directory(tmp_path))

    SAVES[kind](source, f"{tmp_path}/new/deep/target")

    assert synced[:2] == [f"{tmp_path}", f"{tmp_path}/new"]
    assert f"{tmp_path}/new/deep" in synced
