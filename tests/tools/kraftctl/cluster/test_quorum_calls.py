"""Which replicas of a quorum are alive, by two views of the same leader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from records.errors import Error
from tools.client.quorum import Member, View
from tools.kraftctl.cluster.quorum_calls import compare_views, may_pass, observe

if TYPE_CHECKING:
    from collections.abc import Callable


def member(number: int, end: int = 100, fetched_ms: int = 1_000, directory: str = "d") -> Member:
    return Member(number, f"{directory}{number}", end, fetched_ms, fetched_ms)


def view(*voters: Member, observers: tuple[Member, ...] = (), leader: int = 1, epoch: int = 4) -> View:
    by_id = {each.id: each for each in voters}
    return View("c", leader, epoch, 100, by_id, {each.id: each for each in observers}, ("h", 1), observers)


def looks(*views: View) -> Callable[[], View]:
    """A source that gives one view after the other, and then the last one again."""
    left = list(views)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_only_a_fetch_after_the_first_view_is_a_sign_of_life() -> None:
    first = view(member(1), member(2), member(3), observers=(member(3, directory="new"),))
    # A Fetch of 3 that was parked before it ended is answered, and noted, 500 ms later.
    parked = member(3, fetched_ms=1_500)
    last = view(member(1), member(2, fetched_ms=2_500), parked, observers=(member(3, 100, 2_400, "new"),))

    seen = compare_views(first, last)

    assert seen.alive == {(1, "d1"), (2, "d2"), (3, "new3")}


def test_a_replica_has_caught_up_when_it_has_what_was_committed_at_the_begin() -> None:
    first = view(member(1), member(2), member(3))
    seen = compare_views(first, view(member(1), member(2, 99, 2_500), member(3, 100, 2_500)))

    assert [seen.is_caught_up(each) for each in seen.view.voters.values()] == [True, False, True]


def test_observation_ends_when_all_have_fetched_and_begins_again_with_a_new_leader() -> None:
    old = view(member(1), member(2, fetched_ms=5_000))
    first, last = (view(member(1, fetched_ms=ms), member(2), leader=2, epoch=5) for ms in (900, 2_700))

    assert observe(looks(old, first, last), seconds=60).alive == {(1, "d1"), (2, "d2")}
    # A voter that is down ends it by the time.
    assert observe(looks(first, first), seconds=0).alive == {(2, "d2")}


@pytest.mark.parametrize(
    ("code", "expected"),
    [(Error.NOT_LEADER_OR_FOLLOWER, True), (Error.REQUEST_TIMED_OUT, True), (Error.UNSUPPORTED_VERSION, False)],
)
def test_which_refusals_are_tried_again(code: Error, expected: bool) -> None:
    assert may_pass(code) is expected
