from __future__ import annotations

from random import Random

from raft.limits import NEVER
from raft.peers import Peers
from tests.raft.building import endpoint

BOOTSTRAP = [(-2, endpoint(2)), (-3, endpoint(3))]


def peers() -> Peers:
    return Peers(request_timeout_ms=2000, retry_backoff_ms=20, bootstrap=BOOTSTRAP)


def test_a_peer_that_was_never_asked_is_ready() -> None:
    books = peers()

    assert books.is_ready(2, 0)
    assert not books.is_backing_off(2, 0)
    assert not books.is_waiting(0)
    assert books.next_ms(0) == NEVER


def test_one_request_is_in_flight_for_a_peer() -> None:
    books = peers()

    books.sent(2, "request", 100)

    assert not books.is_ready(2, 2099)
    assert books.is_ready(3, 100)
    assert books.is_waiting(100)
    assert books.next_ms(100) == 2100


def test_the_answer_to_the_request_in_flight_makes_the_peer_ready() -> None:
    books = peers()
    number = books.sent(2, "request", 0)

    assert books.take(2, number, 10) == "request"
    assert books.is_ready(2, 10)
    assert books.take(2, number, 10) is None


def test_answers_to_what_is_not_in_flight_are_none() -> None:
    books = peers()
    first = books.sent(2, "first", 0)
    second = books.sent(2, "second", 5)

    assert books.take(2, first, 10) is None
    assert books.take(3, second, 10) is None
    assert books.take(2, second + 1, 10) is None
    assert books.take(2, second, 10) == "second"


def test_an_answer_after_the_time_out_is_none() -> None:
    books = peers()
    number = books.sent(2, "request", 0)

    assert books.take(2, number, 2000) is None
    assert books.is_ready(2, 2000)
    assert not books.is_waiting(2000)


def test_a_request_that_waited_too_long_is_given_up_once() -> None:
    books = peers()
    books.sent(2, "request", 0)

    assert not books.give_up(2, 1999)
    assert books.give_up(2, 2000)
    assert not books.give_up(2, 2000)


def test_a_peer_that_failed_is_left_alone_for_a_moment() -> None:
    books = peers()
    books.sent(2, "request", 0)

    books.back_off(2, 100)

    assert books.is_backing_off(2, 119)
    assert not books.is_ready(2, 119)
    assert not books.is_waiting(110)
    assert books.is_ready(2, 120)
    assert not books.is_backing_off(2, 120)


def test_after_a_reset_nothing_is_under_way() -> None:
    books = peers()
    number = books.sent(2, "request", 0)
    books.back_off(3, 0)

    books.reset()

    assert books.is_ready(2, 1)
    assert books.is_ready(3, 1)
    assert books.take(2, number, 1) is None


def test_numbers_are_never_used_twice() -> None:
    books = peers()
    first = books.sent(2, "request", 0)
    books.reset()

    assert books.sent(2, "request", 0) > first


def test_a_bootstrap_server_is_drawn_among_the_ready_ones() -> None:
    books = peers()
    drawn = {books.ready_bootstrap(Random(seed), 0) for seed in range(20)}
    books.back_off(-2, 0)

    left = {books.ready_bootstrap(Random(seed), 10) for seed in range(20)}
    books.back_off(-3, 0)
    none = books.ready_bootstrap(Random(0), 10)

    assert (drawn, left, none) == (set(BOOTSTRAP), {BOOTSTRAP[1]}, None)


def test_no_bootstrap_server_is_asked_while_any_request_is_in_flight() -> None:
    books = peers()
    books.sent(5, "request", 0)

    assert books.ready_bootstrap(Random(0), 1999) is None
    assert books.ready_bootstrap(Random(0), 2000) is not None
