"""A value that is made of files: made again when they change, and kept while they cannot be used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from raft.security.files import FileError
from raft.security.renewal import Renewal

if TYPE_CHECKING:
    from pathlib import Path


class Made:
    """A renewal of a number in a file, with a clock and what it reported."""

    def __init__(self, tmp_path: Path, *, pause_s: float = 0.0) -> None:
        self.path, self.now, self.said = tmp_path / "number", 0.0, list[str]()
        self.reads = 0
        self.while_read = lambda: None
        self.put("1")
        self.renewal = Renewal(
            [str(self.path)], self._read, now=lambda: self.now, pause_s=pause_s,
            renewed=lambda: self.said.append("renewed"), refused=self.said.append,
        )  # fmt: skip

    def put(self, text: str) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(text)
        new.rename(self.path)

    def _read(self) -> int:
        self.reads += 1
        text = self.path.read_text()
        self.while_read()
        if not text.isdecimal():
            raise FileError(f"no number: {text}")
        return int(text)


def test_a_value_is_made_again_only_when_its_file_has_changed(tmp_path: Path) -> None:
    made = Made(tmp_path)

    before = [made.renewal.value(), made.renewal.value()]
    made.put("2")
    after = [made.renewal.value(), made.renewal.value()]

    assert (before, after, made.reads, made.said) == ([1, 1], [2, 2], 2, ["renewed"])


def test_the_same_value_in_a_new_file_is_no_news(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.put("1")

    assert (made.renewal.value(), made.reads, made.said) == (1, 2, [])


def test_files_are_looked_at_once_in_a_pause(tmp_path: Path) -> None:
    made = Made(tmp_path, pause_s=1.0)
    made.put("2")

    soon = made.renewal.value()
    made.now = 1.0

    assert (soon, made.renewal.value()) == (1, 2)


def test_a_file_that_cannot_be_used_is_read_and_reported_once_and_the_value_stays(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.put("x")

    kept = [made.renewal.value() for _ in range(3)]
    reads = made.reads
    made.put("3")

    assert (kept, reads, made.renewal.value()) == ([1, 1, 1], 2, 3)
    assert made.said == ["no number: x", "renewed"]


def test_what_is_wrong_is_reported_again_when_a_file_was_right_in_between(tmp_path: Path) -> None:
    made = Made(tmp_path)

    for text in ("x", "3", "x"):
        made.put(text)
        made.renewal.value()

    assert made.said == ["no number: x", "renewed", "no number: x"]


def test_a_file_that_is_gone_leaves_the_value(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.path.unlink()

    assert [made.renewal.value(), made.renewal.value()] == [1, 1]
    assert made.said == [f"{made.path}: {os.strerror(2)}"]


def test_a_file_that_is_written_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.put("2")

    def write_once() -> None:
        made.while_read = lambda: None
        made.put("3")

    made.while_read = write_once

    assert [made.renewal.value(), made.renewal.value()] == [1, 3]
    assert made.said == ["renewed"]


def test_a_file_that_was_another_while_it_was_read_is_read_again(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.put("2")
    kept = tmp_path / "kept"

    def change() -> None:
        made.while_read = lambda: None
        made.path.rename(kept)
        made.put("3")

    made.while_read = change
    first = made.renewal.value()
    kept.rename(made.path)

    assert [first, made.renewal.value()] == [1, 2]
    assert made.said == ["renewed"]


def test_a_file_that_cannot_be_used_at_first_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="missing: No such file"):
        Renewal(
            [str(tmp_path / "missing")], lambda: 1, now=lambda: 0.0, renewed=lambda: None, refused=lambda _: None
        )  # fmt: skip


def test_a_value_is_made_again_at_most_once_in_a_second_and_stays_if_its_file_cannot_be_used(tmp_path: Path) -> None:
    made = Made(tmp_path, pause_s=60)
    made.put("2")

    values = [made.renewal.made_again()]
    made.now = 1.0
    values += [made.renewal.made_again(), made.renewal.made_again()]
    made.put("x")
    made.now = 2.0
    values.append(made.renewal.made_again())

    assert (values, made.reads, made.said) == ([1, 2, 2, 2], 3, [])
