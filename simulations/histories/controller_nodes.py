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
    is_told: bool = False


NOBODY = Registration()


def allocate(state: int | None, _asked: Any, told: Any) -> Any:
    """Blocks do not overlap, and go up; those of unanswered requests are skipped."""
    if told is UNKNOWN:
        return state
    return told + BLOCK if told >= (state or 0) else REFUSED


def register(state: Registration | None, asked: Any, told: Any) -> Any:
    """Each new incarnation of a broker has a greater epoch; one that asks again is told the same."""
    known = state or NOBODY
    is_same = asked[2] == known.incarnation
    if told is UNKNOWN:
        return known if is_same else Registration(known.epoch, asked[2])
    fits = told == known.epoch if is_same and known.is_told else told > known.epoch
    return Registration(told, asked[2], is_told=True) if fits else REFUSED


def unregister(state: Registration | None, _asked: Any, told: Any) -> Any:
    """Who is registered is so no more; the next registration has a greater epoch all the same."""
    known = state or NOBODY
    if told not in (UNKNOWN, "missing" if known.incarnation is None else "ok"):
        return REFUSED
    return Registration(known.epoch)


def alter_partition(state: int | None, asked: Any, told: Any) -> Any:
    """Of each partition epoch one change goes out; the controller may raise the epoch by itself at any time."""
    if told is UNKNOWN or told == "stale":
        return state
    expected = asked[3]
    if (state is not None and expected < state) or told[1] not in (expected, expected + 1):
        return REFUSED
    return told[1]


def set_feature(state: int | None, asked: Any, told: Any) -> Any:
    """A level goes up where that is asked for, and down where that is; None for one that nobody has set yet."""
    _, _, level, way = asked
    if told == "was higher":
        return state if way == "up" and (state is None or state > level) else REFUSED
    if told == "was lower":
        return state if way == "down" and (state is None or state < level) else REFUSED
    fits = state is None or (state <= level if way == "up" else state >= level)
    if told is UNKNOWN:
        return level if fits else state
    return level if fits else REFUSED
