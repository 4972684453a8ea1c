"""Targeted plans for whole clusters, which every fifth seed of this level has in place of a random one.

As at the raft level (`simulations.raft.targeted_plans`), each sets a cluster up so that uncommon events are always
about to happen: brokers that are down for long while leaders change, or requests that are interrupted between their
batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.cluster.metadata.member_rules import MIN_ISR
from simulations.cluster.swarm import BATCH_BYTES, BETWEEN_SNAPSHOTS, IDLE_MS, IMBALANCE_S
from simulations.cluster.upkeep import one_broker
from simulations.faults.table import make_isolation, often, pick
from simulations.plans.cluster_plan import ClusterPlan
from simulations.plans.plan import Fault, Load, RecoveryPlan
from simulations.raft.targeted_plans import turn
from simulations.world.streams import between, stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

EVERY = 5
"""One of this many seeds has a targeted plan; the targeted plans take turns."""
CROWDED = 3
"""The seeds with this remainder have the plan in which most happens to partitions."""

# So that the leader changes several times in a world.
_QUICK = {"fetch_timeout_ms": 400, "election_timeout_ms": 200, "election_backoff_max_ms": 100}


def draw(seed: int) -> ClusterPlan | None:
    """The plan of a seed; None where it has none of these."""
    name = "crowded" if seed % EVERY == CROWDED else turn(seed, EVERY, TARGETED_PLANS)
    return of(name, seed) if name else None


def of(name: str, seed: int) -> ClusterPlan:
    """The targeted plan with this name."""
    rng = stream(seed, "cluster aim", name)
    plan = ClusterPlan(seed, chaos_ms=between(rng, 2_500, 4_000))
    plan.latency = pick(rng, ([100, 200, 0.0, 0], [200, 600, 0.0, 0], [200, 600, 0.0, 0], [500, 20_000, 0.0, 0]))
    plan.pace = pick(rng, ([100, 300, 0.0, 0], [100, 400, 0.0, 0], [1_000, 8_000, 0.0, 0]))
    plan.codec = rng.random() < 0.5
    plan.journal = rng.random() < 0.5
    plan.load = Load(every_ms=0)
    plan.operations = ["create"]
    plan.session_ms, plan.heartbeat_ms = 500, 100
    (_crowd if name == "crowded" else TARGETED_PLANS[name])(rng, plan)
    plan.recovery = RecoveryPlan(list(plan.voter_ids))
    return plan


def _elect_preferred(rng: Random, plan: ClusterPlan) -> None:
    """Brokers restart, and preferred leaders are to lead again, in sync or not."""
    plan.admins, plan.topics = 3, 6
    plan.lead_every_ms, plan.lag = pick(rng, (100, 250, 400)), pick(rng, (0.3, 0.6))
    plan.properties[IMBALANCE_S] = "1"
    if rng.random() < 0.4:
        plan.operations += ["elect", "grow"]
    plan.faults += often(rng, plan.chaos_ms, 800, lambda: Fault(
        "broker_crash", {**one_broker(rng, plan), "down_ms": pick(rng, (300, 1_000, 1_000))},
    ))  # fmt: skip
    if plan.seed // (EVERY * len(TARGETED_PLANS)) % 2:  # every second turn
        _overtake_claims(plan)


def _overtake_claims(plan: ClusterPlan) -> None:
    """The first leader stops before it is the active controller, and goes on slowly while another one leads."""
    rng = stream(plan.seed, "cluster aim", "overtaken")
    plan.config |= _QUICK
    plan.sliced = 0.5
    plan.faults += [
        Fault("sluggish", {
            "whom": "struck", "step_us": 300_000, "for_ms": between(rng, 2_000, 2_500),
        }, on="before:LeaderChanged", role="Leader"),
        Fault("pause", {
            "whom": "struck", "for_ms": between(rng, 1_000, 1_400),
        }, on="after:LeaderChanged", role="Leader"),
    ]  # fmt: skip


def _registering(rng: Random, plan: ClusterPlan) -> None:
    """Brokers do not learn that they are registered, and register again; some are replaced meanwhile."""
    plan.voters = pick(rng, (1, 3))
    plan.brokers = between(rng, 2, 4)
    plan.faults.append(Fault("lose", {
        "name": "BrokerRegistrationAnswer", "share": pick(rng, (0.5, 0.7)), "number": between(rng, 1, 99),
        "for_ms": plan.chaos_ms,
    }))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: Fault(
        "broker_crash", {**one_broker(rng, plan), "down_ms": between(rng, 50, 900)},
    ))  # fmt: skip
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: Fault(
        "broker_doubles", {**one_broker(rng, plan), "for_ms": between(rng, 50, 900)},
    ))  # fmt: skip


def _silent(rng: Random, plan: ClusterPlan) -> None:
    """Brokers are silent for longer than their sessions, and the active controller changes meanwhile."""
    plan.voters = pick(rng, (1, 3, 3))
    plan.brokers = between(rng, 1, 3)
    plan.chaos_ms = 5_500
    at_ms = between(rng, 1_000, 2_000)
    gap_ms = pick(rng, (0, 100))
    if rng.random() < 0.5:
        plan.faults.append(Fault("broker_crash", {**one_broker(rng, plan), "down_ms": 7_000}, at_ms=at_ms))
    else:
        plan.faults.append(Fault("brokers_crash", {"gap_ms": gap_ms, "down_ms": 7_000}, at_ms=at_ms))
    if plan.voters > 1:
        killed = {"whom": "leader", "down_ms": pick(rng, (20, 3_000))}
        plan.faults.append(Fault("kill", killed, at_ms=at_ms + between(rng, 20, 700)))


def _leaving(rng: Random, plan: ClusterPlan) -> None:
    """Brokers request controlled shutdown, while the log grows by itself far from them, or while others are paused."""
    plan.brokers, plan.admins, plan.topics = between(rng, 3, 4), between(rng, 1, 4), pick(rng, (4, 6))
    plan.session_ms = 900
    plan.lead_every_ms = pick(rng, (60, 250))
    if rng.random() < 0.5:
        plan.latency = [40_000, 40_500, 0.0, 0]
        plan.properties[IDLE_MS] = "20"
        plan.faults += [_draw_leave(rng, plan, plan.chaos_ms - between(rng, 300, 1_500)) for _ in range(2)]
        return
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: _draw_leave(rng, plan))
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: Fault(
        "broker_pauses", {**one_broker(rng, plan), "for_ms": between(rng, 300, 900)},
    ))  # fmt: skip


def _draw_leave(rng: Random, plan: ClusterPlan, at_ms: int = 0) -> Fault:
    return Fault("broker_leaves", {**one_broker(rng, plan), "down_ms": 300}, at_ms=at_ms)


def _in_batches(rng: Random, plan: ClusterPlan) -> None:
    """Requests are transactions of several batches, and snapshots and responses fall in between."""
    plan.admins, plan.brokers, plan.topics = between(rng, 3, 6), pick(rng, (1, 3)), pick(rng, (1, 2))
    _small_batches(plan)
    plan.operations = ["create", "delete", "read"]
    plan.ask_every_ms = pick(rng, (10, 10, 40))
    plan.properties[BETWEEN_SNAPSHOTS] = pick(rng, ("500", "500", "2000"))


def _ask_between_batches(rng: Random, plan: ClusterPlan) -> None:
    """Standbys get requests all the time, while they read a transaction batch by batch."""
    plan.admins, plan.topics = between(rng, 4, 6), 1
    _small_batches(plan)
    plan.operations = ["create", "delete", *["read"] * 38]
    plan.ask_every_ms = 10
    plan.latency = pick(rng, ([4_000, 4_500, 0.0, 0], [500, 20_000, 0.0, 0]))


def _cut_between_batches(rng: Random, plan: ClusterPlan) -> None:
    """Requests are transactions of several batches, and leaders die between these."""
    plan.admins, plan.topics = between(rng, 3, 5), pick(rng, (2, 6))
    _small_batches(plan)
    plan.operations = ["create", "delete"] + ["grow"] * (rng.random() < 0.3)
    plan.ask_every_ms = pick(rng, (10, 20, 40))
    plan.config |= _QUICK
    plan.faults += often(rng, plan.chaos_ms, 700, lambda: Fault(
        pick(rng, ("kill", "power")), {"whom": "struck", "down_ms": pick(rng, (20, 500))},
        on=pick(rng, ("after:Append", "after:HighWatermark", "after:HighWatermark")), nth=between(rng, 1, 40),
        role="Leader",
    ))  # fmt: skip


def _small_batches(plan: ClusterPlan) -> None:
    plan.metadata_version = 20
    plan.properties[BATCH_BYTES] = "430"
    plan.config["fetch_bytes_max"] = 100


def _eligible(rng: Random, plan: ClusterPlan) -> None:
    """min.insync.replicas rises and falls, and so ELRs change (KIP-966), while brokers fall behind or are removed."""
    plan.voters = pick(rng, (1, 2, 3))
    plan.brokers, plan.admins, plan.topics = between(rng, 2, 4), 3, 2
    plan.operations = ["create", "configure", "configure", "unregister_eligible"]
    plan.lead_every_ms, plan.lag = 60, 0.3
    plan.properties[MIN_ISR] = pick(rng, ("2", "3"))
    if rng.random() < 0.7:
        plan.faults += often(rng, plan.chaos_ms, 700, lambda: Fault(
            "broker_crash", {**one_broker(rng, plan), "down_ms": between(rng, 100, 1_500)},
        ))  # fmt: skip
    if plan.seed // (EVERY * len(TARGETED_PLANS)) % 2:  # every second turn
        _move_from_failing_directories(rng, plan)


def _move_from_failing_directories(rng: Random, plan: ClusterPlan) -> None:
    """Partitions move all the time, and directories fail where that ends a move: it does once a new replica leads."""
    plan.voters, plan.brokers, plan.admins, plan.topics, plan.directories = 3, 4, 10, 6, 2
    plan.chaos_ms, plan.latency, plan.lag = 8_000, [500, 20_000, 0.0, 0], 0.4
    moves = ["reassign", "move_to_eligible", "elect_uncleanly"]
    plan.operations = ["create", "configure", "unregister_eligible", *moves * 3]
    plan.properties[MIN_ISR] = "2"
    plan.faults = often(rng, plan.chaos_ms, 60, lambda: Fault("broker_disk", {
        **one_broker(rng, plan), "directory": between(rng, 0, 1), "down_ms": 150, "moving": True,
    }))  # fmt: skip


def _directories(rng: Random, plan: ClusterPlan) -> None:
    """Log directories fail one by one, under leaders and those that should lead next."""
    plan.voters = pick(rng, (1, 1, 3))
    plan.brokers, plan.admins, plan.topics, plan.directories = pick(rng, (2, 2, 3)), 1, 3, 2
    if rng.random() < 0.3:  # so that nothing else than a directory's word brings a heartbeat or a record
        plan.heartbeat_ms, plan.fetch_wait_ms = 500, 1_000
        plan.session_ms = 1_500
        plan.properties[IDLE_MS] = "2000"
    plan.faults += often(rng, plan.chaos_ms, 900, lambda: Fault("broker_disk", {
        **one_broker(rng, plan), "directory": between(rng, 0, 1), "down_ms": pick(rng, (500, 1_500)),
    }))  # fmt: skip
    if rng.random() < 0.6:
        plan.faults += often(rng, plan.chaos_ms, 1_200, lambda: Fault(
            "broker_crash", {**one_broker(rng, plan), "down_ms": pick(rng, (300, 1_200))},
        ))  # fmt: skip


def _levels(rng: Random, plan: ClusterPlan) -> None:
    """Levels rise and fall, and leaders that do not know yet that they lost leadership get the requests."""
    plan.voters = pick(rng, (1, 3, 3))
    plan.brokers, plan.admins, plan.topics = between(rng, 1, 3), between(rng, 2, 4), 1
    plan.operations = [*["set_feature"] * 4, "see_versions", "see_versions", "create"]
    plan.metadata_version = pick(rng, (13, 15, 15, 17, 20))
    plan.ask_every_ms = pick(rng, (10, 40))
    if plan.voters > 1:
        plan.config |= _QUICK
        plan.latency = pick(rng, ([500, 20_000, 0.0, 0], [4_000, 4_500, 0.0, 0]))
        plan.faults += often(rng, plan.chaos_ms, 900, lambda: make_isolation(rng, "leader", 300, 1_500))


def _crowd(rng: Random, plan: ClusterPlan) -> None:
    """Few brokers have all partitions, and these are moved, cancelled, configured and elected all the time, while
    brokers crash, leave, lose directories or are replaced: what one partition may have, many have at once.
    """
    plan.brokers, plan.admins, plan.topics, plan.directories = between(rng, 3, 4), between(rng, 3, 6), 8, 2
    plan.chaos_ms, plan.ask_every_ms = between(rng, 4_000, 6_000), pick(rng, (20, 40))
    plan.lead_every_ms, plan.lag, plan.echoes = pick(rng, (60, 150)), pick(rng, (0.1, 0.4)), 0.2
    plan.latency = pick(rng, ([200, 600, 0.0, 0], [500, 20_000, 0.0, 0], [4_000, 4_500, 0.0, 0]))
    plan.sliced = pick(rng, (0.0, 0.5))
    moves = ["align", "align", "reassign", "move_to_eligible", "elect", "elect_uncleanly"]
    others = ["unregister", "unregister_eligible", "configure", "list_moves", "grow", "delete"]
    plan.operations = ["create", "create", *moves, *(each for each in others if rng.random() < 0.5)]
    plan.properties[MIN_ISR] = pick(rng, ("1", "2", "2", "3"))
    if rng.random() < 0.3:
        plan.properties["unclean.leader.election.interval.ms"] = "500"
    plan.faults += often(rng, plan.chaos_ms, 600, lambda: _draw_crowded_fault(rng, plan))
    if rng.random() < 0.6:
        plan.config |= _QUICK
        plan.faults += often(rng, plan.chaos_ms, 1_500, lambda: Fault(
            "kill", {"whom": "leader", "down_ms": pick(rng, (20, 500))},
        ))  # fmt: skip
    if plan.seed // EVERY % 4 == 1:
        _lose_two_directories(plan)


def _lose_two_directories(plan: ClusterPlan) -> None:
    """Of three directories of a broker two fail at once, also those of brokers that are about to be unfenced."""
    rng = stream(plan.seed, "cluster aim", "two directories")
    plan.directories = 3
    plan.faults += often(rng, plan.chaos_ms, 500, lambda: Fault("broker_disk", {
        **one_broker(rng, plan), "directory": between(rng, 0, 2), "both": True, "down_ms": pick(rng, (200, 600)),
    }))  # fmt: skip


def _draw_crowded_fault(rng: Random, plan: ClusterPlan) -> Fault:
    kind = pick(rng, (
        "broker_crash", "broker_crash", "broker_leaves", "broker_leaves", "broker_doubles", "broker_disk",
        "broker_disk_moves", "broker_cordon",
    ))  # fmt: skip
    args = {**one_broker(rng, plan), "down_ms": pick(rng, (100, 400, 1_200)), "for_ms": between(rng, 100, 900)}
    if kind == "broker_disk" or (kind == "broker_leaves" and rng.random() < 0.5):
        args["directory"] = between(rng, 0, 1)
    return Fault(kind, args | {"count": 1} if kind == "broker_cordon" else args)


TARGETED_PLANS: dict[str, Callable[[Random, ClusterPlan], None]] = {
    "preferred": _elect_preferred,
    "registering": _registering,
    "silent": _silent,
    "leaving": _leaving,
    "in-batches": _in_batches,
    "asked-between-batches": _ask_between_batches,
    "cut-between-batches": _cut_between_batches,
    "eligible": _eligible,
    "directories": _directories,
    "levels": _levels,
}
