"""L17: large requests have their turns."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any, cast

import pytest

from controller.core.long_steps import Phase
from controller.interface.effects import Requeue
from controller.interface.inputs import RequestContext
from controller.node.long_requests import BROKERS, Waiting
from raft.interface.inputs import Source
from simulations.nodes.long_turns import LongTurns
from simulations.world.violation import Violation

CREATE_TOPICS, HEARTBEAT = 19, 63


class Queue:
    """A queue that begins the request that the test names."""

    def __init__(self) -> None:
        self.requests: list[Waiting] = []

    def add(self, request: Waiting) -> None:
        self.requests.append(request)

    def on_done(self, principal: str, taken_s: float) -> None:
        pass

    def drop(self, connection: int) -> None:
        self.requests = [each for each in self.requests if each.connection != connection]

    def begin(self, number: int = 0) -> None:
        self.requests.pop(number).begin()


class Checked:
    """A queue whose turns are checked. now_s: the clock; held: inputs that wait for a long step."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.held: list[Any] = []
        self.queue = Queue()
        self.long = SimpleNamespace(held=self.held, present=None)
        controller = cast("Any", SimpleNamespace(long=self.long))
        self.turns = LongTurns(1, lambda: self.now_s, controller)
        self.turns.follow(cast("Any", self.queue))
        for user, connection in (("ann", 1), ("ann", 2), ("bob", 3)):
            self.queue.add(Waiting(user, connection, 0, lambda: None, lambda _: None))
        self.turns.on_short(CREATE_TOPICS)


def test_turns_with_rests_are_well() -> None:
    checked = Checked()

    for number, user in ((0, "ann"), (1, "bob"), (0, "ann")):
        checked.queue.begin(number)
        checked.now_s += 0.5
        checked.queue.on_done(user, 0.1)
        checked.now_s += 0.1

    assert checked.turns.served == {"ann": 2, "bob": 1}


@pytest.mark.parametrize(
    ("rest_s", "number", "is_done", "held", "text"),
    [
        (0.1, 1, False, 0, "while ann's is served"),
        (0.05, 1, True, 0, "50.00 ms before the rest"),
        (0.1, 0, True, 0, "ann has another turn, though bob had none"),
        (0.1, 1, True, 2, "while 2 inputs wait"),
    ],
)
def test_a_turn_out_of_turn_is_a_violation(rest_s: float, number: int, is_done: bool, held: int, text: str) -> None:
    checked = Checked()
    checked.queue.begin()
    if is_done:
        checked.queue.on_done("ann", 0.1)
    checked.now_s += rest_s
    checked.held += [None] * held

    with pytest.raises(Violation, match=text) as violation:
        checked.queue.begin(number)

    assert violation.value.property_id == "L17"


@pytest.mark.parametrize(
    ("begun_s", "came_s", "api_key", "rests"),
    [
        (1.9, 1.1, CREATE_TOPICS, True),
        (1.9, 0.9, CREATE_TOPICS, False),
        (1.9, 1.1, HEARTBEAT, False),
        (0.2, 0.3, CREATE_TOPICS, True),
    ],
)
def test_a_rest_is_due_where_a_short_request_came_lately_or_meanwhile(
    begun_s: float, came_s: float, api_key: int, *, rests: bool
) -> None:
    checked = Checked()
    for now_s, act in sorted(
        ((begun_s, checked.queue.begin), (came_s, lambda: checked.turns.on_short(api_key))), key=lambda pair: pair[0]
    ):
        checked.now_s = now_s
        act()
    checked.now_s = 2.0
    checked.queue.on_done("ann", 0.1)

    with pytest.raises(Violation, match="before the rest") if rests else contextlib.nullcontext():
        checked.queue.begin(1)


def test_a_broker_comes_before_the_users_and_rests_after_brokers_alone() -> None:
    checked = Checked()
    checked.queue.begin()
    checked.queue.on_done("ann", 0.5)
    for _ in range(3):
        checked.queue.add(Waiting(BROKERS, 9, 0, lambda: None, lambda _: None))

    checked.queue.begin(2)
    checked.queue.on_done(BROKERS, 0.1)
    with pytest.raises(Violation, match=r"100\.00 ms before the rest"):
        checked.queue.begin(2)
    checked.now_s += 1
    with pytest.raises(Violation, match="bob's is begun while one of a broker waits"):
        checked.queue.begin(1)

    assert checked.turns.served == {"ann": 1, BROKERS: 1}


def test_requests_of_a_closed_connection_have_no_turn() -> None:
    checked = Checked()
    checked.queue.begin()
    checked.queue.on_done("ann", 0.0)

    checked.queue.drop(3)
    checked.queue.begin()

    assert checked.turns.served == {"ann": 2}


def test_no_heartbeat_is_a_long_request() -> None:
    checked = Checked()
    source = Source(1, 1)

    checked.turns.took(RequestContext(source, 19, 7, "CONTROLLER"), [])
    with pytest.raises(Violation, match="API 63"):
        checked.turns.took(RequestContext(source, 63, 1, "CONTROLLER"), [])


@pytest.mark.parametrize(
    ("phase", "is_again", "api_key", "is_well"),
    [
        (Phase.OPTIMISTIC, False, 19, False),
        (Phase.HELD, False, 44, False),
        (Phase.HELD, True, 44, True),
        (Phase.APPLYING, False, 44, True),
        (Phase.HELD, False, 45, True),
    ],
)
def test_what_waits_for_a_change_that_is_being_decided_is_a_violation(
    phase: Phase, is_again: bool, api_key: int, is_well: bool
) -> None:
    checked = Checked()
    context = RequestContext(Source(1, 1), api_key, 1, "CONTROLLER")
    checked.long.present = SimpleNamespace(phase=phase, is_again=is_again, context=context)
    checked.turns.on_stepped()
    checked.held.append("an input")

    with contextlib.nullcontext() if is_well else pytest.raises(Violation, match="wait while API"):
        checked.turns.on_stepped()


def test_an_input_that_waited_for_a_long_step_and_does_not_come_again_is_a_violation() -> None:
    checked = Checked()
    context = RequestContext(Source(1, 1), 44, 1, "CONTROLLER")
    checked.held += ["one input", "another"]
    checked.turns.on_stepped()
    checked.turns.took(context, [Requeue(checked.held)])  # type: ignore[arg-type]
    checked.turns.on_stepped()

    with pytest.raises(Violation, match="of 2 inputs that waited for the end of one, 0 come again"):
        checked.turns.took(context, [])
