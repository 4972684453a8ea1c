"""Frames to a stock controller and to one of ours: the answers, and whether the connection stays open."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.oracle.wire.conversation import Conversation, from_text, to_text
from tests.oracle.wire.explore import Explorer
from tests.oracle.wire.generate import sequence
from tests.oracle.wire.known import KNOWN

if TYPE_CHECKING:
    from tests.oracle.wire.pair import WirePair

HERE = Path(__file__).parent


def files(folder: str) -> list[str]:
    return sorted(path.stem for path in (HERE / folder).glob("*.txt"))


def of(file: str) -> str:
    """The name of the difference that a file shows; several may show one."""
    return file.partition("--")[0]


def conversations(folder: str, name: str) -> list[Conversation]:
    return from_text((HERE / folder / f"{name}.txt").read_text())


@pytest.mark.parametrize("name", files("kept"))
def test_frames_that_once_differed_differ_no_more(wire: WirePair, name: str) -> None:
    outcome = Explorer(wire, print).run(conversations("kept", name))

    assert ([str(each) for each in outcome.found], outcome.known) == ([], set())
    assert outcome.is_sound


@pytest.mark.parametrize("name", files("deliberate"))
def test_a_deliberate_difference_is_there_and_no_other(wire: WirePair, name: str) -> None:
    outcome = Explorer(wire, print).run(conversations("deliberate", name))

    wire.renew()
    assert ([str(each) for each in outcome.found], outcome.known) == ([], {of(name)})


def test_each_deliberate_difference_has_its_frames() -> None:
    assert set(map(of, files("deliberate"))) == set(KNOWN)


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
