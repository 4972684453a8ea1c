"""Targeted plans, which every tenth seed of the raft level has instead of a plan of the swarm.

A swarm seldom makes several uncommon events happen in a row at the right moment: a power loss while two files are new,
a process that dies while it resets its log, a voter with an empty disk that is asked for its vote. A targeted plan sets
up a quorum in which such a sequence is always about to happen, and draws time, node and details at random.

Adding a targeted plan changes the plans of all seeds that have one, and their stored kills have to be found again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.faults.table import make_isolation, often, pick
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft.swarm import DYNAMIC_SHARE, QUICK
from simulations.world.streams import between, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

EVERY = 10
"""One of this many seeds has a targeted plan; the targeted plans take turns."""

CHAOS_MS = 3_000

# The log before a snapshot is deleted at once.
_CLEANED = {"retention_bytes_max": 500, "clean_interval_ms": 60}


def turn(seed: int, every: int, targeted_plans: Mapping[str, object]) -> str:
    """The name of the targeted plan of a seed; empty where it has none."""
    return "" if seed % every else list(targeted_plans)[seed // every % len(targeted_plans)]


def draw(seed: int) -> Plan | None:
    """The targeted plan of a seed; None where it has none."""
    name = turn(seed, EVERY, TARGETED_PLANS)
    return of(name, seed) if name else None


def of(name: str, seed: int) -> Plan:
    """The targeted plan with this name."""
    rng = stream(seed, "aim", name)
    plan = Plan(seed, chaos_ms=CHAOS_MS, config=dict(QUICK.config))
    plan.latency = pick(rng, ([100, 200, 0.0, 0], [200, 600, 0.0, 0], [500, 20_000, 0.0, 0]))
    plan.pace = pick(rng, ([100, 300, 0.0, 0], [1_000, 8_000, 0.0, 0], [100, 500, 0.01, 2_000_000]))
    plan.codec = rng.random() < 0.5
    plan.journal = rng.random() < 0.4
    plan.kraft_version = int(rng.random() < DYNAMIC_SHARE)
    plan.load = Load(every_ms=5)
    if rng.random() < 0.1:
        plan.releases = {node_id: pick(rng, ("3.9", "4.0", "4.0", "4.4")) for node_id in plan.ids}
        plan.codec = True
    is_quiet = rng.random() < 0.5
    TARGETED_PLANS[name](rng, plan)
    plan.recovery = RecoveryPlan(plan.voter_ids, quiet=is_quiet)
    return plan


def _ends(rng: Random, points: Sequence[str]) -> Fault:
    """A follower that reaches one of these points dies there and soon restarts."""
    return Fault(
        pick(rng, ("kill", "power", "power")), {"whom": "struck", "down_ms": pick(rng, (1, 10, 20, 100))},
        on=pick(rng, points), nth=pick(rng, (1, 1, 2, 3, 6)), role="Follower",
    )  # fmt: skip


def _new_segments(rng: Random, plan: Plan) -> None:
    """Segments hold a few batches, disks are so slow that several are new at once, and machines lose power."""
    plan.journal = rng.random() < 0.2
    plan.segment_bytes = pick(rng, (300, 300, 700))
    plan.pace = [5_000, 30_000, 0.0, 0]
    points = ("disk:create:log", "disk:sync:names", "disk:sync:log", "after:Append")
    plan.faults += often(rng, plan.chaos_ms, 500, lambda: Fault("power", {"whom": pick(rng, plan.ids), "down_ms": 20}))
    plan.faults += often(rng, plan.chaos_ms, 500, lambda: Fault(
        "power", {"whom": "struck", "down_ms": 20}, on=pick(rng, points), nth=pick(rng, (1, 1, 2, 3)),
    ))  # fmt: skip


def _begin_anew(rng: Random, plan: Plan) -> None:
    """A follower has fallen so far behind that it takes a snapshot, and dies while it resets its log."""
    plan.config |= _CLEANED
    plan.snapshot_every, plan.snapshot_padding = 4, pick(rng, (40, 400))
    plan.config["fetch_snapshot_bytes_max"] = pick(rng, (150, 1 << 20))
    points = (
        "before:ResetLog", "before:ResetLog", "after:ResetLog", "input:SnapshotStored", "disk:rename:deleted",
        "disk:create:log", "disk:rename:snapshot", "disk:sync:names",
    )  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 600, lambda: make_isolation(rng, "follower", 250, 500))
    plan.faults += often(rng, plan.chaos_ms, 350, lambda: _ends(rng, points))


def _lose_snapshots(rng: Random, plan: Plan) -> None:
    """Logs start after a snapshot, and snapshots get lost."""
    plan.config |= _CLEANED
    plan.snapshot_every, plan.snapshot_padding = 4, 400
    plan.faults += often(rng, plan.chaos_ms, 250, lambda: Fault(
        "lose_snapshot", {"whom": pick(rng, plan.ids), "down_ms": 10},
    ))  # fmt: skip


def _cut_back(rng: Random, plan: Plan) -> None:
    """Isolated leaders append to small segments, and die as followers while these appends are truncated."""
    plan.journal = rng.random() < 0.2
    plan.segment_bytes = 300
    plan.pace = [1_000, 8_000, 0.0, 0]
    plan.snapshot_every = pick(rng, (0, 3))
    plan.load = Load(every_ms=3, records=3, size=100)
    points = ("disk:sync:names", "disk:sync:names", "disk:sync:names", "disk:rename:deleted")
    plan.faults += often(rng, plan.chaos_ms, 400, lambda: make_isolation(rng, "leader", 250, 350))
    plan.faults += often(rng, plan.chaos_ms, 250, lambda: _ends(rng, points))


def _empty_disk(rng: Random, plan: Plan) -> None:
    """A voter has an empty disk, and so another directory id, when it is needed for an election."""
    plan.kraft_version = 1
    plan.load = Load(every_ms=pick(rng, (0, 100, 200)))
    emptied = pick(rng, plan.voter_ids)
    # Repeated until it is safe (all others must have its data); it strikes once in a world.
    plan.faults += often(rng, plan.chaos_ms // 2, 200, lambda: Fault("wipe", {"whom": emptied, "down_ms": 10}))
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: make_isolation(rng, "leader", 500, 900))


def _resigning(rng: Random, plan: Plan) -> None:
    """Leaders resign while fetches wait for infrequent writes, and some answers arrive late."""
    plan.late_answers = rng.random() < 0.5
    plan.config["high_watermark_delay_ms"] = 5
    plan.latency = pick(rng, ([200, 800, 0.02, 1_000_000], [200, 600, 0.0, 0]))
    plan.load = Load(every_ms=40, records=10, size=700, asks=30, rogue_ms=20)
    plan.faults += often(rng, plan.chaos_ms, 300, lambda: Fault("resign", {"whom": "leader"}))


def _depose(rng: Random, plan: Plan) -> None:
    """A suspended leader is asked to confirm its leadership after another was elected, and gets a delayed Fetch."""
    plan.config["request_timeout_ms"] = 1_000
    plan.load = Load(every_ms=5, asks=60)
    for at_ms in range(between(rng, 300, 600), plan.chaos_ms, 900):
        ids = list(plan.voter_ids)
        rng.shuffle(ids)
        stood_ms, behind_ms = between(rng, 300, 500), pick(rng, (3, 15, 15, 30))
        held = {"name": "Fetch", "sender": ids[0], "for_ms": stood_ms + between(rng, 20, 100)}
        parted = {"whom": ids[1], "other": "leader", "direction": "both", "for_ms": 700}
        plan.faults += [
            Fault("hold", held, at_ms=at_ms),
            Fault("part", parted, at_ms=at_ms + behind_ms),
            Fault("suspend", {"whom": "leader", "for_ms": stood_ms}, at_ms=at_ms + behind_ms),
        ]


def _in_lockstep(rng: Random, plan: Plan) -> None:
    """Nodes differ only in their own random numbers; most or all do not support pre-votes."""
    plan.voters = pick(rng, (2, 2, 4, 4, 3))
    plan.noise_ms = [0, 0]
    plan.releases = dict.fromkeys(plan.ids if rng.random() < 0.7 else plan.ids[1:], "3.9")
    plan.codec = True
    plan.load.rogue_ms = 50
    down_ms = between(rng, 1, 400)
    for at_ms in (0, 500, 1_500)[: between(rng, 0, 3)]:
        plan.faults.append(Fault("everybody", {"how": "kill", "down_ms": [down_ms] * plan.voters}, at_ms=at_ms))


def _rotten(rng: Random, plan: Plan) -> None:
    """Bits rot in the logs of a minority, whose nodes then restart."""
    plan.voters = pick(rng, (3, 3, 5))
    plan.cache_bytes = 3_000
    plan.load = Load(every_ms=10)
    rotten = list(plan.voter_ids)
    rng.shuffle(rotten)
    for at_ms in range(between(rng, 100, 300), plan.chaos_ms, 300):
        whom = pick(rng, rotten[: plan.voters // 2])
        place, bit = between(rng, 0, 999), between(rng, 0, 7)
        plan.faults += [
            Fault("rot", {"file": "log", "whom": whom, "place": place, "bit": bit}, at_ms=at_ms),
            Fault("kill", {"whom": whom, "down_ms": 10}, at_ms=at_ms + 1),
        ]


def _failing_disks(rng: Random, plan: Plan) -> None:
    """Disk operations fail now and then, mostly syncs, and machines lose power while the process resigns, or later."""
    plan.segment_bytes = pick(rng, (1 << 30, 3_000))
    plan.load = Load(every_ms=10, size=100)
    for at_ms in range(between(rng, 100, 400), plan.chaos_ms - 100, 400):
        whom = pick(rng, plan.ids)
        operation, file = pick(rng, (("sync", ""), ("sync", "log"), ("write", "log"), ("sync", "election")))
        later_ms = between(rng, *pick(rng, ((1, 60), (150, 390))))
        plan.faults += [
            Fault("fails", {"whom": whom, "operation": operation, "file": file, "code": "EIO"}, at_ms=at_ms),
            Fault("power", {"whom": whom, "down_ms": 20}, at_ms=at_ms + later_ms),
        ]


def _lose_sectors(rng: Random, plan: Plan) -> None:
    """Sectors of the log of one voter read as zeros, among records that have been committed for a while."""
    plan.voters = pick(rng, (3, 3, 5))
    plan.pace = [100, 300, 0.0, 0]
    plan.chaos_ms = 4_000
    plan.load = Load(every_ms=between(rng, 60, 120))  # so few bytes that they alone do not have the prefix written
    whom, place = pick(rng, plan.voter_ids), between(rng, 300, 999)
    at_ms = between(rng, 300, 1_400)
    plan.faults = [Fault("lost_sector", {"whom": whom, "place": place, "down_ms": 10}, at_ms=at_ms)]


TARGETED_PLANS: dict[str, Callable[[Random, Plan], None]] = {
    "new-segments": _new_segments,
    "begun-anew": _begin_anew,
    "snapshots-lost": _lose_snapshots,
    "cut-back": _cut_back,
    "emptied": _empty_disk,
    "resigning": _resigning,
    "deposed": _depose,
    "in-lockstep": _in_lockstep,
    "rotten": _rotten,
    "failing-disks": _failing_disks,
    "sectors-lost": _lose_sectors,
}
