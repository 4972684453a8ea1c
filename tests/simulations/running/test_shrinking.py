"""A shrunk plan has what the violation needs, and no more."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from simulations.outcomes.outcome import Outcome
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft.level import play
from simulations.raft.simplification import simpler
from simulations.raft.small_schedules import tiny
from simulations.running.shrinking import Shrinker

if TYPE_CHECKING:
    from collections.abc import Callable

AMID = RecoveryPlan(skipped=True)


def needs(*kinds: str) -> Plan:
    """A plan of twenty faults, these among them."""
    faults = [Fault("reset", {"whom": 1}, at_ms=137 * place) for place in range(20)]
    for place, kind in enumerate(kinds):
        faults[3 + 7 * place] = Fault(kind, {"whom": 1, "down_ms": 1234}, at_ms=1000 + place)
    return Plan(1, observers=1, late_answers=True, load=Load(every_ms=10, size=700), faults=faults)


def broken_where(holds: Callable[[Plan], bool], at_ms: int = 4999) -> Callable[[Plan], Outcome]:
    """A level at which a property is violated if this condition holds, at that time."""
    return lambda plan: Outcome(plan.seed, "S01" if holds(plan) else "", at_us=at_ms * 1000)


def test_only_the_faults_that_are_needed_remain() -> None:
    play_this = broken_where(lambda plan: {"kill", "power"} <= {fault.kind for fault in plan.faults})
    shrinker = Shrinker(play_this, "S01", simpler)

    small = shrinker.shrink(needs("kill", "power"))

    assert small.faults == [
        Fault("kill", {"whom": 1, "down_ms": 1200}, at_ms=1000),
        Fault("power", {"whom": 1, "down_ms": 1200}, at_ms=1000),
    ]  # fmt: skip
    assert (small.observers, small.late_answers, small.load, small.voters) == (0, False, Load(), 1)
    assert (small.noise_ms, small.recovery) == ([0, 0], RecoveryPlan([1]))
    assert shrinker.runs < 150


def test_faults_after_the_violation_are_cut_off() -> None:
    small = Shrinker(broken_where(lambda _plan: True, at_ms=3000), "S01", lambda _plan: ()).shrink(needs())

    assert (small.chaos_ms, small.faults, small.noise_ms) == (3001, [], [0, 0])


def test_noise_remains_where_it_is_needed() -> None:
    def holds(plan: Plan) -> bool:
        begin, end = plan.noise_ms or (0, 10_000)
        return begin <= 700 and end > 720

    small = Shrinker(broken_where(holds), "S01", lambda _plan: ()).shrink(needs())

    assert small.noise_ms == [700, 721]
    assert len(small.noise_of) == 1, "any one will do"


def test_noise_remains_only_on_the_links_that_need_it() -> None:
    def holds(plan: Plan) -> bool:
        return plan.noise_ms != [0, 0] and (not plan.noise_of or {"disk 2", "link 1 3"} <= set(plan.noise_of))

    small = Shrinker(broken_where(holds), "S01", lambda _plan: ()).shrink(needs())

    assert small.noise_of == ["disk 2", "link 1 3"]


def test_a_plan_that_violates_another_property_is_rejected() -> None:
    plan = needs("kill")

    shrinker = Shrinker(lambda other: Outcome(1, "S01" if other == plan else "S02"), "S01", simpler)

    assert shrinker.shrink(plan) == plan


def test_it_ends_when_its_runs_or_its_time_are_spent() -> None:
    by_runs = Shrinker(broken_where(lambda _plan: True), "S01", simpler, runs_max=5)
    by_time = Shrinker(broken_where(lambda _plan: True), "S01", simpler, cpu_s_max=-1.0)

    by_runs.shrink(needs("kill"))
    by_time.shrink(needs("kill"))

    assert (by_runs.runs, by_time.runs) == (5, 0)


def test_only_a_world_with_noise_has_decisions_to_count() -> None:
    def decisions(*window: int) -> int:
        return play(Plan(3, chaos_ms=1000, recovery=AMID, noise_ms=list(window)))[0].decisions

    assert decisions() == -1
    assert decisions(0, 0) == 0
    assert 0 < decisions(0, 200) < decisions(0, 1000)
    one_disk = Plan(3, chaos_ms=1000, recovery=AMID, noise_ms=[0, 1000], noise_of=["disk 1"])
    assert 0 < play(one_disk)[0].decisions < decisions(0, 1000)


def test_noise_without_an_end_equals_noise_that_is_not_bounded() -> None:
    hashes = {
        play(Plan(3, chaos_ms=500, recovery=AMID, noise_ms=window))[0].trace_hash for window in ([], [0, 1_000_000])
    }

    assert len(hashes) == 1


def test_timeouts_are_left_out_together() -> None:
    plan = Plan(1, config={"fetch_timeout_ms": 200, "fetch_wait_max_ms": 50, "append_linger_ms": 5})

    configs = [other.config for other in simpler(plan) if other.config != plan.config]

    assert configs == [{}, {"fetch_timeout_ms": 200, "fetch_wait_max_ms": 50}, {"append_linger_ms": 5}]


def test_a_small_schedule_replaces_much_noise() -> None:
    held = Fault("hold", {"name": "Vote", "sender": 1, "for_ms": 80}, at_ms=100)

    def play_this(plan: Plan) -> Outcome:
        is_noisy = plan.noise_ms != [0, 0]
        return Outcome(
            plan.seed, "S01" if is_noisy or held in plan.faults else "", at_us=150_000, decisions=9 * is_noisy
        )

    def tried(plan: Plan) -> list[Plan]:
        silent = replace(plan, noise_ms=[0, 0], noise_of=[], chaos_ms=700)
        return [replace(silent, faults=[Fault("reset", {"whom": 1})]), replace(silent, faults=[held])]

    small = Shrinker(play_this, "S01", lambda _plan: (), tiny=tried).shrink(needs())

    assert (small.faults, small.noise_ms, small.chaos_ms) == ([held], [0, 0], 151)


def test_small_schedules_are_deterministic() -> None:
    plan = Plan(7, load=Load(every_ms=1000))

    first, again = (list(islice(tiny(plan), 6)) for _ in range(2))

    assert first == again
    assert [len(each.faults) for each in first] == [2, 1, 2, 1, 2, 1]
    assert {(each.load.every_ms, *each.noise_ms) for each in first} == {(20, 0, 0)}
