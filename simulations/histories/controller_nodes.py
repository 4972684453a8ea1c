"""Brokers and features in the model of the controller's API (`controller_api`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from simulations.histories.models import REFUSED
from simulations.histories.operations import UNKNOWN

BLOCK = 1000


class Registration(NamedTuple):
    """What is known of one broker id. epoch: the greatest in an answer; incarnation: of the present registration, None
    without one; is_told: whether the epoch is that of this registration.
    """

    epoch: int = -1
    incarnation: Any = None
    is_answered: bool = False


NOBODY = Registration()


def allocate(state: int | None, _asked: Any, answer: Any) -> Any:
    """Blocks of ids do not overlap, and increase; those of unanswered requests are skipped."""
    if answer is UNKNOWN:
        return state
    return answer + BLOCK if answer >= (state or 0) else REFUSED


def register(state: Registration | None, asked: Any, answer: Any) -> Any:
    """Each new incarnation of a broker has a greater epoch; a repeated registration gets the same epoch."""
    known = state or NOBODY
    is_same = asked[2] == known.incarnation
    if answer is UNKNOWN:
        return known if is_same else Registration(known.epoch, asked[2])
    fits = answer == known.epoch if is_same and known.is_answered else answer > known.epoch
    return Registration(answer, asked[2], is_answered=True) if fits else REFUSED


def unregister(state: Registration | None, _asked: Any, answer: Any) -> Any:
    """The registration is removed; the next one still has a greater epoch."""
    known = state or NOBODY
    if answer not in (UNKNOWN, "missing" if known.incarnation is None else "ok"):
        return REFUSED
    return Registration(known.epoch)


def alter_partition(state: int | None, asked: Any, answer: Any) -> Any:
    """At each partition epoch one change succeeds; the controller may raise the epoch by itself at any time."""
    if answer is UNKNOWN or answer == "stale":
        return state
    expected = asked[3]
    if (state is not None and expected < state) or answer[1] not in (expected, expected + 1):
        return REFUSED
    return answer[1]


def set_feature(state: int | None, asked: Any, answer: Any) -> Any:
    """A level rises by an upgrade, and falls by a downgrade; None for a feature that was never set."""
    _, _, level, way = asked
    if answer == "was higher":
        return state if way == "up" and (state is None or state > level) else REFUSED
    if answer == "was lower":
        return state if way == "down" and (state is None or state < level) else REFUSED
    fits = state is None or (state <= level if way == "up" else state >= level)
    if answer is UNKNOWN:
        return level if fits else state
    return level if fits else REFUSED
