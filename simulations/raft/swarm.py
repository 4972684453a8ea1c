"""Random plans, drawn as swarms: each has a few kinds of faults and a few sizes of its own, and one in ten has no
fault.

A plan that does a few kinds of things again and again finds more than a plan with a little of everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.faults.table import KINDS, Scale, pick
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.world.streams import between, stream
from simulations.world.triggers import STATES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

# Points of a node at which a fault may strike: around saves, messages and notifications, and within writes.
POINTS = (
    "before:SaveElection", "after:SaveElection", "input:Saved", "before:Append", "after:Append", "input:Flushed",
    "before:HighWatermark", "after:HighWatermark", "before:Reply", "after:Reply", "before:ReplyRecords",
    "after:ReplyRecords", "before:Send", "after:Send", "before:Truncate", "after:Truncate", "before:ResetLog",
    "after:ResetLog", "after:AdvanceLogStart", "before:DeleteSnapshot", "after:DeleteSnapshot",
    "after:WriteSnapshotPart", "before:FreezeSnapshot", "after:FreezeSnapshot", "input:SnapshotStored",
    "input:SnapshotTaken", "input:PartWritten", "before:LoadSnapshot", "after:LoadSnapshot", "before:LeaderChanged",
    "after:LeaderChanged", "before:SaveEpochs", "input:Requested", "input:Answered", "input:Failed", "input:Ticked",
    "input:Propose", "start", "disk", "disk:create", "disk:write:log", "disk:sync:log", "disk:truncate:log",
    "disk:write:election", "disk:sync:election", "disk:rename:election", "disk:sync:names", "disk:write:part",
    "disk:sync:part", "disk:rename:snapshot", "disk:protect", "disk:rename", "disk:remove", "disk:rename:epochs",
    "disk:rename:prefix", "disk:sync:prefix",
)  # fmt: skip

# The share of the plans with kraft.version 1: their voters are dynamic, and have directory ids (KIP-853).
DYNAMIC_SHARE = 0.34

# Kinds that are drawn separately: see `_draw_newer`, and those of the targeted plans alone.
APART = ("odd_answers",)
TARGETED = ("lost_sector",)

# Points that decide elections and commits, and are drawn more often.
_SHARP = (
    "after:SaveElection", "input:Saved", "after:Append", "input:Flushed", "after:HighWatermark", "after:Reply",
    "before:Reply", "after:ReplyRecords", "after:Send", "disk:sync:log", "disk:sync:election", "disk:sync:names",
)  # fmt: skip


class Pace(NamedTuple):
    """The speed of a quorum: with short timeouts more happens in the same time. chaos_ms, least and most; writes_ms:
    the choices for the interval of writes.
    """

    config: dict[str, int]
    chaos_ms: tuple[int, int]
    writes_ms: tuple[int, ...]


QUICK = Pace(
    {
        "election_timeout_ms": 100, "fetch_timeout_ms": 200, "request_timeout_ms": 200, "fetch_wait_max_ms": 50,
        "election_backoff_max_ms": 100, "first_election_timeout_ms": 30, "pre_vote_yield_ms": 20,
    },
    (1_500, 5_000),
    (0, 5, 10, 20, 40, 100),
)  # fmt: skip
_BRISK = Pace(
    {
        "election_timeout_ms": 300, "fetch_timeout_ms": 600, "request_timeout_ms": 600, "fetch_wait_max_ms": 150,
        "election_backoff_max_ms": 300,
    },
    (4_000, 12_000),
    (0, 15, 40, 100, 250),
)  # fmt: skip
_KAFKAS = Pace({}, (6_000, 20_000), (0, 40, 100, 250, 1000))
PACES = (QUICK, QUICK, QUICK, _BRISK, _BRISK, _KAFKAS)

# Long runs at Kafka's own timeouts.
LONG = (Pace({}, (20_000, 45_000), (0, 250, 250, 1000)),)

_STRIKES = ("kill", "power", "power", "pause", "isolate", "hang", "reset", "everybody")
_ROLES = ("Leader", "Leader", "Follower", "Candidate", "Prospective", "Unattached", "Resigned")


def draw(seed: int, paces: Sequence[Pace] = PACES) -> Plan:
    """The plan of a seed. paces: the paces to choose from."""
    rng = stream(seed, "plan")
    plan = Plan(seed)
    plan.voters = pick_weighted(rng, ((3, 62), (5, 14), (1, 8), (2, 8), (4, 8)))
    plan.observers = pick_weighted(rng, ((0, 76), (1, 18), (2, 6)))
    _draw_sizes(rng, plan, paces)
    _draw_surroundings(rng, plan)
    scale = Scale(plan.ids, plan.voter_ids, timeouts_ms(plan), plan.chaos_ms)
    if rng.random() >= 0.1:
        plan.faults = draw_faults(rng, scale)
    plan.recovery = _draw_recovery(rng, plan)
    _draw_newer(stream(seed, "plan", "newer"), plan, scale)
    plan.removes_quorum_state = stream(seed, "plan", "quorum-state").random() < 0.1
    return plan


def timeouts_ms(plan: Plan) -> list[int]:
    """The times around which durations are drawn: the protocol's timeouts, and how long a leader may stay alone."""
    config = plan.config
    fetch_ms = config.get("fetch_timeout_ms", 2000)
    return [
        config.get("election_timeout_ms", 1000), fetch_ms, fetch_ms * 3 // 2, config.get("request_timeout_ms", 2000),
        config.get("fetch_wait_max_ms", 500), 3 * fetch_ms,
    ]  # fmt: skip


def _draw_sizes(rng: Random, plan: Plan, paces: Sequence[Pace]) -> None:
    config = plan.config
    pace = pick(rng, paces)
    config.update(pace.config)
    plan.chaos_ms = between(rng, *pace.chaos_ms)
    if rng.random() < 0.3:
        config["pre_vote_on_lost_connection"] = False
    if rng.random() < 0.3:
        config["first_election_timeout_ms"] = pick(rng, (1, 20, 1000))
    if rng.random() < 0.2:
        config["append_linger_ms"] = pick(rng, (5, 25))
    if rng.random() < 0.4:
        config["high_watermark_delay_ms"] = pick(rng, (5, 30))
    if rng.random() < 0.3:
        config["fetch_bytes_max"] = pick(rng, (100, 400, 2000))
    if rng.random() < 0.7:
        plan.snapshot_every = pick(rng, (3, 10, 25, 60))
        plan.snapshot_padding = pick(rng, (0, 40, 300))
        config["fetch_snapshot_bytes_max"] = pick(rng, (150, 700, 1 << 20))
        config["clean_interval_ms"] = pick(rng, (100, 500, 2000))
        kind = rng.random()
        if kind < 0.6:
            config["retention_bytes_max"] = pick(rng, (500, 3000, 12000))
        elif kind < 0.8:
            config["retention_ms"] = pick(rng, (200, 3000))
    plan.segment_bytes = pick(rng, (1 << 30, 1 << 30, 700, 3000, 20000))
    plan.cache_bytes = pick(rng, (4 << 20, 4 << 20, 300, 3000))
    plan.load = Load(
        every_ms=pick(rng, pace.writes_ms),
        records=pick(rng, (1, 1, 1, 3, 10)),
        size=pick(rng, (0, 20, 100, 100, 700)),
        asks=pick(rng, (0, 10, 30, 60)),
        slow_ms=pick(rng, (0, 0, 0, 5, 100)),
    )


def _draw_newer(rng: Random, plan: Plan, scale: Scale) -> None:
    """Draw features that were added later from a stream of their own, so that the rest of a plan stays the same."""
    if rng.random() < 0.7:
        plan.load.rogue_ms = pick(rng, (20, 50, 200))
        if rng.random() < 0.5:
            plan.config["observer_session_ms"] = pick(rng, (100, 1000))
    if plan.faults and rng.random() < 0.25:
        plan.faults += [
            Fault(name, KINDS[name].draw(rng, scale), at_ms=between(rng, 0, scale.chaos_ms * 9 // 10))
            for name in APART * pick(rng, (1, 2, 4))
        ]


def _draw_surroundings(rng: Random, plan: Plan) -> None:
    plan.latency = pick(
        rng,
        (
            [100, 200, 0.0, 0], [200, 600, 0.0, 0], [200, 600, 0.0, 0], [500, 20_000, 0.0, 0],
            [200, 800, 0.02, 1_000_000], [200, 800, 0.01, 5_000_000],
        ),
    )  # fmt: skip
    plan.pace = pick(
        rng,
        (
            [100, 300, 0.0, 0], [100, 300, 0.0, 0], [1_000, 8_000, 0.0, 0], [100, 500, 0.03, 300_000],
            [100, 500, 0.01, 2_000_000],
        ),
    )  # fmt: skip
    if rng.random() < 0.05:  # in lockstep
        plan.latency, plan.pace = [300, 0, 0.0, 0], [200, 0, 0.0, 0]
    plan.codec = rng.random() < 0.5
    plan.late_answers = rng.random() < 0.2
    plan.journal = rng.random() < 0.8
    plan.kraft_version = int(rng.random() < DYNAMIC_SHARE)
    if rng.random() < 0.4:
        plan.clocks = {
            node_id: [int(rng.random() * 1_000_000), pick(rng, (0, 150, -150, 20_000, -20_000))] for node_id in plan.ids
        }
    if rng.random() < 0.06:
        plan.releases = {node_id: pick(rng, ("3.9", "4.0", "4.0", "4.4")) for node_id in plan.ids}
        plan.codec = True


def draw_faults(rng: Random, scale: Scale) -> list[Fault]:
    kinds = [name for name in KINDS if name not in APART + TARGETED]
    names = [name for name in kinds if rng.random() < 0.25]
    if not names:
        names = [pick(rng, kinds)]
    if rng.random() < 0.5 and not {"kill", "power"} & set(names):
        names.append("power")
    weights = [(name, KINDS[name].weight) for name in names]
    count = pick(rng, (3, 6, 10, 16, 30))
    share = rng.random()  # of those that wait for a point
    return [draw_fault(rng, scale, weights, share) for _ in range(count)]


def draw_fault(rng: Random, scale: Scale, weights: Sequence[tuple[str, int]], share: float) -> Fault:
    """A fault of one of these kinds, by weight. share: of the faults that wait for a point or a state."""
    name = pick_weighted(rng, weights)
    if name in {"kill", "power", "pause"} and rng.random() < 0.3:
        name = pick(rng, _STRIKES)
    fault = Fault(name, KINDS[name].draw(rng, scale), at_ms=between(rng, 0, scale.chaos_ms * 9 // 10))
    kind = rng.random()
    if kind < share * 0.8:
        fault.on = pick(rng, _SHARP if rng.random() < 0.5 else POINTS)
        fault.nth = pick(rng, (1, 1, 1, 2, 3, 5, 10, 40))
        if rng.random() < 0.3:
            fault.node = pick(rng, scale.ids)
        if rng.random() < 0.4:
            fault.role = pick(rng, _ROLES)
        if "whom" in fault.args and rng.random() < 0.7:
            fault.args["whom"] = "struck"
    elif kind < share:
        fault.when = pick(rng, list(STATES))
        if "whom" in fault.args and rng.random() < 0.6:
            fault.args["whom"] = pick(rng, ("struck", "leader", "leader"))
    return fault


def _draw_recovery(rng: Random, plan: Plan) -> RecoveryPlan:
    ids = list(plan.voter_ids)
    rng.shuffle(ids)
    most = plan.voters
    count = between(rng, plan.voters // 2 + 1, most) if rng.random() < 0.6 else most
    others = "join" if count == most else pick(rng, ("off", "apart", "flap", "flap"))
    return RecoveryPlan(sorted(ids[:count]), others, quiet=rng.random() < 0.5)


def pick_weighted(rng: Random, choices: Any) -> Any:
    total = sum(weight for _, weight in choices)
    point = rng.random() * total
    for item, weight in choices:
        point -= weight
        if point < 0:
            return item
    return choices[-1][0]
