"""The rules of the autopilot that need no time: zones, odd numbers, the maximum, majorities."""

from __future__ import annotations

import pytest

from raft.autopilot.report import Health, Kind, NodeState
from raft.autopilot.rules import Candidate, Situation, may_remove, next_step
from raft.interface.config import Endpoint
from tests.raft.autopilot.quorum import RULES, Quorum, key

ZONES = {1: "a", 2: "b", 3: "c", 4: "a", 5: "d", 6: "e"}
ENDPOINTS = (Endpoint("CONTROLLER", "c", 9093),)


def voter(node_id: int, health: Health = Health.HEALTHY, since_ms: int = 0) -> NodeState:
    return NodeState(key(node_id), True, health, since_ms, "")


def spare(node_id: int, directory: int = 1, endpoints: tuple[Endpoint, ...] = ENDPOINTS) -> Candidate:
    """An observer that was level for long enough."""
    return Candidate(NodeState(key(node_id, directory), False, Health.HEALTHY, 0, ""), 0, endpoints)


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


def test_of_two_spares_of_one_zone_one_counts() -> None:
    quorum = Quorum(voters=3, observers=2, rules=RULES._replace(zones={**ZONES, 4: "d", 5: "d"}))

    report = quorum.run(60)

    assert quorum.steps == []
    assert report.held_by == ("node 4 stays an observer: an even number of voters (4) gains none",)


def test_the_zone_of_a_dead_voter_is_free_for_its_spare() -> None:
    quorum = Quorum(voters=3, observers=1, rules=RULES._replace(zones={**ZONES, 4: "b"}, dead_after_ms=20_000))

    quorum.run(10)
    quorum.down = {key(2)}
    quorum.run(30)

    assert quorum.kinds == [("remove", 2), ("add", 4)]


def test_the_voter_that_died_first_is_removed_first() -> None:
    voters = (voter(1), voter(2), voter(3), voter(4, Health.DEAD, 20), voter(5, Health.DEAD, 10))

    step, _ = next_step(Situation(100, RULES, voters, ()))

    assert step is not None
    assert (step.kind, step.key) == (Kind.REMOVE, key(5))


def test_a_node_that_is_back_comes_before_a_spare_and_a_ghost_last() -> None:
    voters = (voter(1), voter(2), voter(3, Health.DEAD))

    back, _ = next_step(Situation(100, RULES, voters, (spare(3, directory=2), spare(4)), gone=(9,)))
    grows, _ = next_step(Situation(100, RULES, voters[:2], (spare(4),), gone=(9,)))

    assert back is not None
    assert grows is not None
    assert back.reason.startswith("node 3 is back")
    assert (grows.kind, grows.key) == (Kind.ADD, key(4))


def test_an_observer_without_an_endpoint_becomes_no_voter() -> None:
    step, _ = next_step(Situation(100, RULES, (voter(1), voter(2)), (spare(4, endpoints=()),)))

    assert step is None
