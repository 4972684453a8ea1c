"""Targeted plans of the members level: for each kind of change, the sequence of events in which a wrong rule shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.faults.table import make_isolation, often, pick
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft.swarm import QUICK
from simulations.raft.targeted_plans import turn
from simulations.world.streams import between, stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

EVERY = 4
"""One of this many seeds has a targeted plan; they take turns."""

CHAOS_MS = 4_000
SLOW_US = 1_000  # latencies up to more than this are large ones


def draw(seed: int) -> Plan | None:
    """The targeted plan of a seed; None where it has none."""
    name = turn(seed, EVERY, TARGETED_PLANS)
    if not name:
        return None
    rng = stream(seed, "members", "aim", name)
    plan = Plan(seed, chaos_ms=CHAOS_MS, config=dict(QUICK.config), kraft_version=1, observers=1)
    plan.latency = pick(rng, ([100, 200, 0.0, 0], [200, 600, 0.0, 0], [500, 20_000, 0.0, 0]))
    plan.pace = pick(rng, ([100, 300, 0.0, 0], [1_000, 8_000, 0.0, 0]))
    plan.codec = rng.random() < 0.5
    plan.load = Load(every_ms=pick(rng, (5, 20)), asks=30)
    TARGETED_PLANS[name](rng, plan)
    plan.recovery = RecoveryPlan(plan.ids, quiet=rng.random() < 0.5)
    return plan


def _add(**args: Any) -> Fault:
    return Fault("add_voter", {"whom": "observer", "ack": True, "tries": 5, "wait_ms": 30, "twice": False, **args})


def _remove(whom: int | str, **args: Any) -> Fault:
    return Fault("remove_voter", {"whom": whom, "tries": 5, "wait_ms": 30, "twice": False, **args})


def _cut_off(rng: Random, plan: Plan) -> None:
    """Leaders append voter sets while they are cut off: these sets are truncated, and other leaders append others."""
    plan.voters = pick(rng, (3, 3, 2, 4))
    for at_ms in range(between(rng, 200, 500), plan.chaos_ms, 700):
        cut, changes = make_isolation(rng, "leader", 300, 600), [_add(tries=1), _remove(pick(rng, plan.ids), tries=1)]
        rng.shuffle(changes)
        cut.at_ms = at_ms
        for place, change in enumerate((*changes, _add())):
            change.at_ms = at_ms + between(rng, 1, 40) + place * pick(rng, (1, 30, 250))
        plan.faults += [cut, *changes]
        late = pick(rng, (_add(), _remove("follower")))
        late.at_ms = at_ms + between(rng, 300, 500)
        plan.faults.append(late)


def _new_leaders(rng: Random, plan: Plan) -> None:
    """Changes are asked of leaders that have just been elected, and may have committed nothing of their epochs."""
    plan.voters = pick(rng, (3, 4, 4))
    plan.faults += often(rng, plan.chaos_ms, 400, lambda: Fault("resign", {"whom": "leader"}))
    for _ in range(12):
        change = pick(rng, (_add(tries=2), _remove("leader", tries=2), _remove("follower", tries=2)))
        change.on, change.nth = pick(rng, ("after:SaveElection", "before:LeaderChanged")), pick(rng, (1, 1, 2, 3))
        change.role, change.at_ms = "Leader", between(rng, 100, plan.chaos_ms - 300)
        plan.faults.append(change)
    plan.faults += often(rng, plan.chaos_ms, 600, lambda: make_isolation(rng, "leader", 100, 500))


def _remove_leaders(rng: Random, plan: Plan) -> None:
    """Leaders are removed, also the one of two, and die at any point of it; they join again by themselves or not."""
    plan.voters = pick(rng, (2, 2, 3, 3))
    plan.config["auto_join"] = rng.random() < 0.5
    for at_ms in range(between(rng, 300, 600), plan.chaos_ms - 300, 600):
        change = _remove("leader", tries=pick(rng, (1, 8)))
        change.at_ms = at_ms
        back = _add(tries=8)
        back.at_ms = at_ms + between(rng, 150, 400)
        plan.faults += [change, back]
        if rng.random() < 0.4:  # so that the new set has no majority while the leader can be reached
            cut = make_isolation(rng, "follower", 400, 700)
            cut.at_ms = at_ms - 10
            plan.faults.append(cut)
        if rng.random() < 0.6:
            points = (
                "after:Append",
                "before:HighWatermark",
                "after:HighWatermark",
                "after:SaveElection",
                "before:Send",
            )
            plan.faults.append(Fault(
                pick(rng, ("kill", "power", "isolate")), {"whom": "struck", "down_ms": pick(rng, (1, 20, 200))},
                at_ms=at_ms, on=pick(rng, points), nth=pick(rng, (1, 1, 2)), role="Leader",
            ))  # fmt: skip
    for fault in plan.faults:
        if fault.kind == "isolate":
            fault.args = {"whom": "struck", "direction": "both", "for_ms": between(rng, 100, 500)}


def _replace_disks(rng: Random, plan: Plan) -> None:
    """Voters get empty disks one after the other, and leaders are cut off meanwhile."""
    plan.voters = pick(rng, (3, 3, 5))
    plan.config["auto_join"] = rng.random() < 0.4
    plan.snapshot_every = pick(rng, (0, 5))
    plan.faults += often(rng, plan.chaos_ms, 500, lambda: Fault("replace_voter", {
        "whom": pick(rng, (*plan.voter_ids, "follower", "leader")), "down_ms": pick(rng, (1, 50, 300)), "tries": 20,
        "wait_ms": 40,
    }))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: make_isolation(rng, "leader", 200, 700))


def _move_voters(rng: Random, plan: Plan) -> None:
    """Voters restart at other addresses, and leaders change before and after they have told so."""
    plan.voters = pick(rng, (3, 3, 2, 5))
    plan.faults += often(rng, plan.chaos_ms, 500, lambda: Fault(
        "rename_voter", {"whom": pick(rng, (*plan.voter_ids, "leader")), "down_ms": pick(rng, (1, 20, 100))},
    ))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 500, lambda: Fault("resign", {"whom": "leader"}))
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: make_isolation(rng, "leader", 100, 500))


def _raise_version(rng: Random, plan: Plan) -> None:
    """kraft.version is raised between elections and crashes; voters are changed at once after it."""
    plan.kraft_version = 0
    plan.voters = pick(rng, (2, 3, 3))
    plan.faults += often(rng, plan.chaos_ms, 200, lambda: Fault("raise_version", {}))
    plan.faults += often(rng, plan.chaos_ms, 700, lambda: make_isolation(rng, "leader", 200, 500))
    plan.faults += often(rng, plan.chaos_ms, 600, _add)
    plan.faults += often(rng, plan.chaos_ms, 700, lambda: _remove(pick(rng, ("leader", "follower"))))


def _behind(rng: Random, plan: Plan) -> None:
    """Nodes that lag, or that have just a snapshot, are added, and snapshots are taken around changes."""
    plan.voters = pick(rng, (1, 2, 3))
    plan.observers = 2
    plan.config |= {"retention_bytes_max": 500, "clean_interval_ms": 60}
    plan.snapshot_every, plan.snapshot_padding = pick(rng, (3, 6)), 40
    parts = pick(rng, (150, 1 << 20))
    # With such latencies a snapshot of many parts would be deleted each time before its last part is fetched.
    plan.config["fetch_snapshot_bytes_max"] = 1 << 20 if plan.latency[1] > SLOW_US else parts
    plan.faults += often(rng, plan.chaos_ms, 250, lambda: _add(whom=pick(rng, plan.ids)))
    plan.faults += often(rng, plan.chaos_ms, 450, lambda: _remove(pick(rng, plan.ids)))
    plan.faults += often(rng, plan.chaos_ms, 500, lambda: Fault(
        "isolate", {"whom": pick(rng, plan.ids), "direction": "both", "for_ms": between(rng, 100, 400)},
    ))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 600, lambda: Fault("kill", {"whom": pick(rng, plan.ids), "down_ms": 20}))


TARGETED_PLANS: dict[str, Callable[[Random, Plan], None]] = {
    "cut-off": _cut_off,
    "new-leaders": _new_leaders,
    "leaders-removed": _remove_leaders,
    "disks-replaced": _replace_disks,
    "moved": _move_voters,
    "raised": _raise_version,
    "behind": _behind,
}
