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
    "R01": Smallest(1, "two stand in one epoch, and the third votes for both"),
    "R02": Smallest(0, "the first vote of all is answered too early"),
    "R02b": Smallest(0, "the first vote of all is not on its disk"),
    "R04": Smallest(1, "two stand at once: who refuses one of them has learned the epoch from it"),
    "R05": Smallest(0, "the first leader of all is not on its disk"),
    "R05b": Smallest(1, "the leader dies, and is back before another is elected"),
    "R07": Smallest(1, "a follower is held up while records are written, and then stands"),
    "R08": Smallest(2, "a leader is cut off with many records while others write few; then it must stand again"),
    "R08b": Smallest(2, "a follower is held up while records are written; the leader dies, and it stands"),
    "R10": Smallest(1, "an answer comes when its election is over"),
    "R11": Smallest(1, "two stand at once, so one of them is refused"),
    "R12": Smallest(0, "of four voters two are enough for the first leader of all"),
    "R13": Smallest(1, "two stand at once, and one of them wins"),
    "R14": Smallest(1, "a leader dies when its first record is on one other disk alone"),
    "R16": Smallest(0, "the first leader of all has nothing to commit"),
    "R17": Smallest(0, "the first record of all is committed by the leader alone"),
    "R18": Smallest(0, "the first record of all is committed before anybody has fetched it"),
    "R31": Smallest(0, "a sole voter resigns, as nobody fetches from it"),
    "R31b": Smallest(1, "the leader is cut off, and does not resign"),
    "R31c": Smallest(1, "the leader is cut off from the voters, and an observer goes on fetching"),
    "D01": Smallest(0, "the first fetch of all claims what is not on the disk"),
    "D02": Smallest(0, "the first record of all is committed before its flush"),
    "Q01": Smallest(0, "the first request of all is answered too early"),
    "Q02": Smallest(0, "who reads while a write is under way sees it"),
}
