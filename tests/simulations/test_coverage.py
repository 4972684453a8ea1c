"""What worlds came to is counted as it was."""

from __future__ import annotations

from simulations.cluster.plan import ClusterPlan
from simulations.coverage import Coverage
from simulations.outcome import Outcome
from simulations.plans import Calm, Fault, Load, Plan
from simulations.runs import Run


def test_a_world_is_counted_as_it_was() -> None:
    found = Coverage()
    faults = [Fault("kill", {"whom": "leader", "down_ms": 300}, at_ms=500), Fault("bridge", {"whom": 9, "for_ms": 1})]
    plan = Plan(1, chaos_ms=4000, load=Load(every_ms=50), calm=Calm([1, 2, 3]), faults=faults)

    outcome = Run(plan, found.feed).execute()
    found.end(plan, outcome)

    assert (found.worlds, found.mixed, dict(found.struck)) == (1, 0, {"kill": 1})
    assert found.transitions["Candidate", "Leader"] == 2 == outcome.epochs
    assert found.transitions["Prospective", "Candidate"] == 2
    assert found.pairs["Prospective", "Candidate", "Leader"] == 2
    assert found.taken["Leader", "Fetch"] > found.taken["Follower", "Begin"] > 0
    assert found.answers["FetchAnswer", "fine"] > 20
    assert found.notes == outcome.notes
    assert ("Leader", "Resigned") in found.unseen_transitions()
    assert ("Leader", "Fetch") not in found.unseen_requests()
    assert ("Resigned", "End") in found.unseen_requests()


def test_a_world_of_old_and_new_software_is_told_from_others() -> None:
    found = Coverage()

    found.end(Plan(1, releases={1: "4.0", 2: "4.0", 3: "4.0"}), Outcome(1))
    found.end(Plan(1, releases={1: "4.0"}), Outcome(1))
    found.end(Plan(1), Outcome(1, fired={"release": 1, "kill": 1}))
    found.end(ClusterPlan(1, broker_releases={102: "4.1"}), Outcome(1))
    found.end(ClusterPlan(1), Outcome(1, fired={"level_up": 1}))

    assert (found.worlds, found.mixed) == (5, 4)
