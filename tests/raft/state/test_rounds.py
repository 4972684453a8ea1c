from __future__ import annotations

from raft.state.rounds import Rounds

VOTERS = (1, 2, 3)


def test_a_sole_voter_proves_its_leadership_itself() -> None:
    rounds = Rounds()
    rounds.ask(70)

    assert rounds.take_confirmed((1,), own_id=1) == [70]


def test_a_fetch_after_an_answer_after_the_request_proves_leadership() -> None:
    rounds = Rounds()
    rounds.ask(70)
    rounds.on_answered(22)
    before = rounds.take_confirmed(VOTERS, own_id=1)
    rounds.record_fetch(2, 22)

    assert (before, rounds.take_confirmed(VOTERS, own_id=1)) == ([], [70])


def test_a_fetch_that_may_have_left_before_the_request_proves_nothing() -> None:
    rounds = Rounds()
    rounds.on_answered(22)
    rounds.ask(70)

    rounds.record_fetch(2, 22)

    assert rounds.take_confirmed(VOTERS, own_id=1) == []


def test_a_fetch_on_another_connection_proves_nothing() -> None:
    rounds = Rounds()
    rounds.ask(70)
    rounds.on_answered(22)

    rounds.record_fetch(2, 23)

    assert rounds.take_confirmed(VOTERS, own_id=1) == []


def test_of_five_voters_two_others_must_prove_it() -> None:
    rounds = Rounds()
    rounds.ask(70)
    for connection in (22, 33):
        rounds.on_answered(connection)
    rounds.record_fetch(2, 22)
    rounds.record_fetch(2, 22)
    after_one = rounds.take_confirmed((1, 2, 3, 4, 5), own_id=1)
    rounds.record_fetch(3, 33)

    assert (after_one, rounds.take_confirmed((1, 2, 3, 4, 5), own_id=1)) == ([], [70])


def test_a_leader_that_does_not_vote_is_no_proof() -> None:
    rounds = Rounds()
    rounds.ask(70)
    rounds.on_answered(22)
    rounds.record_fetch(2, 22)

    assert rounds.take_confirmed((2, 3, 4), own_id=1) == []


def test_one_round_confirms_all_requests_before_it() -> None:
    rounds = Rounds()
    rounds.ask(70)
    rounds.ask(71)
    rounds.on_answered(22)
    rounds.ask(72)
    rounds.record_fetch(2, 22)

    assert rounds.take_confirmed(VOTERS, own_id=1) == [70, 71]
    assert rounds.take_confirmed(VOTERS, own_id=1) == []


def test_a_pending_confirmation_needs_one_answer_per_connection() -> None:
    rounds = Rounds()
    idle = rounds.needs_answer(22)
    rounds.ask(70)
    asked = rounds.needs_answer(22)
    rounds.on_answered(22)
    answered = rounds.needs_answer(22)
    rounds.ask(71)

    assert (idle, asked, answered, rounds.needs_answer(22)) == (False, True, False, True)


def test_a_peer_that_does_not_wait_for_answers_proves_nothing() -> None:
    rounds = Rounds()
    rounds.ask(70)
    rounds.on_answered(22)
    rounds.distrust(22)

    rounds.record_fetch(2, 22)

    assert rounds.take_confirmed(VOTERS, own_id=1) == []


def test_the_rounds_of_a_connection_end_with_it() -> None:
    rounds = Rounds()
    rounds.ask(70)
    rounds.on_answered(22)
    rounds.distrust(22)
    rounds.forget(22)

    rounds.record_fetch(2, 22)
    reused = rounds.take_confirmed(VOTERS, own_id=1)
    rounds.on_answered(22)
    rounds.record_fetch(2, 22)

    assert (reused, rounds.take_confirmed(VOTERS, own_id=1)) == ([], [70])
