"""Answers that clients of a controller may get, and answers that they must not."""

from __future__ import annotations

import pytest

from simulations.histories.controller_api import ControllerApi
from simulations.histories.linearizable import check
from simulations.histories.operations import UNKNOWN, Recorder

SOUND = {
    "a topic is created once": [
        (("create", "a", 3, ()), ("ok", 1)), (("create", "a", 3, ()), "exists"), (("delete", "a", 1), "ok"),
        (("delete", "a", 1), "missing"), (("create", "a", 1, ()), ("ok", 2)),
    ],
    "a lost creation may show later": [
        (("create", "a", 3, ()), UNKNOWN), (("read", "a"), "missing"), (("grow", "a", 3), "too few"),
        (("delete", "a", None), "ok"), (("read", "a"), "missing"),
    ],
    "a topic has the configs of its creation and of what came after": [
        (("create", "a", 3, (("x", "1"),)), ("ok", 1)), (("configure", "a", (("y", "2"), ("x", None))), "ok"),
        (("read", "a"), (("y", "2"),)),
    ],
    "what was refused changes nothing": [
        (("create", "a", 3, ()), "refused"), (("create", "a", 3, ()), ("ok", 1)),
    ],
    "blocks may leave gaps": [(("allocate",), 0), (("allocate",), UNKNOWN), (("allocate",), 2000)],
    "a partition's epoch may go up by itself": [
        (("alter partition", 1, 0, 4), ("ok", 5)), (("alter partition", 1, 0, 4), "stale"),
        (("alter partition", 1, 0, 9), ("ok", 10)),
    ],
    "a broker registers, asks again, and starts anew": [
        (("register", 1, "a"), 10), (("register", 1, "a"), 10), (("register", 2, "c"), 5), (("register", 1, "b"), 12),
    ],
    "a broker is forgotten, and registers anew": [
        (("register", 1, "a"), 10), (("unregister", 1), "ok"), (("unregister", 1), "missing"),
        (("register", 1, "a"), 12), (("register", 1, "a"), 12),
    ],
    "a registration that was never answered counts": [(("register", 1, "a"), UNKNOWN), (("unregister", 1), "ok")],
    "a feature goes up and down as is asked": [
        (("set feature", "f", 2, "up"), "ok"), (("set feature", "f", 1, "up"), "was higher"),
        (("set feature", "f", 1, "down"), "ok"), (("set feature", "f", 2, "down"), "was lower"),
    ],
    "what is only asked for changes nothing": [
        (("validate", ("create", "a", 1, ())), "ok"), (("create", "a", 1, ()), ("ok", 1)),
        (("validate", ("create", "a", 1, ())), "exists"), (("validate", ("grow", "a", 3)), "ok"),
        (("grow", "a", 2), "ok"),
    ],
    "all configs of a topic are replaced": [
        (("create", "a", 1, (("x", "1"),)), ("ok", 1)), (("replace", "a", (("y", "2"),)), "ok"),
        (("read", "a"), (("y", "2"),)),
    ],
    "configs of a broker": [
        (("read broker", 1), ()), (("configure broker", 1, (("x", "1"),)), "ok"), (("read broker", 1), (("x", "1"),)),
    ],
}  # fmt: skip

WRONG = {
    "a topic is created twice": [(("create", "a", 3, ()), ("ok", 1)), (("create", "a", 3, ()), ("ok", 2))],
    "a topic that nobody deleted is missing": [(("create", "a", 3, ()), ("ok", 1)), (("read", "a"), "missing")],
    "a deletion by another id": [(("create", "a", 3, ()), ("ok", 1)), (("delete", "a", 2), "ok")],
    "a lost config is seen, then is not": [
        (("create", "a", 1, ()), ("ok", 1)), (("configure", "a", (("x", "1"),)), UNKNOWN),
        (("read", "a"), (("x", "1"),)), (("read", "a"), ()),
    ],
    "fewer partitions than there were": [
        (("create", "a", 3, ()), ("ok", 1)), (("grow", "a", 5), "ok"), (("grow", "a", 4), "ok"),
    ],
    "two brokers have one id": [(("allocate",), 1000), (("allocate",), 1000)],
    "blocks overlap": [(("allocate",), 1000), (("allocate",), 1999)],
    "a broker epoch comes back": [(("register", 1, "a"), 10), (("register", 1, "b"), 10)],
    "one incarnation has two epochs": [(("register", 1, "a"), 10), (("register", 1, "a"), 11)],
    "one partition epoch is changed twice": [
        (("alter partition", 1, 0, 4), ("ok", 5)), (("alter partition", 1, 0, 4), ("ok", 5)),
    ],
    "a feature that was set is not": [(("set feature", "f", 2, "up"), "ok"), (("set feature", "f", 1, "up"), "ok")],
    "an answer has a higher feature level than was set": [
        (("set feature", "f", 2, "up"), "ok"), (("set feature", "f", 2, "up"), "was higher"),
    ],
    "a broker that did not exist is unregistered": [(("unregister", 1), "ok")],
    "a broker is forgotten twice": [
        (("register", 1, "a"), 10), (("unregister", 1), "ok"), (("unregister", 1), "ok"),
    ],
    "what is only asked for is done": [
        (("validate", ("create", "a", 1, ())), "ok"), (("create", "a", 1, ()), "exists"),
    ],
    "configs that were replaced are there": [
        (("create", "a", 1, (("x", "1"),)), ("ok", 1)), (("replace", "a", (("y", "2"),)), "ok"),
        (("read", "a"), (("x", "1"), ("y", "2"))),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_a_possible_history_of_one_controller_is_explained(name):
    assert check(ControllerApi(), recorded(SOUND[name])).result == "ok"


@pytest.mark.parametrize("name", WRONG)
def test_an_impossible_history_is_detected(name):
    assert check(ControllerApi(), recorded(WRONG[name])).result == "violation"


def recorded(rows):
    """A history in which each operation is answered before the next."""
    recorder = Recorder()
    for asked, answer in rows:
        operation = recorder.ask("client", asked)
        if answer is not UNKNOWN:
            recorder.answer(operation, answer)
    return recorder.operations
