from __future__ import annotations

from typing import TYPE_CHECKING

from controller.offline.lock import locked_where_lockable

if TYPE_CHECKING:
    from pathlib import Path


def test_a_directory_without_a_lock_file_gets_none(tmp_path: Path) -> None:
    with locked_where_lockable(str(tmp_path)):
        pass

    assert list(tmp_path.iterdir()) == []


def test_the_lock_file_stays(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()

    with locked_where_lockable(str(tmp_path)):
        pass

    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
