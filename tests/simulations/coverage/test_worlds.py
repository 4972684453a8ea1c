"""The counts of one world, and their sums over many."""

from __future__ import annotations

from simulations.coverage.worlds import Worlds
from simulations.outcomes.outcome import Outcome
from simulations.plans.cluster_plan import ClusterPlan
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft import level as raft_level


def test_the_counts_of_a_world_are_correct() -> None:
    found = Worlds()
    faults = [Fault("kill", {"whom": "leader", "down_ms": 300}, at_ms=500), Fault("bridge", {"whom": 9, "for_ms": 1})]
    plan = Plan(1, chaos_ms=4000, load=Load(every_ms=50), recovery=RecoveryPlan([1, 2, 3]), faults=faults)

    outcome, _ = raft_level.play(plan, counts=True)
    found.add(plan, outcome)

    seen = outcome.seen
    assert (found.count, found.mixed, dict(found.struck), found.seen) == (1, 0, {"kill": 1}, seen)
    assert seen["roles: Prospective, Candidate, Leader"] == 2 == outcome.epochs
    assert seen["cell: Leader, Fetch, records"] > seen["cell: Unattached, Begin, taken"] > 0
    assert seen["cell: Follower, FetchAnswer, records"] > 20
    assert seen["actions: BecomeLeader, HandleClientRequest"] == 2
    assert seen["moment: a leader starts as one that resigned"] == 1
    assert "cell: Resigned, End, taken" not in seen
    assert found.strange() == []
    assert found.notes == outcome.notes


def test_counting_does_not_change_the_trace() -> None:
    plan = raft_level.draw(4)

    plain, _ = raft_level.play(plan)
    counted, _ = raft_level.play(plan, counts=True)

    assert counted.trace_hash == plain.trace_hash
    assert plain.seen == {}


def test_unseen_items_are_listed_by_category() -> None:
    found = Worlds()
    found.add(Plan(1), Outcome(1, seen={"cell: Leader, Fetch, records": 3, "cell: Leader, Fetch, bytes": 1}))

    unseen = {of: (names, total) for of, names, total in found.unseen()}

    assert list(unseen) == ["cell", "roles", "actions", "moment", "moment of controllers"]
    names, total = unseen["cell"]
    assert len(names) == total - 1
    assert "cell: Leader, Fetch, records" not in names
    assert found.strange() == ["cell: Leader, Fetch, bytes"]


def test_worlds_with_several_releases_are_counted_separately() -> None:
    found = Worlds()

    found.add(Plan(1, releases={1: "4.0", 2: "4.0", 3: "4.0"}), Outcome(1))
    found.add(Plan(1, releases={1: "4.0"}), Outcome(1))
    found.add(Plan(1), Outcome(1, fired={"release": 1, "kill": 1}))
    found.add(ClusterPlan(1, broker_releases={102: "4.1"}), Outcome(1))
    found.add(ClusterPlan(1), Outcome(1, fired={"level_up": 1}))

    assert (found.count, found.mixed) == (5, 4)
