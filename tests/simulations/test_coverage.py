"""What worlds came to is counted as it was."""

from __future__ import annotations

from simulations.coverage import Coverage
from simulations.plans import Calm, Fault, Load, Plan
from simulations.runs import Run


def test_a_world_is_counted_as_it_was() -> None:
    found = Coverage()
    faults = [Fault("kill", {"whom": "leader", "down_ms": 300}, at_ms=500), Fault("bridge", {"whom": 9, "for_ms": 1})]
    plan = Plan(1, chaos_ms=4000, load=Load(every_ms=50), calm=Calm([1, 2, 3]), faults=faults)

    outcome = Run(plan, found.feed).execute()
    found.end(outcome)

    assert (found.worlds, dict(found.struck)) == (1, {"kill": 1})
    assert found.transitions["Candidate", "Leader"] == 2 == outcome.epochs
    assert found.transitions["Prospective", "Candidate"] == 2
    assert found.pairs["Prospective", "Candidate", "Leader"] == 2
    assert found.taken["Leader", "Fetch"] > found.taken["Follower", "Begin"] > 0
    assert found.answers["FetchAnswer", "fine"] > 20
    assert found.notes == outcome.notes
    assert ("Leader", "Resigned") in found.unseen_transitions()
    assert ("Leader", "Fetch") not in found.unseen_requests()
    assert ("Resigned", "End") in found.unseen_requests()
