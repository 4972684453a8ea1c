"""Ghost voters: those that never registered, and those that never vote; not those that are merely slow or new."""

from __future__ import annotations

from pipeline.anomalies.anomaly import Anomaly
from pipeline.anomalies.ghosts import KIND, VoterSet, ghosts

MINUTE = 60_000
ALL = frozenset((1, 2, 3))


def election(offset: int, *granting: int, voters: frozenset[int] = ALL, minute: int | None = None) -> VoterSet:
    return VoterSet("c", offset, (offset if minute is None else minute) * MINUTE, voters, frozenset(granting))


def test_a_voter_that_never_registered_is_a_ghost() -> None:
    found = ghosts([election(0, 1, 2)], {"c": {1, 2}}, {"c": 10 * MINUTE})

    assert found == [Anomaly("c", KIND, "voter 3", 0, 10 * MINUTE, "No controller of this id ever registered.")]


def test_a_voter_without_a_vote_in_twenty_elections_is_a_ghost() -> None:
    history = [election(0, 3, 1), *(election(offset, 1, 2) for offset in range(1, 21))]

    found = ghosts(reversed(history), {"c": {1, 2, 3}}, {"c": 20 * MINUTE})

    seen = "It neither won nor is named among the voters of the last 20 elections."
    assert found == [Anomaly("c", KIND, "voter 3", 0, 20 * MINUTE, seen)]


def test_a_voter_that_was_removed_is_no_ghost() -> None:
    removed = VoterSet("c", 5, 20 * MINUTE, frozenset((1, 2)))

    assert ghosts([election(0, 1, 2), removed], {"c": {1, 2}}, {"c": 99 * MINUTE}) == []


def test_a_voter_counts_from_its_last_addition() -> None:
    two = frozenset((1, 2))
    history = [election(0, 1, 2), election(1, 1, 2, voters=two), VoterSet("c", 30, 30 * MINUTE, ALL)]

    assert ghosts(history, {"c": {1, 2}}, {"c": 39 * MINUTE}) == []
    assert [one.start_ms for one in ghosts(history, {"c": {1, 2}}, {"c": 40 * MINUTE})] == [30 * MINUTE]


def test_a_history_without_problems_has_no_anomaly() -> None:
    registered = {"c": {1, 2, 3}}
    slow = [election(offset, 1, 2) for offset in range(19)]
    in_turn = [election(offset, offset % 3 + 1, (offset + 1) % 3 + 1) for offset in range(60)]

    assert ghosts([], registered, {}) == []
    assert ghosts(slow, registered, {"c": 99 * MINUTE}) == []
    assert ghosts(in_turn, registered, {"c": 99 * MINUTE}) == []
    # Before metadata.version 3.7 nobody registers.
    assert ghosts(in_turn, {}, {"c": 99 * MINUTE}) == []
