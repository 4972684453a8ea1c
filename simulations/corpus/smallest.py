"""The smallest known schedules, made by hand, for mutants whose violation is understood: each step is a fault or a
decision of noise that is not the default (a late message, a timer that expires together with another).
"""

from __future__ import annotations

from typing import NamedTuple


class Smallest(NamedTuple):
    """steps: how many; why: the reason in one line."""

    steps: int
    why: str


SMALLEST: dict[str, Smallest] = {
    "R01": Smallest(1, "two candidates in one epoch, and the third voter votes for both"),
    "R02": Smallest(0, "the very first vote is answered too early"),
    "R02b": Smallest(0, "the very first vote is not on disk"),
    "R04": Smallest(1, "two candidates at once: a voter that refuses one learns the epoch from it"),
    "R05": Smallest(0, "the very first leader is not saved"),
    "R05b": Smallest(1, "the leader dies, and restarts before another is elected"),
    "R07": Smallest(1, "a follower is paused while records are written, and then becomes candidate"),
    "R08": Smallest(2, "a leader is cut off with many records while others write few; then it becomes candidate again"),
    "R08b": Smallest(2, "a follower is paused while records are written; the leader dies, and it becomes candidate"),
    "R10": Smallest(1, "an answer arrives after its election"),
    "R11": Smallest(1, "two candidates at once, so one of them is refused"),
    "R12": Smallest(0, "two of four voters are enough for the very first leader"),
    "R13": Smallest(1, "two candidates at once, and one of them wins"),
    "R14": Smallest(1, "a leader dies when its first record is on only one other disk"),
    "R16": Smallest(0, "the very first leader has nothing to commit"),
    "R17": Smallest(0, "the very first record is committed by the leader alone"),
    "R18": Smallest(0, "the very first record is committed before any replica has fetched it"),
    "R31": Smallest(0, "a sole voter resigns, since nobody fetches from it"),
    "R31b": Smallest(1, "the leader is cut off, and does not resign"),
    "R31c": Smallest(1, "the leader is cut off from the voters, and an observer still fetches"),
    "D01": Smallest(0, "the very first fetch reports records that are not on disk"),
    "D02": Smallest(0, "the very first record is committed before its flush"),
    "Q01": Smallest(0, "the very first request is answered too early"),
    "Q02": Smallest(0, "a read during a write sees it"),
}
