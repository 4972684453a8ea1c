"""The queue of long requests: whose turn it is, and when."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from controller.core.apis import APIS
from controller.node import long_requests
from controller.node.long_requests import (
    BROKER_FRAME_BYTES_MIN,
    BROKERS,
    FRAME_BYTES_MIN,
    LongRequests,
    Waiting,
    asks_much,
    is_long,
)
from records.messages.acls import DescribeAclsRequest
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.fetch import FetchRequest
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.topics import CreateTopicsRequest
from records.schema import default_of, replace, schema_of
from tests.controller.rig import new_topic


class Queue:
    """A queue on a loop whose time the test sets. begun: the names of the jobs that were begun; dropped: of those whose
    connections were closed.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self.begun: list[str] = []
        self.dropped: list[str] = []
        self._timers: list[tuple[float, Any]] = []
        loop: Any = SimpleNamespace(time=lambda: self.now_s, call_later=self._call_later)
        self.requests = LongRequests(loop, SimpleNamespace(close=lambda: None))  # type: ignore[arg-type]

    def add(self, name: str, principal: str, connection: int = 1, size: int = 0, *, goes_on: bool = False) -> None:
        def begin() -> None:
            self.begun.append(name)

        self.requests.add(
            Waiting(principal, connection, size, begin, lambda _reason: self.dropped.append(name), goes_on)
        )

    def done(self, principal: str, taken_s: float, *, beside_others: bool = True) -> None:
        if beside_others:
            self.requests.on_other()
        self.requests.on_done(principal, taken_s)

    def wait(self, until_s: float) -> None:
        while self._timers:
            due_s, act = min(self._timers, key=lambda timer: timer[0])
            if due_s > until_s:
                break
            self._timers.remove((due_s, act))
            self.now_s = max(self.now_s, due_s)
            act()
        self.now_s = until_s

    def _call_later(self, delay_s: float, act: Any) -> Any:
        timer = (self.now_s + delay_s, act)
        self._timers.append(timer)
        return SimpleNamespace(cancel=lambda: self._timers.remove(timer) if timer in self._timers else None)


def test_one_request_is_served_at_a_time() -> None:
    queue = Queue()

    queue.add("a", "ann")
    queue.add("b", "ann", connection=2)

    assert queue.begun == ["a"]


def test_principals_have_their_turns_one_after_the_other() -> None:
    queue = Queue()
    for number in range(3):
        queue.add(f"ann-{number}", "ann", connection=number)
    for number in range(2):
        queue.add(f"bob-{number}", "bob", connection=10 + number)

    for taken_by in ("ann", "bob", "ann", "bob"):
        queue.done(taken_by, 0.0)

    assert queue.begun == ["ann-0", "bob-0", "ann-1", "bob-1", "ann-2"]


def test_connections_of_one_principal_have_their_turns_one_after_the_other() -> None:
    queue = Queue()
    for number in (1, 2, 3):
        queue.add(f"{number}-1", "ANONYMOUS", connection=number)

    # The server takes the next request of a connection when it has sent the answer.
    queue.done("ANONYMOUS", 0.0)
    queue.add("1-2", "ANONYMOUS", connection=1)
    for _ in range(3):
        queue.done("ANONYMOUS", 0.0)

    assert queue.begun == ["1-1", "2-1", "3-1", "1-2"]


def test_after_a_request_that_took_some_time_none_is_begun_for_as_long() -> None:
    queue = Queue()
    queue.add("a", "ann")
    queue.add("b", "bob")
    queue.done("ann", 0.05)

    queue.wait(0.049)
    before = list(queue.begun)
    queue.wait(0.05)

    assert before == ["a"]
    assert queue.begun == ["a", "b"]


def test_after_a_short_request_the_next_one_is_begun_at_once() -> None:
    queue = Queue()
    queue.add("a-1", "ann")
    queue.add("a-2", "ann", connection=2)

    queue.done("ann", 0.019)

    assert queue.begun == ["a-1", "a-2"]


def test_a_principal_waits_as_long_as_its_own_requests_took() -> None:
    queue = Queue()
    queue.add("a-1", "ann")
    queue.add("a-2", "ann", connection=2)
    queue.done("ann", 0.3)
    # The time that the thread took for an answer counts, too.
    queue.done("ann", 0.1)

    queue.wait(0.99)
    before = list(queue.begun)
    queue.wait(1.01)

    assert before == ["a-1"]
    assert queue.begun == ["a-1", "a-2"]


def test_after_a_request_that_took_long_the_rest_is_three_times_what_it_took_above_50_ms() -> None:
    queue = Queue()
    queue.add("a", "ann")
    queue.add("b", "bob")
    queue.done("ann", 0.3)

    queue.wait(0.79)
    before = list(queue.begun)
    queue.wait(0.81)

    assert before == ["a"]
    assert queue.begun == ["a", "b"]


def test_no_rest_follows_where_nothing_of_others_came_for_a_second_nor_since_the_request_was_begun() -> None:
    queue = Queue()
    queue.requests.on_other()
    queue.wait(0.005)
    for name in ("a-1", "a-2", "a-3"):
        queue.add(name, "ann")

    queue.wait(1.01)
    queue.done("ann", 0.5, beside_others=False)
    alone = list(queue.begun)
    queue.requests.on_other()
    queue.wait(3.0)
    # Its thread had the processor for a part of these two seconds.
    queue.done("ann", 0.5, beside_others=False)
    queue.wait(4.39)
    resting = list(queue.begun)
    queue.wait(4.41)

    assert alone == ["a-1", "a-2"]
    assert resting == ["a-1", "a-2"]
    assert queue.begun == ["a-1", "a-2", "a-3"]


def test_a_request_of_a_broker_is_one_of_others() -> None:
    queue = Queue()
    queue.add("a-1", "ann")
    queue.add("a-2", "ann")
    queue.wait(2.0)

    queue.add("b", BROKERS)
    queue.done("ann", 0.05, beside_others=False)
    queue.wait(2.04)
    queue.done(BROKERS, 0.0, beside_others=False)

    assert queue.begun == ["a-1", "b"]


def test_of_the_turns_that_are_kept_the_one_that_was_longest_ago_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_requests, "TURNS_MAX", 2)
    queue = Queue()
    for number, principal in enumerate(("ann", "bob", "ann")):
        queue.add(f"{principal}-{number}", principal)
        queue.done(principal, 0.0)
    queue.add("cat-3", "cat")

    queue.add("ann-4", "ann")
    queue.add("bob-5", "bob")
    queue.done("cat", 0.0)

    # Whose turn was dropped comes as if it was the first.
    assert queue.begun == ["ann-0", "bob-1", "ann-2", "cat-3", "bob-5"]
    assert len(queue.requests._turns) == 2


def test_an_answer_is_encoded_before_the_next_request_and_without_a_rest() -> None:
    queue = Queue()
    queue.add("a", "ann")
    queue.add("b", "bob")
    queue.requests.add_answer(lambda: queue.begun.append("answer"))

    queue.done("ann", 0.1)

    assert queue.begun == ["a", "answer"]


def test_what_waits_of_a_closed_connection_is_dropped() -> None:
    queue = Queue()
    queue.add("a", "ann", connection=1)
    queue.add("b", "ann", connection=2)
    queue.add("c", "ann", connection=3)

    queue.requests.drop(2)
    queue.done("ann", 0.0)

    assert queue.begun == ["a", "c"]
    assert len(queue.requests) == 0


def test_requests_that_hold_too_many_bytes_cost_the_principal_with_most_its_last_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "WAITING_BYTES_MAX", 100)
    queue = Queue()
    queue.add("served", "bob")
    queue.add("a-1", "ann", size=40)
    queue.add("a-2", "ann", connection=2, size=40)

    queue.add("b", "bob", connection=3, size=30)

    assert queue.dropped == ["a-2"]
    assert len(queue.requests) == 2


def test_principals_that_hold_less_than_a_large_request_lose_no_connection_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "WAITING_BYTES_MAX", 100)
    queue = Queue()
    queue.add("served", "bob")
    for number in range(8):
        queue.add(f"ann-{number}", "ann", connection=number, size=5)
        queue.add(f"cid-{number}", "cid", connection=10 + number, size=6)
    queue.add("dan", "dan", connection=20, size=12)

    queue.add("eve", "eve", connection=21, size=32)

    # 48 and 40 bytes, then 42 and 40, 36 and 40, 36 and 35, 30 and 35, 30 and 30, and hers are the most.
    assert queue.dropped == ["cid-7", "cid-6", "ann-7", "cid-5", "ann-6", "eve"]
    assert len(queue.requests) == 12


class CountedSize(int):
    """A number of bytes. additions: of all of them."""

    additions = 0

    def __radd__(self, other: int) -> int:
        CountedSize.additions += 1
        return int(self) + other


def test_the_bytes_of_what_waits_are_not_added_up_anew_for_each_connection_that_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "WAITING_BYTES_MAX", 1000)
    monkeypatch.setattr(CountedSize, "additions", 0)
    queue = Queue()
    queue.add("served", "bob")
    for number in range(1000):
        queue.add(f"ann-{number}", "ann", connection=number, size=CountedSize(1))

    queue.add("bob-1", "bob", connection=1000, size=400)

    assert queue.dropped == [f"ann-{number}" for number in range(999, 599, -1)]
    assert CountedSize.additions == 2 * 1000


def test_connections_that_are_lost_after_the_end_are_no_error() -> None:
    queue = Queue()
    for connection in (1, 2):
        queue.add("a", "ann", connection=connection, size=1)

    queue.requests.close()
    queue.requests.drop(2)

    assert len(queue.requests) == 0


def test_the_measure_shows_the_share_of_the_principal_that_took_most() -> None:
    queue = Queue()
    queue.add("a", "ann")
    queue.done("ann", 0.3)
    queue.add("b", "bob")
    queue.wait(1.0)
    queue.done("bob", 0.1)

    assert queue.requests.largest_share() == pytest.approx(0.75)
    assert (queue.requests.served, queue.requests.seconds) == (2, pytest.approx(0.4))


def test_requests_of_brokers_come_before_those_of_users() -> None:
    queue = Queue()
    for name, principal in (("ann-1", "ann"), ("ann-2", "ann"), ("b-1", BROKERS), ("b-2", BROKERS)):
        queue.add(name, principal)

    for taken_by in ("ann", BROKERS, BROKERS):
        queue.done(taken_by, 0.0)

    assert queue.begun == ["ann-1", "b-1", "b-2", "ann-2"]


def test_a_request_that_was_begun_goes_on_before_another_one_begins() -> None:
    queue = Queue()
    queue.add("b-1", BROKERS)
    queue.add("b-2", BROKERS)

    queue.add("b-1, its next part", BROKERS, goes_on=True)
    for _ in range(2):
        queue.done(BROKERS, 0.0)

    assert queue.begun == ["b-1", "b-1, its next part", "b-2"]


def test_a_request_of_a_broker_does_not_wait_for_the_rest_after_one_of_a_user() -> None:
    queue = Queue()
    queue.add("a", "ann")
    queue.add("b", BROKERS)

    queue.done("ann", 5.0)

    assert queue.begun == ["a", "b"]


def test_after_a_short_request_of_a_broker_the_next_one_of_a_broker_rests_and_no_user_comes_between() -> None:
    queue = Queue()
    for name, principal in (("b-1", BROKERS), ("b-2", BROKERS), ("a", "ann")):
        queue.add(name, principal)
    queue.done(BROKERS, 0.004)

    queue.wait(0.0039)
    before = list(queue.begun)
    queue.wait(0.0041)

    assert before == ["b-1"]
    assert queue.begun == ["b-1", "b-2"]


def test_the_bytes_of_users_cost_no_broker_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_requests, "WAITING_BYTES_MAX", 100)
    monkeypatch.setattr(long_requests, "BROKERS_WAITING_BYTES_MAX", 300)
    queue = Queue()
    queue.add("served", "bob")
    for name, principal, size in (("b-1", BROKERS, 150), ("a-1", "ann", 90), ("b-2", BROKERS, 150), ("a-2", "ann", 20)):
        queue.add(name, principal, size=size)
    users = list(queue.dropped)

    queue.add("b-3", BROKERS, size=1)

    assert users == ["a-2"]
    assert queue.dropped == ["a-2", "b-3"]


@pytest.mark.parametrize("others", [(), (("few", "bob", 0), ("b", BROKERS, 20))])
def test_one_request_alone_may_have_more_bytes_than_the_limit_of_users(
    monkeypatch: pytest.MonkeyPatch, others: tuple[tuple[str, str, int], ...]
) -> None:
    """Those that ask for much in few bytes, and those of brokers, hold none of the bytes of users."""
    monkeypatch.setattr(long_requests, "WAITING_BYTES_MAX", 100)
    queue = Queue()
    queue.add("served", "bob")
    for name, principal, size in others:
        queue.add(name, principal, connection=2, size=size)

    queue.add("a", "ann", size=101)

    assert queue.dropped == []
    assert len(queue.requests) == 1 + len(others)


@pytest.mark.parametrize(
    ("cls", "bytes_min"),
    [
        (CreateTopicsRequest, FRAME_BYTES_MIN),
        (AlterPartitionRequest, BROKER_FRAME_BYTES_MIN),
        (AssignReplicasToDirsRequest, BROKER_FRAME_BYTES_MIN),
        (BrokerHeartbeatRequest, None),
        (FetchRequest, None),
    ],
)
def test_large_frames_are_long_but_those_that_are_urgent(cls: type[Any], bytes_min: int | None) -> None:
    key = schema_of(cls).api_key
    assert key is not None

    sizes = [size for size in (FRAME_BYTES_MIN, BROKER_FRAME_BYTES_MIN) if is_long(key, size)]

    assert (min(sizes, default=None), is_long(key, FRAME_BYTES_MIN - 1)) == (bytes_min, False)


def test_a_small_request_that_asks_for_much_is_long() -> None:
    state: Any = SimpleNamespace(acls=range(500))

    def asked(*partitions: int) -> bool:
        topics = tuple(replace(new_topic("t"), num_partitions=count) for count in partitions)
        request = CreateTopicsRequest(topics=topics, timeout_ms=1, validate_only=False)
        return asks_much(state, APIS[19], request)

    assert asked(150, 50)
    assert asked(200, -10_000)
    assert not asked(150, 49)
    assert asks_much(state, APIS[29], default_of(DescribeAclsRequest))
