"""Sequences that differed once, that differ on purpose, or that still differ, each run on both replicas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from records.features.levels import KAFKA_4_3
from tests.oracle.raft.commands import from_text, to_text
from tests.oracle.raft.exceptions import names
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from tests.oracle.raft.pair import Pair

HERE = Path(__file__).parent
DELIBERATE, PENDING = names()
# What 4.4.0 does as ours.
OF_4_3 = "deliberate-4.3"
SAME = ("sequences",) if KAFKA is KAFKA_4_3 else ("sequences", OF_4_3)
DIFFERENT = ("deliberate", "found", OF_4_3) if KAFKA is KAFKA_4_3 else ("deliberate", "found")


def files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (HERE / folder).glob("*.txt"))


def exception_of(path: Path) -> str:
    """What a file shows: `raft-second-leader--vote.txt` is a second sequence of `raft-second-leader`."""
    return path.stem.partition("--")[0]


@pytest.mark.parametrize("path", files(*SAME), ids=lambda path: path.stem)
def test_a_sequence_that_once_differed_differs_no_more(replicas: Pair, path: Path) -> None:
    commands = from_text(path.read_text())

    outcome = replicas.run(commands)

    assert (outcome.found, sorted(outcome.names), outcome.count) == ([], [], len(commands))


@pytest.mark.parametrize("path", files(*DIFFERENT), ids=lambda path: path.stem)
def test_a_known_difference_is_there_and_no_other(replicas: Pair, path: Path) -> None:
    """One of `found/` fails once ours is mended: then its row goes, and the file moves to `sequences/`."""
    commands = from_text(path.read_text())

    outcome = replicas.run(commands)

    assert (outcome.found, exception_of(path) in outcome.names) == ([], True)


def test_each_known_difference_has_its_sequence() -> None:
    assert {exception_of(path) for path in files(*DIFFERENT) if path.parent.name != "found"} == DELIBERATE
    assert {exception_of(path) for path in files("found")} == PENDING


def test_a_sequence_file_reads_as_it_was_written() -> None:
    for path in files(*SAME, *DIFFERENT):
        commands = from_text(path.read_text())
        assert from_text(to_text(commands, "a comment")) == commands
