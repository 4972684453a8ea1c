"""`bench`: how fast worlds run, in CPU time of one process."""

from __future__ import annotations

import sys
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from simulations.commands.arguments import positive
from simulations.running.progress import Progress
from simulations.running.tasks import Task
from simulations.running.workers import rows

if TYPE_CHECKING:
    import argparse

    from simulations.plans.plan import Plan

SAYS = "measure messages and simulated seconds per second of CPU"
TIMES = 5


class Measure(NamedTuple):
    """What is measured. goal: messages and simulated seconds per second of CPU; None where there is no goal."""

    name: str
    level: str
    what: str
    goal: tuple[int, int] | None = None


class Speed(NamedTuple):
    """Per second of CPU; medians."""

    messages: float
    simulated_s: float


MEASURES = (
    Measure("raft", "raft", "3 voters, codec, writes each 100 ms (G10)", (20_000, 100)),
    Measure("raft-idle", "raft", "the same, no writes"),
    Measure(
        "cluster",
        "controller",
        "3 controllers, 5 brokers, 4 clients that ask three times a second, codec (G11)",
        (4_000, 20),
    ),
    Measure("cluster-busy", "controller", "the same at the pace of the swarm: everything several times as often"),
)


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(each.name for each in MEASURES)} (all)"
    )
    parser.add_argument(
        "--times", type=positive, default=TIMES, metavar="N", help=f"take the median of N runs ({TIMES})"
    )


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where every goal is reached, else 1."""
    known = {each.name: each for each in MEASURES}
    for name in args.names:
        if name not in known:
            raise ValueError(f"no measure {name!r}; known are {', '.join(known)}")
    chosen = [known[name] for name in args.names] or list(MEASURES)
    progress = Progress(len(chosen), "measures")
    short = 0
    for each in chosen:
        speed = measure(each, args.times)
        goal = ""
        if each.goal is not None:
            is_reached = speed.messages >= each.goal[0] and speed.simulated_s >= each.goal[1]
            short += not is_reached
            goal = f"; the goal is {each.goal[0]:,} and {each.goal[1]}: {'reached' if is_reached else 'NOT REACHED'}"
        progress.clear()
        sys.stdout.write(
            f"{each.name}: {speed.messages:,.0f} messages and {speed.simulated_s:.1f} simulated s per s of CPU"
            f" ({each.what}){goal}\n"
        )
        sys.stdout.flush()
        progress.add(1)
    return 1 if short else 0


def measure(what: Measure, times: int) -> Speed:
    """Run `times` worlds after a first one that is not counted, in one process."""
    from simulations.levels.table import load

    level = load(what.level)
    tasks = [Task((), what.level, plans=(level.show(_plan(what, seed)),)) for seed in range(times + 1)]
    speeds = []
    for row in rows(tasks, 1):
        if row.error or not row.outcomes[0].is_well:
            raise ValueError(f"{what.name} could not be run: {row.error or row.outcomes[0].text}")
        (outcome,) = row.outcomes
        speeds.append(Speed(outcome.messages / row.cpu_s, outcome.at_us / 1_000_000 / row.cpu_s))
    counted = speeds[1:]
    return Speed(median(each.messages for each in counted), median(each.simulated_s for each in counted))


def _plan(what: Measure, seed: int) -> Plan:
    """A plan without faults. All but `cluster-busy` have Kafka's own timeouts and intervals."""
    from simulations.plans.cluster_plan import ClusterPlan
    from simulations.plans.plan import Load, Plan, RecoveryPlan

    recovery = RecoveryPlan([1, 2, 3])
    if what.level == "raft":
        return Plan(seed, chaos_ms=30_000, load=Load(every_ms=100 if what.name == "raft" else 0), recovery=recovery)
    plan = ClusterPlan(seed, chaos_ms=30_000, brokers=5, admins=4, load=Load(every_ms=0), recovery=recovery)
    if what.name == "cluster":
        plan.ask_every_ms, plan.lead_every_ms, plan.fetch_wait_ms = 333, 500, 500
        plan.session_ms, plan.heartbeat_ms = 9000, 2000
        plan.properties["metadata.max.idle.interval.ms"] = "500"
    return plan
