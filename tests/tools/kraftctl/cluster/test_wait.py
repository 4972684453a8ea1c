"""When `kraftctl wait` returns, view by view."""

from __future__ import annotations

from tools.client.quorum import Member, View
from tools.kraftctl.cluster.wait import Waiting


def view(ends: dict[int, int], fetched_ms: int, leader: int = 1, epoch: int = 4, committed: int = 100) -> View:
    voters = {
        number: Member(number, "", end, -1 if number == leader else fetched_ms, 0) for number, end in ends.items()
    }
    return View("c", leader, epoch, committed, voters, {}, ("h", 1))


def test_an_offset_of_a_voter_counts_only_after_a_new_fetch() -> None:
    waiting = Waiting(None, 0)
    level = {1: 100, 2: 100, 3: 100}

    first = waiting.take(view(level, fetched_ms=50))
    same = waiting.take(view(level, fetched_ms=51))  # the wall clock moved
    later = waiting.take(view(level, fetched_ms=550))

    assert first == same == "not caught up to offset 100: node 2, node 3"
    assert later == ""


def test_a_voter_must_have_all_records_that_were_committed_at_the_start() -> None:
    waiting = Waiting(None, 0)
    waiting.take(view({1: 100, 2: 90, 3: 100}, fetched_ms=50))

    behind = waiting.take(view({1: 130, 2: 99, 3: 130}, fetched_ms=550, committed=130))
    there = waiting.take(view({1: 160, 2: 100, 3: 160}, fetched_ms=1050, committed=160))

    assert (behind, there) == ("not caught up to offset 100: node 2", "")


def test_the_high_watermark_must_reach_the_greatest_value_seen() -> None:
    waiting = Waiting(None, 120)

    assert waiting.take(view({1: 110, 2: 110}, fetched_ms=5, committed=110)) == (
        "the high watermark is 110, not yet 120"
    )


def test_a_new_leader_requires_new_fetches_of_all_voters() -> None:
    waiting = Waiting(None, 0)
    waiting.take(view({1: 100, 2: 100}, fetched_ms=50))

    new = waiting.take(view({1: 101, 2: 101}, fetched_ms=60, leader=2, epoch=5, committed=101))
    fetched = waiting.take(view({1: 101, 2: 101}, fetched_ms=560, leader=2, epoch=5, committed=101))

    assert (new, fetched) == ("not caught up to offset 101: node 1", "")


def test_only_the_named_voters_are_waited_for_and_they_must_be_voters() -> None:
    level = {1: 100, 2: 100, 3: 7}
    named, wrong = Waiting([2], 0), Waiting([9], 0)
    named.take(view(level, fetched_ms=1))

    assert named.take(view(level, fetched_ms=501)) == ""
    assert wrong.take(view(level, fetched_ms=2)) == "node 9 is not a voter; voters are [1, 2, 3]"
