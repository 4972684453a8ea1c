"""What brokers and features are in the model of the controller's API (`controller_api`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from simulations.histories.models import REFUSED
from simulations.histories.operations import UNKNOWN

BLOCK = 1000


class Registration(NamedTuple):
    """What is known of one broker id. epoch: the greatest that was told; incarnation: of the registration that there
    is, None where there is none; is_told: whether the epoch is that of this registration.
    """

    epoch: int = -1
    incarnation: Any = None
    is_answered: bool = False


NOBODY = Registration()


def allocate(state: int | None, _asked: Any, answer: Any) -> Any:
    """Blocks do not overlap, and go up; those of unanswered requests are skipped."""
    if answer is UNKNOWN:
        return state
    return answer + BLOCK if answer >= (state or 0) else REFUSED


def register(state: Registration | None, asked: Any, answer: Any) -> Any:
    """Each new incarnation of a broker has a greater epoch; one that asks again is told the same."""
    known = state or NOBODY
    is_same = asked[2] == known.incarnation
    if answer is UNKNOWN:
        return known if is_same else Registration(known.epoch, asked[2])
    fits = answer == known.epoch if is_same and known.is_answered else answer > known.epoch
    return Registration(answer, asked[2], is_answered=True) if fits else REFUSED


def unregister(state: Registration | None, _asked: Any, answer: Any) -> Any:
    """Who is registered is so no more; the next registration has a greater epoch all the same."""
    known = state or NOBODY
    if answer not in (UNKNOWN, "missing" if known.incarnation is None else "ok"):
        return REFUSED
    return Registration(known.epoch)


def alter_partition(state: int | None, asked: Any, answer: Any) -> Any:
    """Of each partition epoch one change goes out; the controller may raise the epoch by itself at any time."""
    if answer is UNKNOWN or answer == "stale":
        return state
    expected = asked[3]
    if (state is not None and expected < state) or answer[1] not in (expected, expected + 1):
        return REFUSED
    return answer[1]


def set_feature(state: int | None, asked: Any, answer: Any) -> Any:
    """A level goes up where that is asked for, and down where that is; None for one that nobody has set yet."""
    _, _, level, way = asked
    if answer == "was higher":
        return state if way == "up" and (state is None or state > level) else REFUSED
    if answer == "was lower":
        return state if way == "down" and (state is None or state < level) else REFUSED
    fits = state is None or (state <= level if way == "up" else state >= level)
    if answer is UNKNOWN:
        return level if fits else state
    return level if fits else REFUSED
