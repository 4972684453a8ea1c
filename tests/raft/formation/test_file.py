"""`kraft-formation.json` keeps what it is given, and a damaged one is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.formation.file import NAME, Stored, read_formation, remove_formation, write_formation
from raft.formation.rules import InitialController
from raft.storage.errors import StorageError
from raft.storage.files import OsFiles

if TYPE_CHECKING:
    from pathlib import Path

ONE = InitialController(1, b"1" * 16, "c1", 9093)
STORED = Stored(
    b"2" * 16, (ONE, InitialController(2, b"2" * 16, "::1", 65535)), ((ONE,), (ONE, ONE._replace(node_id=3)))
)


@pytest.mark.parametrize("stored", [STORED, Stored(b"x" * 16)])
def test_what_is_written_is_read(tmp_path: Path, stored: Stored) -> None:
    files = OsFiles()

    write_formation(files, str(tmp_path), STORED)
    write_formation(files, str(tmp_path), stored)

    assert read_formation(files, str(tmp_path)) == stored
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_it_is_removed_once_and_may_be_missing(tmp_path: Path) -> None:
    files = OsFiles()
    write_formation(files, str(tmp_path), STORED)

    remove_formation(files, str(tmp_path))
    remove_formation(files, str(tmp_path))

    assert read_formation(files, str(tmp_path)) is None


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "{}", '{"version": 2, "directory_id": "x", "saved": [], "former": []}',
        '{"version": 1, "directory_id": "x", "saved": [], "former": []}',
        '{"version": 1, "directory_id": "MjIyMjIyMjIyMjIyMjIyMg", "saved": [{}], "former": []}',
        '{"version": 1, "directory_id": "MjIyMjIyMjIyMjIyMjIyMg", "saved": [], "former": [1]}',
        '{"version": 1, "directory_id": 7, "saved": [], "former": []}',
        '{"version": 1, "directory_id": "MjIyMjIyMjIyMjIyMjIyMg", "former": [], "saved": [{"id": "1"}]}',
        "\xff",
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text, encoding="latin-1")

    with pytest.raises(StorageError, match=f"{NAME} is damaged .*If this controller was never part of a quorum"):
        read_formation(OsFiles(), str(tmp_path))
