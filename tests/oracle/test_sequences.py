"""Sequences that differed once, that differ on purpose, or that still differ, each run on both sides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.oracle.commands import from_text, to_text
from tests.oracle.exceptions import names

if TYPE_CHECKING:
    from tests.oracle.pair import Pair

HERE = Path(__file__).parent
DELIBERATE, PENDING = names()


def files(folder: str) -> list[str]:
    return sorted(path.stem for path in (HERE / folder).glob("*.txt"))


def exception_of(name: str) -> str:
    """What a file shows: `row-15-placement--two.txt` is a second sequence of `row-15-placement`."""
    return name.partition("--")[0]


@pytest.mark.parametrize("name", files("sequences"))
def test_a_sequence_that_once_differed_differs_no_more(pair: Pair, name: str) -> None:
    commands = from_text((HERE / "sequences" / f"{name}.txt").read_text())

    outcome = pair.run(commands)

    assert (outcome.found, sorted(outcome.names)) == ([], [])


@pytest.mark.parametrize("name", files("deliberate"))
def test_a_deliberate_difference_is_there_and_no_other(pair: Pair, name: str) -> None:
    commands = from_text((HERE / "deliberate" / f"{name}.txt").read_text())

    outcome = pair.run(commands)

    assert (outcome.found, exception_of(name) in outcome.names) == ([], True)


@pytest.mark.parametrize("name", files("found"))
def test_a_difference_that_is_not_mended_is_there(pair: Pair, name: str) -> None:
    """Fails once ours is mended: then its row in `pending.py` goes, and the file moves to `sequences/`."""
    commands = from_text((HERE / "found" / f"{name}.txt").read_text())

    outcome = pair.run(commands)

    assert (outcome.found, exception_of(name) in outcome.names) == ([], True)


def test_each_deliberate_difference_has_its_sequence() -> None:
    assert {exception_of(name) for name in files("deliberate")} == DELIBERATE


def test_each_difference_that_is_not_mended_has_its_sequence() -> None:
    assert {exception_of(name) for name in files("found")} == PENDING


def test_a_sequence_file_reads_as_it_was_written() -> None:
    for folder in ("sequences", "deliberate", "found"):
        for name in files(folder):
            commands = from_text((HERE / folder / f"{name}.txt").read_text())
            assert from_text(to_text(commands, "a comment")) == commands
