"""A voter opens connections to the other voters, and makes the codecs of an election, before there is one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from raft.interface.config import Endpoint
from raft.network.election_preparation import INTERVAL_S, MESSAGES, ElectionPreparation
from records.schema import schema_of
from tests.raft.building import Bench, dynamic_voters, endpoint, follower, static_voters

if TYPE_CHECKING:
    from collections.abc import Callable


class Loop:
    """A loop whose iterations the test runs."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.cancelled = 0

    def call_soon(self, act: Callable[[], None]) -> None:
        self.soon.append(act)

    def call_later(self, wait_s: float, act: Callable[[], None]) -> Any:
        self.timers.append((wait_s, act))

        def cancel() -> None:
            self.cancelled += 1

        return SimpleNamespace(cancel=cancel)


class Opened:
    """Channels that note what they were asked to open."""

    def __init__(self) -> None:
        self.peers: list[tuple[int, Endpoint]] = []

    def open(self, peer: int, address: Endpoint) -> None:
        self.peers.append((peer, address))


def prepared(bench: Bench) -> tuple[ElectionPreparation, Loop, Opened]:
    loop, channels = Loop(), Opened()
    return ElectionPreparation(cast("Any", loop), bench.replica, cast("Any", channels)), loop, channels


@pytest.fixture(autouse=True)
def without_codecs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has just started."""
    for message in MESSAGES:
        monkeypatch.setattr(schema_of(message), "decoders", {})
        monkeypatch.setattr(schema_of(message), "part_encoders", {})


def test_a_voter_connects_to_each_other_voter_again_and_again() -> None:
    preparation, loop, channels = prepared(Bench(voters=static_voters(1, 2, 3)))

    preparation.start()
    wait_s, again = loop.timers.pop()
    again()

    assert wait_s == INTERVAL_S
    assert channels.peers == 2 * [(2, endpoint(2)), (3, endpoint(3))]


def test_the_leader_is_where_it_says_that_it_is() -> None:
    bench = follower(leader=2)
    advertised = Endpoint("CONTROLLER", "advertised", 9)
    bench.replica.role = replace(bench.role, endpoints=(advertised,))
    preparation, _, channels = prepared(bench)

    preparation.start()

    assert channels.peers == [(2, advertised), (3, endpoint(3))]


@pytest.mark.parametrize(
    "make",
    [lambda: Bench(9, voters=dynamic_voters(1, 2, 3)), lambda: Bench(voters=static_voters(1))],
    ids=["observer", "the only voter"],
)
def test_without_other_voters_nothing_is_prepared(make: Callable[[], Bench]) -> None:
    preparation, loop, channels = prepared(make())

    preparation.start()

    assert (channels.peers, loop.soon) == ([], [])


def test_one_codec_is_made_in_each_iteration_of_the_loop() -> None:
    preparation, loop, _ = prepared(Bench(voters=static_voters(1, 2, 3)))
    preparation.start()

    made = []
    while loop.soon:
        loop.soon.pop()()
        made.append(sum(bool(schema_of(each).decoders and schema_of(each).part_encoders) for each in MESSAGES))

    assert made == [*range(1, len(MESSAGES) + 1), len(MESSAGES)]


def test_nothing_is_done_after_the_end() -> None:
    preparation, loop, _ = prepared(Bench(voters=static_voters(1, 2, 3)))
    preparation.start()

    preparation.close()
    for act in loop.soon:
        act()

    assert loop.cancelled == 1
    assert not any(schema_of(each).decoders for each in MESSAGES)
