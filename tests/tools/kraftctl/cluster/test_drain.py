"""`kraftctl controllers drain`: which voters may leave; with nodes in tests/controller/server/test_autopilot.py."""

from __future__ import annotations

import pytest

from tools.client.quorum import Member, View
from tools.kraftctl.cluster.drain import check
from tools.kraftctl.cluster.quorum_calls import Seen, key_of


def seen(voters: int, *, alive: tuple[int, ...], lagging: tuple[int, ...] = ()) -> Seen:
    """Voter 1 leads; the high watermark is 100."""
    members = {
        number: Member(number, f"d{number}", 90 if number in lagging else 100, 0, 0) for number in range(1, voters + 1)
    }
    view = View("c", 1, 4, 100, members, {}, ("h", 1))
    return Seen(view, frozenset(key_of(members[number]) for number in alive), 100)


@pytest.mark.parametrize(("voters", "alive", "leaving"), [(5, (1, 2, 3, 4, 5), 5), (5, (1, 2, 3), 5), (3, (1, 2), 3)])
def test_a_voter_may_leave_where_a_majority_of_the_others_is_alive(
    voters: int, alive: tuple[int, ...], leaving: int
) -> None:
    check(seen(voters, alive=alive), leaving)


def test_no_voter_leaves_below_a_majority_that_is_alive_and_has_caught_up() -> None:
    with pytest.raises(OSError, match="without voter 2, the quorum has 2 voters and needs 2"):
        check(seen(3, alive=(1, 2)), 2)
    with pytest.raises(OSError, match=r"2 \(lags\)"):
        check(seen(3, alive=(1, 2, 3), lagging=(2,)), 3)
    with pytest.raises(OSError, match="voter 1 is the only one"):
        check(seen(1, alive=(1,)), 1)
