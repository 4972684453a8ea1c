from __future__ import annotations

from random import Random

from raft.interface.limits import NEVER
from raft.state.peers import Peers
from tests.raft.building import endpoint

BOOTSTRAP = [(-2, endpoint(2)), (-3, endpoint(3))]


def new_peers() -> Peers:
    return Peers(request_timeout_ms=2000, retry_backoff_ms=20, bootstrap=BOOTSTRAP)


def test_a_peer_that_was_never_asked_is_ready() -> None:
    peers = new_peers()

    assert peers.is_ready(2, 0)
    assert not peers.is_backing_off(2, 0)
    assert not peers.is_waiting(0)
    assert peers.next_ms(0) == NEVER


def test_one_request_is_in_flight_for_a_peer() -> None:
    peers = new_peers()

    peers.record_sent(2, "request", 100)

    assert not peers.is_ready(2, 2099)
    assert peers.is_ready(3, 100)
    assert peers.is_waiting(100)
    assert peers.next_ms(100) == 2100


def test_the_answer_to_the_request_in_flight_makes_the_peer_ready() -> None:
    peers = new_peers()
    number = peers.record_sent(2, "request", 0)

    assert peers.take(2, number, 10) == "request"
    assert peers.is_ready(2, 10)
    assert peers.take(2, number, 10) is None


def test_an_answer_without_a_request_in_flight_is_ignored() -> None:
    peers = new_peers()
    first = peers.record_sent(2, "first", 0)
    second = peers.record_sent(2, "second", 5)

    assert peers.take(2, first, 10) is None
    assert peers.take(3, second, 10) is None
    assert peers.take(2, second + 1, 10) is None
    assert peers.take(2, second, 10) == "second"


def test_an_answer_after_the_request_timeout_is_ignored() -> None:
    peers = new_peers()
    number = peers.record_sent(2, "request", 0)

    assert peers.take(2, number, 2000) is None
    assert peers.is_ready(2, 2000)
    assert not peers.is_waiting(2000)


def test_a_timed_out_request_is_given_up_once() -> None:
    peers = new_peers()
    peers.record_sent(2, "request", 0)

    assert not peers.give_up(2, 1999)
    assert peers.give_up(2, 2000)
    assert not peers.give_up(2, 2000)


def test_a_peer_that_failed_has_a_backoff() -> None:
    peers = new_peers()
    peers.record_sent(2, "request", 0)

    peers.back_off(2, 100)

    assert peers.is_backing_off(2, 119)
    assert not peers.is_ready(2, 119)
    assert not peers.is_waiting(110)
    assert peers.is_ready(2, 120)
    assert not peers.is_backing_off(2, 120)


def test_after_a_reset_nothing_is_under_way() -> None:
    peers = new_peers()
    number = peers.record_sent(2, "request", 0)
    peers.back_off(3, 0)

    peers.reset()

    assert peers.is_ready(2, 1)
    assert peers.is_ready(3, 1)
    assert peers.take(2, number, 1) is None


def test_numbers_are_never_used_twice() -> None:
    peers = new_peers()
    first = peers.record_sent(2, "request", 0)
    peers.reset()

    assert peers.record_sent(2, "request", 0) > first


def test_a_bootstrap_server_is_drawn_among_the_ready_ones() -> None:
    peers = new_peers()
    drawn = {peers.ready_bootstrap(Random(seed), 0) for seed in range(20)}
    peers.back_off(-2, 0)

    left = {peers.ready_bootstrap(Random(seed), 10) for seed in range(20)}
    peers.back_off(-3, 0)
    none = peers.ready_bootstrap(Random(0), 10)

    assert (drawn, left, none) == (set(BOOTSTRAP), {BOOTSTRAP[1]}, None)


def test_no_bootstrap_server_is_asked_while_any_request_is_in_flight() -> None:
    peers = new_peers()
    peers.record_sent(5, "request", 0)

    assert peers.ready_bootstrap(Random(0), 1999) is None
    assert peers.ready_bootstrap(Random(0), 2000) is not None
