"""Turns of connections in the iterations of the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from raft.network.turns import ITERATION_BYTES_MAX, ITERATION_S_MAX, PROMPT_ITERATION_S_MAX, Turns

if TYPE_CHECKING:
    from collections.abc import Callable

FETCH, HEARTBEAT, DESCRIBE, API_VERSIONS = (key.to_bytes(2, "big") for key in (1, 63, 55, 18))


class Loop:
    """An event loop whose iterations the test runs, one by one."""

    def __init__(self) -> None:
        self.ready: list[Callable[[], None]] = []

    def call_soon(self, act: Callable[[], None]) -> None:
        self.ready.append(act)

    def iterate(self) -> None:
        ready, self.ready = self.ready, []
        for act in ready:
            act()


class Client:
    """A connection whose next frames are given; each costs time, in s, and an answer of some bytes."""

    def __init__(self, trial: Trial, name: str, *frames: bytes, cost_s: float, size: int = 0, is_light: bool) -> None:
        self.trial, self.name, self.frames = trial, name, list(frames)
        self.cost_s, self.size, self.is_light = cost_s, size, is_light
        self.tries = 0
        self.place: Any = None

    def take_more(self) -> None:
        self.tries += 1
        self.serve()

    def serve(self) -> None:
        turns = self.trial.turns
        if not self.frames:
            return
        if not turns.must_wait(self.frames[0], self.is_light, False):
            self.trial.served.append(self.name)
            if self.frames.pop(0) == b"":
                raise ValueError(self.name)
            turns.spend_s(self.cost_s)
            turns.spend_bytes(self.size)
        if self.frames:
            self.place = turns.wait(self, self.frames[0], self.is_light, False)


class Trial:
    """Connections whose requests take 4 ms each, so that three of them fill an iteration."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.turns = Turns(cast("Any", self.loop), urgent=frozenset({1}), prompt=frozenset({63}))
        self.served: list[str] = []

    def receive(self, name: str, *frames: bytes, cost_s: float = 0.004, size: int = 0, is_light: bool = True) -> Client:
        client = Client(self, name, *frames, cost_s=cost_s, size=size, is_light=is_light)
        client.serve()
        return client

    def iterate(self) -> list[str]:
        """What an iteration serves of those that wait."""
        self.served.clear()
        self.loop.iterate()
        return list(self.served)


def test_a_limit_is_reached_exactly() -> None:
    for kind, spent_s in ((DESCRIBE, ITERATION_S_MAX), (HEARTBEAT, PROMPT_ITERATION_S_MAX)):
        trial = Trial()
        trial.turns.spend_s(spent_s)
        assert trial.turns.must_wait(kind, is_light=True, is_first=False)
        assert trial.turns.must_wait(API_VERSIONS, is_light=True, is_first=False)
        assert trial.turns.must_wait(API_VERSIONS, is_light=True, is_first=True) == (kind == HEARTBEAT)


def test_those_that_wait_are_served_in_their_order_before_what_comes_later() -> None:
    trial = Trial()
    for name in "abcdefgh":
        trial.receive(name, DESCRIBE)
    assert trial.served == ["a", "b", "c"]

    assert trial.iterate() == ["d", "e", "f"]
    trial.receive("late", DESCRIBE)
    assert trial.iterate() == ["g", "h", "late"]
    assert trial.iterate() == []
    assert trial.loop.ready == []


def test_a_connection_that_waits_is_not_asked_in_each_iteration() -> None:
    trial = Trial()
    clients = [trial.receive(str(number), DESCRIBE) for number in range(300)]

    iterations = 0
    while trial.loop.ready:
        trial.iterate()
        iterations += 1

    assert iterations >= 100
    assert [client.tries for client in clients] == [0] * 3 + [1] * 297


def test_connections_that_need_time_and_bytes_are_asked_only_when_there_are_both() -> None:
    trial = Trial()
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, cost_s=ITERATION_S_MAX, is_light=False)
    for _ in range(2):
        trial.receive("large", FETCH, size=ITERATION_BYTES_MAX, cost_s=0.0, is_light=False)
    clients = [trial.receive(str(number), DESCRIBE, is_light=False) for number in range(300)]

    while trial.loop.ready:
        trial.iterate()

    assert {client.tries for client in clients} == {1}


def test_after_the_first_limit_heartbeats_go_on_and_after_the_second_fetches_alone() -> None:
    trial = Trial()
    trial.receive("slow", DESCRIBE, cost_s=PROMPT_ITERATION_S_MAX)
    trial.receive("describe", DESCRIBE, DESCRIBE, cost_s=ITERATION_S_MAX)
    trial.receive("heartbeat", HEARTBEAT, HEARTBEAT)
    trial.receive("other", DESCRIBE)
    trial.receive("fetch", FETCH)
    assert trial.served == ["slow", "fetch"]

    assert trial.iterate() == ["describe", "heartbeat"]
    assert trial.iterate() == ["other", "describe", "heartbeat"]
    assert trial.iterate() == []


def test_a_connection_with_many_requests_has_one_turn_in_an_iteration() -> None:
    trial = Trial()
    trial.receive("many", *[FETCH] * 4, cost_s=0.0)
    trial.receive("one", FETCH, cost_s=0.0)
    assert trial.served == ["many", "one"]

    assert [trial.iterate() for _ in range(4)] == [["many"], ["many"], ["many"], []]


def test_large_answers_wait_for_each_other_and_a_fetch_among_them_for_no_time() -> None:
    trial = Trial()
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, is_light=False)
    trial.receive("large", FETCH, FETCH, size=ITERATION_BYTES_MAX, cost_s=1.0, is_light=False)
    trial.receive("larger", FETCH, size=ITERATION_BYTES_MAX, is_light=False)
    trial.receive("light", DESCRIBE)
    assert trial.served == ["first", "light"]

    trial.receive("busy", DESCRIBE, cost_s=1.0)
    assert trial.iterate() == ["large"]
    assert trial.iterate() == ["larger"]
    assert trial.iterate() == ["large"]


def test_after_the_second_limit_a_large_fetch_is_served_and_a_heartbeat_is_not_asked() -> None:
    trial = Trial()
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, cost_s=PROMPT_ITERATION_S_MAX, is_light=False)
    trial.receive("slow", DESCRIBE, cost_s=PROMPT_ITERATION_S_MAX)
    heartbeat = trial.receive("heartbeat", HEARTBEAT)
    trial.receive("fetch", FETCH, size=ITERATION_BYTES_MAX, is_light=False)
    assert trial.served == ["first"]

    assert trial.iterate() == ["slow", "fetch"]
    assert heartbeat.tries == 0
    assert trial.iterate() == ["heartbeat"]


def test_a_large_fetch_waits_for_no_time() -> None:
    trial = Trial()
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, cost_s=ITERATION_S_MAX, is_light=False)
    others = [trial.receive(str(number), DESCRIBE, cost_s=ITERATION_S_MAX) for number in range(2)]
    trial.receive("fetch", FETCH, size=ITERATION_BYTES_MAX, is_light=False)

    assert trial.iterate() == ["0", "fetch"]
    assert others[1].tries == 0


def test_the_oldest_goes_first_whatever_it_waits_for() -> None:
    trial = Trial()
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, cost_s=PROMPT_ITERATION_S_MAX, is_light=False)
    for name, frame, is_light in (("a", DESCRIBE, True), ("b", FETCH, False), ("c", HEARTBEAT, True)) * 2:
        trial.receive(name, frame, cost_s=0.001, is_light=is_light)

    assert trial.iterate() == ["a", "b", "c", "a", "b", "c"]


def test_large_answers_keep_small_ones_of_no_kind_waiting() -> None:
    trial = Trial()
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, cost_s=PROMPT_ITERATION_S_MAX, is_light=False)
    trial.receive("large", FETCH, size=ITERATION_BYTES_MAX, cost_s=0.0, is_light=False)
    trial.receive("larger", FETCH, is_light=False)
    trial.receive("heartbeat", HEARTBEAT)
    trial.receive("describe", DESCRIBE)

    assert trial.iterate() == ["large", "heartbeat", "describe"]


def test_one_that_lacks_now_time_now_bytes_is_not_overtaken() -> None:
    trial = Trial()
    large: dict[str, Any] = {"size": ITERATION_BYTES_MAX, "cost_s": 0.0001, "is_light": False}
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, cost_s=ITERATION_S_MAX, is_light=False)
    trial.receive("large", FETCH, **large)
    trial.receive("both", DESCRIBE, cost_s=0.0001, is_light=False)
    for name in ("slow", "slower"):
        trial.receive(name, DESCRIBE, cost_s=ITERATION_S_MAX)

    assert trial.iterate() == ["large", "slow"]
    for name in ("late", "later"):
        trial.receive(name, FETCH, **large)
    assert trial.iterate()[0] == "both"


def test_the_time_and_bytes_of_an_iteration_without_requests_are_not_added_to_those_of_the_next() -> None:
    trial = Trial()
    for _ in range(4):
        trial.turns.spend_s(ITERATION_S_MAX / 2)
        trial.loop.iterate()
    assert not trial.turns.must_wait(DESCRIBE, is_light=False, is_first=False)
    for _ in range(4):
        trial.turns.spend_bytes(ITERATION_BYTES_MAX // 2)
        trial.loop.iterate()

    assert not trial.turns.must_wait(DESCRIBE, is_light=False, is_first=False)


def test_closed_connections_leave_few_places_behind() -> None:
    trial = Trial()
    for number in range(3):
        trial.receive(str(number), DESCRIBE)
    clients = [trial.receive("closed", DESCRIBE) for _ in range(1000)]
    open_one = trial.receive("open", DESCRIBE)

    for client in clients:
        trial.turns.leave(client.place)

    assert sum(map(len, trial.turns._queues)) <= 140
    assert trial.iterate() == ["open"]
    assert open_one.tries == 1
    assert trial.iterate() == []
    assert trial.loop.ready == []
    assert trial.turns._empty == 0


def test_the_place_of_one_that_is_not_served_passes_to_no_other() -> None:
    trial = Trial()
    trial.receive("first", FETCH, size=ITERATION_BYTES_MAX, cost_s=ITERATION_S_MAX, is_light=False)
    trial.receive("slow", DESCRIBE, cost_s=ITERATION_S_MAX)
    paused = trial.receive("paused", FETCH, is_light=False)
    trial.receive("other", DESCRIBE, cost_s=ITERATION_S_MAX)

    paused.frames.clear()  # its peer reads no answers
    assert trial.iterate() == ["slow"]
    trial.receive("late", DESCRIBE)
    assert trial.iterate() == ["other"]


def test_handshakes_take_as_much_time_as_requests_did_since() -> None:
    trial = Trial()
    assert trial.turns.handshakes_s() == 0.0
    trial.receive("a", DESCRIBE)
    trial.iterate()
    trial.receive("b", DESCRIBE)
    assert trial.turns.handshakes_s() == pytest.approx(0.008)
    assert trial.turns.handshakes_s() == 0.0
    trial.receive("slow", FETCH, cost_s=10.0)
    assert trial.turns.handshakes_s() == PROMPT_ITERATION_S_MAX


def test_an_error_of_one_connection_keeps_no_other_waiting() -> None:
    trial = Trial()
    for name, frame in (("a", DESCRIBE), ("b", DESCRIBE), ("c", DESCRIBE), ("bad", b""), ("d", DESCRIBE)):
        trial.receive(name, frame)

    with pytest.raises(ValueError, match="bad"):
        trial.loop.iterate()

    assert trial.iterate() == ["d"]
