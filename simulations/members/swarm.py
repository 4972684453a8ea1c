"""Random plans of worlds whose voters change: those of the raft level, with observers and changes of the voters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.faults.table import Scale, pick
from simulations.members import targeted_plans
from simulations.members.voter_changes import CHANGES, RENAME_ALL
from simulations.plans.plan import Fault, RecoveryPlan
from simulations.raft import swarm
from simulations.world.streams import between, stream
from simulations.world.triggers import STATES

if TYPE_CHECKING:
    from random import Random

    from simulations.plans.plan import Plan

# Faults that take a voter's data without its identity, or that a node may not survive: the raft level has them.
LEFT_OUT = frozenset(("wipe", "restore", "rot", "garble", "lose_snapshot", "release", "odd_answers"))

# Of 32 seeds, those in which all nodes get new names; no stored kill needs the former plans of these seeds.
NEW_NAMES = (23, 31)

# Points around a change of the voters, beside those of the raft level.
_POINTS = (
    "before:ReserveOffsets", "after:ReserveOffsets", "input:OffsetsReserved", "after:VotersChanged",
    "before:VotersChanged", "after:Append", "after:HighWatermark", "input:Flushed", "after:SaveElection",
)  # fmt: skip


def draw(seed: int) -> Plan:
    """The plan of a seed: a targeted plan, or one of the swarm."""
    return targeted_plans.draw(seed) or (_of_new_names(seed) if seed % 32 in NEW_NAMES else _of_swarm(seed))


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
