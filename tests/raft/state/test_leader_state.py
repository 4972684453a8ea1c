from __future__ import annotations

import pytest

from raft.interface.config import ReplicaKey, Voter
from raft.interface.limits import NEVER
from raft.interface.voters import VoterSet
from raft.state import leader_state as module
from raft.state.leader_state import UNKNOWN, LeaderState, Progress
from tests.raft.building import directory, dynamic_voters, endpoint, key, static_voters


def leader_state(voters: VoterSet | None = None) -> LeaderState:
    return LeaderState(1, voters or static_voters(1, 2, 3), (1, 2), start_offset=10)


def caught_up(progress: Progress) -> tuple[int, int, int]:
    return progress.end_offset, progress.fetched_ms, progress.caught_up_ms


# Progress


def test_a_replica_at_the_leaders_end_is_caught_up_now() -> None:
    progress = Progress(key(2))

    progress.on_fetched(10, leader_end=10, connection=7, now_ms=5)

    assert caught_up(progress) == (10, 5, 5)


def test_a_replica_that_has_the_leaders_end_of_its_last_fetch_was_caught_up_then() -> None:
    progress = Progress(key(2))
    progress.on_fetched(5, leader_end=10, connection=7, now_ms=100)

    progress.on_fetched(10, leader_end=15, connection=7, now_ms=200)

    assert caught_up(progress) == (10, 200, 100)


def test_a_replica_that_lags_was_never_caught_up() -> None:
    progress = Progress(key(2))
    progress.on_fetched(5, leader_end=10, connection=7, now_ms=100)

    progress.on_fetched(9, leader_end=15, connection=7, now_ms=200)

    assert caught_up(progress) == (9, 200, UNKNOWN)


def test_the_progress_of_a_replica_may_decrease() -> None:
    """It lost its disk: what it acknowledged no longer counts (KAFKA-12181)."""
    progress = Progress(key(2))
    progress.on_fetched(10, leader_end=10, connection=7, now_ms=5)

    progress.on_fetched(0, leader_end=10, connection=7, now_ms=9)

    assert caught_up(progress) == (0, 9, 5)


# Voters and observers


def test_a_replica_of_the_voter_set_is_a_voter_and_any_other_an_observer() -> None:
    state = leader_state(dynamic_voters(1, 2, 3))

    voter = state.replica(key(2), 300_000, 0)
    unknown = state.replica(ReplicaKey(2, directory(9)), 300_000, 0)
    broker = state.replica(key(100), 300_000, 0)

    assert voter is state.voters[2]
    assert state.observers == {ReplicaKey(2, directory(9)): unknown, key(100): broker}


def test_observers_that_are_silent_for_the_session_are_forgotten() -> None:
    state = leader_state()
    state.replica(key(100), 300_000, 0).on_fetched(1, 10, connection=7, now_ms=0)
    state.replica(key(101), 300_000, 0).on_fetched(1, 10, connection=7, now_ms=1)

    state.forget_silent(300_000, now_ms=300_000)

    assert list(state.observers) == [key(101)]


def test_a_leader_that_left_the_voters_is_an_observer_that_stays() -> None:
    state = leader_state(dynamic_voters(1, 2, 3))
    state.follow(dynamic_voters(2, 3))

    state.forget_silent(300_000, now_ms=10**9)

    assert list(state.observers) == [key(1)]
    assert state.observers[key(1)].endpoints == ()


def test_of_too_many_observers_the_one_silent_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OBSERVERS_MAX", 2)
    state = leader_state()
    for number, replica_id in enumerate((100, 101, 102)):
        state.replica(key(replica_id), 300_000, number).on_fetched(1, 10, connection=7, now_ms=number)

    assert list(state.observers) == [key(101), key(102)]


def test_an_observer_that_becomes_a_voter_keeps_its_progress() -> None:
    state = leader_state(dynamic_voters(1, 2))
    state.replica(key(3), 300_000, 0).on_fetched(7, 10, connection=7, now_ms=5)

    state.follow(dynamic_voters(1, 2, 3))

    assert caught_up(state.voters[3]) == (7, 5, UNKNOWN)
    assert state.voters[3].endpoints == (endpoint(3),)
    assert state.observers == {}


def test_a_voter_whose_directory_becomes_known_keeps_its_progress() -> None:
    state = leader_state(static_voters(1, 2, 3))
    state.voters[2].on_fetched(7, 10, connection=7, now_ms=5)

    state.follow(dynamic_voters(1, 2, 3))

    assert state.voters[2].key == key(2)
    assert state.voters[2].end_offset == 7


def test_a_voter_replaced_under_the_same_id_has_no_progress() -> None:
    state = leader_state(dynamic_voters(1, 2, 3))
    state.voters[2].on_fetched(7, 10, connection=7, now_ms=5)
    other = ReplicaKey(2, directory(9))

    state.follow(VoterSet([*dynamic_voters(1, 3), Voter(other, (endpoint(2),))]))

    assert (state.voters[2].key, state.voters[2].end_offset) == (other, UNKNOWN)
    assert state.observers[key(2)].end_offset == 7


# The quorum


def test_the_leader_and_one_of_two_others_are_a_majority() -> None:
    state = leader_state()

    state.record_contact(key(2), 3000, now_ms=100)

    assert (state.quorum_deadline_ms, state.fetched_voters) == (3100, set())


def test_of_five_voters_two_others_must_fetch() -> None:
    state = leader_state(static_voters(1, 2, 3, 4, 5))

    state.record_contact(key(2), 3000, now_ms=100)
    state.record_contact(key(2), 3000, now_ms=200)
    after_one = state.quorum_deadline_ms
    state.record_contact(key(3), 3000, now_ms=300)

    assert (after_one, state.quorum_deadline_ms) == (NEVER, 3300)


def test_a_leader_that_does_not_vote_needs_a_majority_without_itself() -> None:
    state = leader_state(dynamic_voters(1, 2, 3))
    state.follow(dynamic_voters(2, 3, 4))

    state.record_contact(key(2), 3000, now_ms=100)
    after_one = state.quorum_deadline_ms
    state.record_contact(key(3), 3000, now_ms=200)

    assert (after_one, state.quorum_deadline_ms) == (NEVER, 3200)


@pytest.mark.parametrize("unknown", [key(9), ReplicaKey(2, directory(9)), ReplicaKey(2)])
def test_fetches_of_non_voters_do_not_count(unknown: ReplicaKey) -> None:
    state = leader_state(dynamic_voters(1, 2, 3))

    state.record_contact(unknown, 3000, now_ms=100)

    assert state.quorum_deadline_ms == NEVER


def test_voters_are_silent_until_they_fetch_and_after_they_stop() -> None:
    state = leader_state()
    state.voters[2].on_fetched(10, 10, connection=7, now_ms=0)

    assert state.silent_voters(1000, now_ms=999) == [ReplicaKey(3)]
    assert state.silent_voters(1000, now_ms=1000) == [ReplicaKey(2), ReplicaKey(3)]


def test_successors_are_those_with_the_longest_logs_first() -> None:
    state = leader_state(static_voters(1, 2, 3, 4, 5))
    state.voters[3].on_fetched(9, 10, connection=7, now_ms=0)
    state.voters[4].on_fetched(10, 10, connection=7, now_ms=0)
    state.voters[2].on_fetched(9, 10, connection=7, now_ms=0)

    assert [successor.id for successor in state.successors()] == [4, 2, 3, 5]


def test_of_equal_logs_the_successor_is_the_voter_that_is_connected_for_longest() -> None:
    state = leader_state(static_voters(1, 2, 3))
    for voter, connection, now_ms in ((2, 7, 0), (3, 8, 1), (2, 9, 2), (3, 8, 3)):
        state.voters[voter].on_fetched(10, 10, connection=connection, now_ms=now_ms)

    assert [successor.id for successor in state.successors()] == [3, 2]


def test_of_equal_logs_a_voter_without_a_connection_is_the_last_successor() -> None:
    state = leader_state(static_voters(1, 2, 3, 4))
    for voter, end_offset in ((2, 10), (3, 10), (4, 9)):
        state.voters[voter].on_fetched(end_offset, 10, connection=voter, now_ms=voter)

    state.on_disconnected(2)

    assert [successor.id for successor in state.successors()] == [3, 2, 4]


def test_a_voter_whose_connection_is_closed_has_none() -> None:
    state = leader_state(static_voters(1, 2, 3))
    state.voters[2].on_fetched(10, 10, connection=7, now_ms=0)
    state.voters[3].on_fetched(10, 10, connection=8, now_ms=0)

    state.on_disconnected(7)

    assert [state.voters[voter].connection for voter in (2, 3)] == [None, 8]
