"""Which connection is closed where there are too many."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from raft.network.silent_connections import SHARE, SilentConnections


def connections(count: int) -> dict[int, Any]:
    """Each one more was active later than the one before it."""
    return {
        number: SimpleNamespace(number=number, last_active=float(number), is_closing=False) for number in range(count)
    }


def test_the_one_that_was_silent_for_longest_is_found_first() -> None:
    found, open_ = SilentConnections(), connections(3 * SHARE)
    new = SimpleNamespace(number=-1, last_active=0.0, is_closing=False)
    open_[-1] = new

    closed = []
    for _ in range(10):
        one = found.find(open_, new)
        one.is_closing = True
        closed.append(one.number)

    assert closed == list(range(10))


def test_one_that_was_active_or_has_gone_since_the_last_look_is_passed_over() -> None:
    found, open_ = SilentConnections(), connections(4 * SHARE)
    found.find(open_, open_[4 * SHARE - 1]).is_closing = True

    open_[1].last_active = 9_999.0
    del open_[2]

    assert found.find(open_, open_[4 * SHARE - 1]).number == 3


def test_where_there_is_no_other_the_new_one_is_closed() -> None:
    open_ = connections(2)
    open_[0].is_closing = True

    assert SilentConnections().find(open_, open_[1]) is open_[1]
