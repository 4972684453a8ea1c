from __future__ import annotations

import pytest

from raft.state.tally import Tally
from tests.raft.building import static_voters


def tally(count: int, *answers: tuple[int, bool]) -> Tally:
    """Of voters 1 to count; voter 1 counts."""
    counted = Tally(static_voters(*range(1, count + 1)), own_id=1)
    for voter_id, granted in answers:
        counted.record(voter_id, granted)
    return counted


def test_a_tally_begins_with_the_own_vote() -> None:
    counted = tally(3)

    assert counted.granting == (1,)
    assert counted.silent_voters == (2, 3)
    assert not counted.is_won
    assert not counted.is_lost


def test_a_sole_voter_has_won() -> None:
    assert tally(1).is_won


@pytest.mark.parametrize(
    ("count", "answers", "is_won", "is_lost"),
    [
        (2, [(2, True)], True, False),
        (2, [(2, False)], False, True),
        (3, [(2, True)], True, False),
        (3, [(2, False)], False, False),
        (3, [(2, False), (3, False)], False, True),
        (3, [(2, False), (3, True)], True, False),
        (5, [(2, True)], False, False),
        (5, [(2, True), (3, True)], True, False),
        (5, [(2, False), (3, False)], False, False),
        (5, [(2, False), (3, False), (4, False)], False, True),
    ],
)
def test_an_election_is_won_by_a_majority_and_lost_when_none_is_possible(
    count: int, answers: list[tuple[int, bool]], is_won: bool, is_lost: bool
) -> None:
    counted = tally(count, *answers)

    assert (counted.is_won, counted.is_lost) == (is_won, is_lost)


def test_a_voter_counts_once() -> None:
    counted = tally(5, (2, True), (2, True))

    assert counted.granting == (1, 2)
    assert not counted.is_won


def test_a_later_answer_replaces_the_earlier() -> None:
    assert tally(3, (2, False), (2, True)).is_won
    assert not tally(3, (2, True), (2, False)).is_won


def test_answers_of_non_voters_are_not_counted() -> None:
    assert tally(3, (9, True)).granting == (1,)


def test_a_voter_that_may_now_grant_is_asked_again() -> None:
    counted = tally(3, (2, False))

    counted.ask_again(2)

    assert counted.silent_voters == (2, 3)
    assert counted.answer_of(2) is None


def test_a_voter_is_asked_again_once_if_its_outdated_refusal_comes_later() -> None:
    counted = tally(3)
    counted.ask_again(2)

    counted.record(2, granted=False)
    first = counted.answer_of(2)
    counted.record(2, granted=False)

    assert (first, counted.answer_of(2)) == (None, False)


def test_a_voter_that_granted_is_not_asked_again() -> None:
    counted = tally(3, (2, True))

    counted.ask_again(2)

    assert counted.granting == (1, 2)
