"""When a quorum is whole again, view by view."""

from __future__ import annotations

from controller.ctl.quorum import Member, View
from controller.ctl.wait import Waiting


def view(ends: dict[int, int], fetched_ms: int, leader: int = 1, epoch: int = 4, committed: int = 100) -> View:
    voters = {
        number: Member(number, "", end, -1 if number == leader else fetched_ms, 0) for number, end in ends.items()
    }
    return View("c", leader, epoch, committed, voters, {}, ("h", 1))


def test_what_a_leader_remembers_of_a_voter_does_not_count_until_it_has_fetched_anew() -> None:
    waiting = Waiting(None, 0)
    level = {1: 100, 2: 100, 3: 100}

    first = waiting.take(view(level, fetched_ms=50))
    same = waiting.take(view(level, fetched_ms=51))  # the wall clock moved
    later = waiting.take(view(level, fetched_ms=550))

    assert first == same == "not caught up with offset 100: node 2, node 3"
    assert later == ""


def test_a_voter_must_have_what_was_committed_when_the_waiting_began() -> None:
    waiting = Waiting(None, 0)
    waiting.take(view({1: 100, 2: 90, 3: 100}, fetched_ms=50))

    behind = waiting.take(view({1: 130, 2: 99, 3: 130}, fetched_ms=550, committed=130))
    there = waiting.take(view({1: 160, 2: 100, 3: 160}, fetched_ms=1050, committed=160))

    assert (behind, there) == ("not caught up with offset 100: node 2", "")


def test_the_high_watermark_must_not_be_behind_what_was_seen_before() -> None:
    waiting = Waiting(None, 120)

    assert waiting.take(view({1: 110, 2: 110}, fetched_ms=5, committed=110)) == (
        "the high watermark is 110, not yet 120"
    )


def test_a_new_leader_is_a_new_beginning() -> None:
    waiting = Waiting(None, 0)
    waiting.take(view({1: 100, 2: 100}, fetched_ms=50))

    new = waiting.take(view({1: 101, 2: 101}, fetched_ms=60, leader=2, epoch=5, committed=101))
    fetched = waiting.take(view({1: 101, 2: 101}, fetched_ms=560, leader=2, epoch=5, committed=101))

    assert (new, fetched) == ("not caught up with offset 101: node 1", "")


def test_only_the_voters_named_matter_and_they_must_be_voters() -> None:
    level = {1: 100, 2: 100, 3: 7}
    named, wrong = Waiting([2], 0), Waiting([9], 0)
    named.take(view(level, fetched_ms=1))

    assert named.take(view(level, fetched_ms=501)) == ""
    assert wrong.take(view(level, fetched_ms=2)) == "node 9 is no voter; voters are [1, 2, 3]"
