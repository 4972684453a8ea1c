"""Files of keys and certificates."""

from __future__ import annotations

import os

import pytest

from raft.security.files import FileError, read_bounded
from tests.raft.security.test_watched_file import Watching


@pytest.mark.parametrize("content", [None, b"bad"])
def test_the_first_content_must_be_usable(tmp_path, content):
    path = tmp_path / "n"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(FileError, match=str(path)):
        Watching(path)


def test_a_file_that_is_too_large_or_no_path_is_refused(tmp_path):
    path = tmp_path / "n"
    with path.open("wb") as file:
        os.truncate(file.fileno(), (4 << 20) + 1)

    for name in (str(path), "a\0b", str(tmp_path)):
        with pytest.raises(FileError):
            read_bounded(name)
