"""The rules of the autopilot that need no time: zones, odd numbers, the maximum, majorities."""

from __future__ import annotations

import pytest

from raft.autopilot.report import Health, NodeState
from raft.autopilot.rules import may_remove
from tests.raft.autopilot.quorum import RULES, Quorum, key

ZONES = {1: "a", 2: "b", 3: "c", 4: "a", 5: "d", 6: "e"}


@pytest.mark.parametrize(
    ("voters", "observers", "most", "final"),
    [(1, 1, 5, 1), (1, 2, 5, 3), (2, 1, 5, 3), (3, 1, 5, 3), (3, 2, 3, 3), (3, 3, 5, 5), (1, 9, 7, 7), (3, 3, 6, 5)],
)
def test_voters_are_added_up_to_an_odd_number_and_the_maximum(
    voters: int, observers: int, most: int, final: int
) -> None:
    quorum = Quorum(voters, observers, RULES._replace(voters_max=most))

    report = quorum.run(60)

    assert len(quorum.voters) == final
    assert report.held_by if final < voters + observers else not report.held_by


def test_a_zone_has_at_most_one_voter() -> None:
    quorum = Quorum(voters=3, observers=3, rules=RULES._replace(zones=ZONES))

    quorum.run(60)

    assert quorum.kinds == [("add", 5), ("add", 6)]


def test_a_spare_of_the_zone_of_the_dead_voter_takes_its_place() -> None:
    quorum = Quorum(voters=3, observers=1, rules=RULES._replace(zones=ZONES, dead_after_ms=20_000))
    quorum.voters[0], leader = key(1), key(1)

    quorum.run(10)
    quorum.down = {key(2)}
    held = quorum.run(60)
    assert quorum.steps == []
    assert held.held_by  # the spare is of zone a, where voter 1 is

    quorum.observers = [key(7)]
    quorum.run(60)

    assert leader in quorum.voters
    assert quorum.kinds == [("remove", 2), ("add", 7)]


@pytest.mark.parametrize(
    ("healths", "leaving", "may"),
    [
        ("hh", 2, True), ("hs", 2, False), ("hhs", 3, True), ("hhs", 2, False), ("hhl", 3, True), ("hll", 3, False),
        ("hhhs", 4, True), ("hhss", 4, False), ("hhhss", 5, True), ("hhhss", 3, False), ("hhlss", 5, False),
    ],
)  # fmt: skip
def test_a_majority_is_healthy_before_a_removal_and_after_it(healths: str, leaving: int, may: bool) -> None:
    kinds = {"h": Health.HEALTHY, "l": Health.LAGGING, "s": Health.SILENT}
    voters = [
        NodeState(key(place), True, kinds[health], 0, "") for place, health in enumerate(healths, start=1)
    ]  # fmt: skip

    assert may_remove(voters, key(leaving)) is may
