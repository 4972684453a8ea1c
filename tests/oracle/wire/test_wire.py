"""Frames to a stock controller and to one of ours: the answers, and whether the connection stays open."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from records.features.levels import KAFKA_4_3
from tests.oracle.release import KAFKA
from tests.oracle.wire.conversation import Conversation, from_text, to_text
from tests.oracle.wire.explore import Explorer
from tests.oracle.wire.generate import sequence
from tests.oracle.wire.known import KNOWN

if TYPE_CHECKING:
    from tests.oracle.wire.pair import WirePair

HERE = Path(__file__).parent
# 4.4.0 does in the second folder what ours does.
DIFFERENT = ("deliberate", "deliberate-4.3") if KAFKA is KAFKA_4_3 else ("deliberate",)
SAME = ("kept",) if KAFKA is KAFKA_4_3 else ("kept", "deliberate-4.3")


def files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (HERE / folder).glob("*.txt"))


def of(path: Path) -> str:
    """The name of the difference that a file shows; several may show one."""
    return path.stem.partition("--")[0]


def conversations(path: Path) -> list[Conversation]:
    return from_text(path.read_text())


@pytest.mark.parametrize("path", files(*SAME), ids=lambda path: path.stem)
def test_frames_that_once_differed_differ_no_more(wire: WirePair, path: Path) -> None:
    outcome = Explorer(wire, print).run(conversations(path))

    assert ([str(each) for each in outcome.found], outcome.known) == ([], set())
    assert outcome.is_sound


@pytest.mark.parametrize("path", files(*DIFFERENT), ids=lambda path: path.stem)
def test_a_deliberate_difference_is_there_and_no_other(wire: WirePair, path: Path) -> None:
    outcome = Explorer(wire, print).run(conversations(path))

    wire.renew()
    assert ([str(each) for each in outcome.found], outcome.known) == ([], {of(path)})


def test_each_deliberate_difference_has_its_frames() -> None:
    assert set(map(of, files(*DIFFERENT))) == set(KNOWN)


def test_a_frame_above_4_mib_is_taken_by_stock_alone(wire: WirePair) -> None:
    size = (4 << 20) + 1
    frame = struct.pack(">ihhih", size, 18, 0, 7, -1) + bytes(size - 10)

    found = wire.run(Conversation((frame,)))

    assert [(each.difference.ours, each.difference.stock) for each in found] == [
        ("closed after 0 answers", "open after 1 answers")
    ]


def test_a_file_reads_as_it_was_written() -> None:
    made = sequence(1)

    assert from_text(to_text(made, "a comment")) == made
