"""Random plans of worlds whose voters change: those of the raft level, with observers and changes of the voters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.faults.table import Scale, make_isolation, often, pick
from simulations.members import targeted_plans
from simulations.members.voter_changes import AUTOPILOT, CHANGES, LEAVE, LOSE_DISK, RENAME_ALL
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft import swarm
from simulations.world.streams import between, stream
from simulations.world.triggers import STATES

if TYPE_CHECKING:
    from random import Random

# Faults that take a voter's data without its identity, or that a node may not survive: the raft level has them.
LEFT_OUT = frozenset(("wipe", "restore", "rot", "garble", "lose_snapshot", "release", "odd_answers"))

# Of 32 seeds, those in which all nodes get new names; no stored kill needs the former plans of these seeds.
NEW_NAMES = (23, 31)

# Of 64 seeds, those in which leaders have autopilots; as above.
AUTOPILOTS = (22, 57)
# As above: those in which voters leave when they are stopped.
LEAVES = 29

# Points around a change of the voters, beside those of the raft level.
_POINTS = (
    "before:ReserveOffsets", "after:ReserveOffsets", "input:OffsetsReserved", "after:VotersChanged",
    "before:VotersChanged", "after:Append", "after:HighWatermark", "input:Flushed", "after:SaveElection",
)  # fmt: skip


def draw(seed: int) -> Plan:
    """The plan of a seed: a targeted plan, or one of the swarm."""
    if seed % 64 in AUTOPILOTS:
        return _of_autopilots(seed)
    if seed % 64 == LEAVES:
        return _of_leaves(seed)
    return targeted_plans.draw(seed) or (_of_new_names(seed) if seed % 32 in NEW_NAMES else _of_swarm(seed))


def _of_autopilots(seed: int) -> Plan:
    """A plan in which leaders add and remove voters by themselves: nodes die for long, lose their disks and join, the
    leader is stopped and cut off, and an administrator changes voters now and then.
    """
    rng = stream(seed, "members", "autopilots")
    plan = Plan(seed, chaos_ms=5_000, config=dict(swarm.QUICK.config), kraft_version=1)
    plan.voters = pick(rng, (3, 3, 3, 4, 5, 5, 1, 2))
    plan.observers = pick(rng, (2, 2, 1, 3)) if plan.voters > 2 else pick(rng, (3, 4))
    plan.latency = pick(rng, ([100, 200, 0.0, 0], [200, 600, 0.0, 0]))
    plan.pace = pick(rng, ([100, 300, 0.0, 0], [1_000, 4_000, 0.0, 0]))
    plan.snapshot_every = pick(rng, (0, 0, 20))
    plan.load = Load(every_ms=pick(rng, (5, 20)), asks=30)
    timeouts_ms = [plan.config["fetch_timeout_ms"]]
    scale = Scale(plan.ids, plan.voter_ids, timeouts_ms, plan.chaos_ms)
    rules = AUTOPILOT.draw(rng, scale)
    plan.faults = [Fault(AUTOPILOT.name, rules)]
    plan.recovery = RecoveryPlan(plan.ids, quiet=rng.random() < 0.5)
    special = rng.random()
    if special < 0.3:
        (_kill_again_and_again if special < 0.15 else _kill_a_second)(rng, plan, rules)
        return plan
    whom = (*plan.ids, "leader", "follower", "follower")
    long_ms = (timeouts_ms[0], max(2 * rules["dead_after_ms"], 400), 3_000)
    plan.faults += often(rng, plan.chaos_ms, 600, lambda: Fault(LOSE_DISK.name, {
        "whom": pick(rng, whom), "down_ms": pick(rng, (1, 50, 300)),
    }))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 700, lambda: Fault("kill", {
        "whom": pick(rng, whom), "down_ms": pick(rng, (1, 20, *long_ms)),
    }))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 1_500, lambda: Fault("pause", {
        "whom": pick(rng, whom), "for_ms": pick(rng, long_ms),
    }))  # fmt: skip
    plan.faults += often(
        rng, plan.chaos_ms, 1_500, lambda: make_isolation(rng, pick(rng, ("leader", "follower")), 100, 900)
    )
    plan.faults += often(rng, plan.chaos_ms, 2_500, lambda: Fault("resign", {"whom": "leader"}))
    plan.faults += often(
        rng, plan.chaos_ms, 3_000, lambda: _change(rng, scale, pick(rng, ("add_voter", "remove_voter")), 0)
    )
    if rng.random() < 0.5:
        plan.faults += often(rng, plan.chaos_ms, 900, lambda: Fault("slow_syncs", {
            "whom": pick(rng, ("follower", *plan.ids)), "times": 1000, "for_ms": between(rng, 300, 1_500),
        }))  # fmt: skip
    return plan


def _of_leaves(seed: int) -> Plan:
    """A plan in which voters are stopped, one after the other and at once, and leave first; others die or lag then."""
    rng = stream(seed, "members", "leaves")
    plan = Plan(seed, chaos_ms=5_000, config=dict(swarm.QUICK.config), kraft_version=1)
    plan.voters, plan.observers = pick(rng, (5, 5, 4)), pick(rng, (0, 0, 1))
    plan.latency = pick(rng, ([100, 200, 0.0, 0], [200, 600, 0.0, 0]))
    plan.pace = pick(rng, ([100, 300, 0.0, 0], [1_000, 4_000, 0.0, 0]))
    plan.load = Load(every_ms=pick(rng, (5, 20)), asks=30)
    live_ms = plan.config["fetch_timeout_ms"]
    rules = AUTOPILOT.draw(rng, Scale(plan.ids, plan.voter_ids, [live_ms], plan.chaos_ms))
    rules |= {"ids": plan.ids, "voters_max": 5, "zones": {}}
    plan.faults = [Fault(AUTOPILOT.name, rules)]
    plan.recovery = RecoveryPlan(plan.ids, quiet=rng.random() < 0.5)
    if rng.random() < 0.4:
        _leave_together(rng, plan, live_ms)
        return plan
    whom = (*plan.ids, "leader", "follower")
    down_ms = (1, 50, live_ms, 3 * live_ms)
    every_ms = pick(rng, (200, 500, 900))
    plan.faults += often(rng, plan.chaos_ms, every_ms, lambda: Fault(LEAVE.name, {
        "whom": pick(rng, whom), "down_ms": pick(rng, down_ms),
    }))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 700, lambda: Fault("kill", {
        "whom": pick(rng, whom), "down_ms": pick(rng, down_ms),
    }))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 1_500, lambda: Fault("slow_syncs", {
        "whom": pick(rng, plan.ids), "times": 1000, "for_ms": between(rng, 300, 1_500),
    }))  # fmt: skip
    plan.faults += often(
        rng, plan.chaos_ms, 2_500, lambda: make_isolation(rng, pick(rng, ("leader", "follower")), 100, 900)
    )
    return plan


def _leave_together(rng: Random, plan: Plan, live_ms: int) -> None:
    """Two voters of four are stopped at the same moment, while there is no leader: both wait for the next one."""
    plan.voters, plan.observers = 4, 0
    plan.faults[0].args["ids"] = plan.ids
    plan.recovery.core = plan.ids
    for at_ms in range(1_000, plan.chaos_ms, 8 * live_ms):
        plan.faults.append(Fault("kill", {"whom": "leader", "down_ms": live_ms // 2}, at_ms=at_ms))
        first = between(rng, 1, 4)
        for whom in (first, first % 4 + 1):
            leave = {"whom": whom, "down_ms": live_ms}
            plan.faults.append(Fault(LEAVE.name, leave, at_ms=at_ms + between(rng, 1, 3)))


def _kill_again_and_again(rng: Random, plan: Plan, rules: dict[str, Any]) -> None:
    """One node alone dies and comes back, so that the leader stays, and removes and adds it."""
    plan.voters, plan.observers = 5, 0
    rules |= {"ids": plan.ids, "dead_after_ms": 2 * rules["live_ms"], "voters_max": 5, "zones": {}}
    rules["stabilization_ms"] = 5 * rules["live_ms"]
    plan.recovery.core = plan.ids
    victim = pick(rng, plan.ids)
    plan.faults += often(rng, plan.chaos_ms, 8 * rules["dead_after_ms"], lambda: Fault("kill", {
        "whom": victim, "down_ms": 2 * rules["dead_after_ms"],
    }))  # fmt: skip


def _kill_a_second(rng: Random, plan: Plan, rules: dict[str, Any]) -> None:
    """One of three voters dies, and a spare is there; when it counts as dead, a second one is silent or slow."""
    plan.voters, plan.observers = 3, 1
    rules |= {"ids": plan.ids, "dead_after_ms": 3 * rules["live_ms"], "voters_max": 3, "zones": {}}
    plan.recovery.core = plan.ids
    live_ms, dead_after_ms = rules["live_ms"], rules["dead_after_ms"]
    for at_ms in range(rules["stabilization_ms"] + 500, plan.chaos_ms, 8 * dead_after_ms):
        first, second = ((1, 2), (2, 3), (3, 1))[between(rng, 0, 2)]
        down = {"whom": first, "down_ms": 2 * dead_after_ms}
        plan.faults.append(Fault("kill", down, at_ms=at_ms))
        then_ms = at_ms + dead_after_ms - between(rng, live_ms * 8 // 10, live_ms * 15 // 10)
        slow = {"whom": second, "times": 1000, "for_ms": dead_after_ms}
        plan.faults.append(
            Fault("slow_syncs", slow, at_ms=then_ms)
            if rng.random() < 0.3
            else Fault("kill", {"whom": second, "down_ms": live_ms * 2}, at_ms=then_ms)
        )


def _of_new_names(seed: int) -> Plan:
    """A plan in which all nodes get new names at once, once or a few times, among all other changes and faults."""
    plan = _of_swarm(seed)
    rng = stream(seed, "members", "new names")
    plan.kraft_version = 1
    plan.config["finds_moved_voters"] = True
    # A single node that moves meanwhile is in nobody's configuration.
    few = rng.random() < 0.4
    plan.faults = [fault for fault in plan.faults if fault.kind != "rename_voter" and not (few and rng.random() < 0.7)]
    scale = Scale(plan.ids, plan.voter_ids, swarm.timeouts_ms(plan), plan.chaos_ms)
    for _ in range(pick(rng, (1, 1, 2, 3))):
        at_ms = between(rng, plan.chaos_ms // 10, plan.chaos_ms * 9 // 10)
        plan.faults.append(Fault(RENAME_ALL.name, RENAME_ALL.draw(rng, scale), at_ms=at_ms))
    return plan


def _of_swarm(seed: int) -> Plan:
    plan = swarm.draw(seed)
    rng = stream(seed, "members")
    plan.releases = {}
    plan.kraft_version = 1 if rng.random() < 0.85 else 0
    plan.voters = min(plan.voters, pick(rng, (3, 3, 4, 5)))
    if not plan.kraft_version and plan.voters == 1:
        plan.voters = 2  # a static voter knows only the static voters, and a removed one would find nobody
    plan.observers = pick(rng, (0, 1, 1, 2)) if plan.voters > 2 else pick(rng, (1, 2))
    if rng.random() < 0.25:
        plan.config["auto_join"] = True
    if stream(seed, "members", "asks").random() < 0.1:
        plan.config["asks_new_endpoints"] = True
    plan.faults = [fault for fault in plan.faults if fault.kind not in LEFT_OUT]
    scale = Scale(plan.ids, plan.voter_ids, swarm.timeouts_ms(plan), plan.chaos_ms)
    plan.faults += _changes(rng, plan, scale)
    plan.recovery = RecoveryPlan(plan.ids, quiet=rng.random() < 0.5)
    return plan


def _changes(rng: Random, plan: Plan, scale: Scale) -> list[Fault]:
    weights = [(name, kind.weight) for name, kind in CHANGES.items() if rng.random() < 0.7] or [("add_voter", 1)]
    share = rng.random()
    faults = [_change(rng, scale, swarm.pick_weighted(rng, weights), share) for _ in range(pick(rng, (2, 4, 8, 16)))]
    if not plan.kraft_version:
        faults += [
            Fault("raise_version", {}, at_ms=between(rng, 0, plan.chaos_ms * 8 // 10)) for _ in range(6)
        ]  # fmt: skip
    return faults


def _change(rng: Random, scale: Scale, name: str, share: float) -> Fault:
    """One change. share: of the changes that wait for a point or a state."""
    fault = Fault(name, CHANGES[name].draw(rng, scale), at_ms=between(rng, 0, scale.chaos_ms * 9 // 10))
    kind = rng.random()
    if kind < share * 0.8:
        fault.on = pick(rng, _POINTS if rng.random() < 0.5 else swarm.POINTS)
        fault.nth = pick(rng, (1, 1, 2, 3, 5, 10))
        if rng.random() < 0.4:
            fault.role = pick(rng, ("Leader", "Leader", "Follower", "Resigned"))
    elif kind < share:
        fault.when = pick(rng, list(STATES))
    return fault
