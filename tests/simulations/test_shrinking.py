"""What is left of a plan is what it takes, and no more."""

from __future__ import annotations

from simulations.plans import Fault, Load, Plan
from simulations.shrinking import Shrinker, plainer


def needs(*kinds: str) -> Plan:
    """A plan of twenty faults, these among them."""
    faults = [Fault("reset", {"whom": 1}, at_ms=137 * place) for place in range(20)]
    for place, kind in enumerate(kinds):
        faults[3 + 7 * place] = Fault(kind, {"whom": 1, "down_ms": 1234}, at_ms=1000 + place)
    return Plan(1, observers=1, late_answers=True, load=Load(every_ms=10, size=700), faults=faults)


def test_only_the_faults_that_it_takes_are_left() -> None:
    def is_broken(plan: Plan) -> bool:
        return {"kill", "power"} <= {fault.kind for fault in plan.faults}

    shrinker = Shrinker(is_broken, plainer)

    small = shrinker.shrink(needs("kill", "power"))

    assert small.faults == [
        Fault("kill", {"whom": 1, "down_ms": 1200}, at_ms=1000),
        Fault("power", {"whom": 1, "down_ms": 1200}, at_ms=1000),
    ]  # fmt: skip
    assert (small.observers, small.late_answers, small.load, small.voters) == (0, False, Load(), 1)
    assert shrinker.runs < 150


def test_a_plan_that_cannot_be_smaller_stays() -> None:
    plan = Plan(1, chaos_ms=150)

    assert Shrinker(lambda other: other == plan, plainer).shrink(plan) == plan


def test_it_ends_when_its_runs_are_spent() -> None:
    shrinker = Shrinker(lambda _plan: True, plainer, runs_max=5)

    shrinker.shrink(needs("kill"))

    assert shrinker.runs == 5
