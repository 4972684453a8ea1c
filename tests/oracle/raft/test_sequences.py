"""Sequences that differed once, that differ on purpose, or that still differ, each run on both replicas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.oracle.raft.commands import from_text, to_text
from tests.oracle.raft.exceptions import names

if TYPE_CHECKING:
    from tests.oracle.raft.pair import Pair

HERE = Path(__file__).parent
DELIBERATE, PENDING = names()


def files(folder: str) -> list[str]:
    return sorted(path.stem for path in (HERE / folder).glob("*.txt"))


def exception_of(name: str) -> str:
    """What a file shows: `raft-second-leader--vote.txt` is a second sequence of `raft-second-leader`."""
    return name.partition("--")[0]


@pytest.mark.parametrize("name", files("sequences"))
def test_a_sequence_that_once_differed_differs_no_more(replicas: Pair, name: str) -> None:
    commands = from_text((HERE / "sequences" / f"{name}.txt").read_text())

    outcome = replicas.run(commands)

    assert (outcome.found, sorted(outcome.names), outcome.count) == ([], [], len(commands))


@pytest.mark.parametrize("name", [*files("deliberate"), *files("found")])
def test_a_known_difference_is_there_and_no_other(replicas: Pair, name: str) -> None:
    """One of `found/` fails once ours is mended: then its row goes, and the file moves to `sequences/`."""
    folder = "found" if exception_of(name) in PENDING else "deliberate"
    commands = from_text((HERE / folder / f"{name}.txt").read_text())

    outcome = replicas.run(commands)

    assert (outcome.found, exception_of(name) in outcome.names) == ([], True)


def test_each_known_difference_has_its_sequence() -> None:
    assert {exception_of(name) for name in files("deliberate")} == DELIBERATE
    assert {exception_of(name) for name in files("found")} == PENDING


def test_a_sequence_file_reads_as_it_was_written() -> None:
    for folder in ("sequences", "deliberate", "found"):
        for name in files(folder):
            commands = from_text((HERE / folder / f"{name}.txt").read_text())
            assert from_text(to_text(commands, "a comment")) == commands
