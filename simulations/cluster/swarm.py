"""Plans of whole clusters, drawn from a seed: swarms of faults, operations and configs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.features.levels import METADATA_VERSION
from simulations.cluster import upkeep
from simulations.cluster.faults import BROKER_KINDS, draw_broker_fault
from simulations.cluster.metadata.member_rules import MIN_ISR
from simulations.faults.table import KINDS, Scale, pick
from simulations.plans.cluster_plan import FIRST_BROKER, OPERATIONS, ClusterPlan
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft import swarm
from simulations.world.releases import NEWEST, levels_of
from simulations.world.streams import between, stream

if TYPE_CHECKING:
    from random import Random

CONTROLLERS_SINCE = 15

# In so many plans some requests are served in slices.
SLICED_SHARE = 0.2
# The share of plans with hostile clients.
HOSTILE_SHARE = 0.1

# A controller cannot tolerate the loss of committed records; and messages of another cluster do not matter to brokers.
_NOT_HERE = {"wipe", "restore", "rot", "garble", "lose_snapshot", "release", "stray"}


# Beside what plans have as faults, what is counted of levels that changed, of transactions that were cut off, and of
# requests that were wrong.
FAULT_KINDS = (
    *(kind for kind in KINDS if kind not in _NOT_HERE), *BROKER_KINDS, *upkeep.KINDS,
    "level_up", "level_down", "cut_transaction", "mistake",
)  # fmt: skip


def draw(seed: int) -> ClusterPlan:
    """The plan of a seed."""
    base = swarm.draw(seed)
    rng = stream(seed, "cluster plan")
    plan = ClusterPlan(seed)
    plan.voters = swarm.pick_weighted(rng, ((3, 75), (1, 15), (5, 10)))
    _draw_quorum(rng, plan, base)
    _draw_cluster(rng, plan)
    cut_short, plan.faults = plan.faults, []
    scale = Scale(plan.ids, plan.voter_ids, swarm.timeouts_ms(plan), plan.chaos_ms)
    if rng.random() >= 0.1:
        faults = [fault for fault in swarm.draw_faults(rng, scale) if fault.kind not in _NOT_HERE]
        plan.faults = faults[: between(rng, 2, 12)] + cut_short
        if rng.random() < 0.8:
            kinds = [kind for kind in BROKER_KINDS if rng.random() < 0.5] or ["broker_crash"]
            plan.faults += [draw_broker_fault(rng, plan, kinds) for _ in range(between(rng, 1, 8))]
    _draw_themes(stream(seed, "cluster themes"), plan)
    _draw_fuzz_clients(stream(seed, "cluster clerks"), plan)
    if (rng := stream(seed, "slices")).random() < SLICED_SHARE:
        plan.sliced = pick(rng, (0.1, 0.5, 1.0))
    if (rng := stream(seed, "hostile")).random() < HOSTILE_SHARE:
        plan.hostile = between(rng, 2, 3)
    plan.recovery = RecoveryPlan(list(plan.voter_ids))
    return plan


class Theme(NamedTuple):
    """Features that only some plans have. share: in how many; operations and kinds of faults, each in some of them."""

    share: float
    operations: tuple[str, ...]
    kinds: tuple[str, ...] = ()


THEMES = {
    "configs": Theme(0.2, ("replace", "configure_brokers", "read_brokers", "levels")),
    "versions": Theme(0.25, ("set_feature", "see_versions", "set_feature"), ("broker_release", "controller_release")),
    "directories": Theme(0.2, ("grow",), ("broker_disk", "broker_cordon")),
    "unclean": Theme(0.15, ("elect_uncleanly", "list_moves")),
    "registrations": Theme(0.2, ("unregister", "describe"), ("broker_twin",)),
    "mistakes": Theme(0.2, ("make_a_mistake", "validate")),
    "storms": Theme(0.1, (), ("storm",)),
}


def _draw_themes(rng: Random, plan: ClusterPlan) -> None:
    """Draw the themes of a plan, from a stream of their own."""
    for name, theme in THEMES.items():
        if rng.random() >= theme.share:
            continue
        plan.operations += [each for each in theme.operations if rng.random() < 0.8]
        if name == "directories":
            plan.directories = between(rng, 2, 3)
        if name == "versions":
            _draw_releases(rng, plan)
        if theme.kinds and plan.faults:
            kinds = list(theme.kinds)
            plan.faults += [draw_broker_fault(rng, plan, kinds) for _ in range(between(rng, 1, 4))]


# With this little room a log could not begin with as much as a stock cluster had.
BATCH_BYTES = "internal.metadata.max.batch.size.in.bytes"
BETWEEN_SNAPSHOTS = "metadata.log.max.record.bytes.between.snapshots"
IDLE_MS = "metadata.max.idle.interval.ms"
IMBALANCE_S = "leader.imbalance.check.interval.seconds"
# The share of plans with fuzz clients, and configs that a part of these plans has.
FUZZ_SHARE = 0.4
BESIDE = {
    "num.partitions": ("3", "20"),
    "default.replication.factor": ("2", "3"),
    "delete.topic.enable": ("false",),
    "unclean.leader.election.interval.ms": ("500",),
    IMBALANCE_S: ("1",),
    "auto.leader.rebalance.enable": ("false",),
    "metadata.log.max.snapshot.interval.ms": ("300", "1000"),
    "log.retention.minutes": ("7",),
}


def _draw_fuzz_clients(rng: Random, plan: ClusterPlan) -> None:
    """Fuzz clients, drawn from a separate stream, so that plans without them stay as they are."""
    if rng.random() >= FUZZ_SHARE:
        return
    plan.fuzz_clients = between(rng, 1, 2)
    plan.racks = pick(rng, (0, 2, 3))
    plan.is_inherited = rng.random() < 0.4 and BATCH_BYTES not in plan.properties
    plan.properties |= {key: pick(rng, values) for key, values in BESIDE.items() if rng.random() < 0.12}
    if rng.random() < 0.4:  # so that replicas are eligible that are not in sync (KIP-966), several at once
        plan.properties[MIN_ISR] = pick(rng, ("2", "3"))
        if plan.faults:
            kinds = ["broker_crash", "brokers_crash"]
            plan.faults += [draw_broker_fault(rng, plan, kinds) for _ in range(between(rng, 1, 3))]


def _draw_releases(rng: Random, plan: ClusterPlan) -> None:
    """Old and new software side by side, at a level that all of them support at first."""
    plan.metadata_version = pick(rng, (13, 15, 17, 20, 23, 25, 27))
    known = [each for each in upkeep.ORDER if levels_of(each)[METADATA_VERSION][1] >= plan.metadata_version]
    if rng.random() < 0.8:
        ids = range(FIRST_BROKER, FIRST_BROKER + plan.brokers)
        # One that does not support what counts is refused, until operators upgrade it.
        plan.broker_releases = {each: pick(rng, upkeep.ORDER) for each in ids if rng.random() < 0.6}
    # Below 3.7-IV0 controllers do not tell what they support, and no controller could know that a level is too
    # high for another.
    old = [each for each in upkeep.OLD if each in known]
    if old and plan.metadata_version >= CONTROLLERS_SINCE and rng.random() < 0.8:
        plan.releases = {each: pick(rng, (*old, NEWEST)) for each in plan.voter_ids if rng.random() < 0.6}


def _draw_quorum(rng: Random, plan: ClusterPlan, base: Plan) -> None:
    """Draw the fields of the raft level, except its writes and sizes."""
    plan.config = dict(base.config)
    plan.config.pop("fetch_bytes_max", None)
    plan.chaos_ms = between(rng, 3_000, 8_000)
    plan.latency, plan.pace = base.latency, base.pace
    if plan.latency[3] > 1_000_000:
        plan.latency = [200, 800, 0.02, 300_000]
    plan.codec, plan.late_answers, plan.journal = base.codec, False, base.journal
    plan.kraft_version = base.kraft_version
    plan.clocks = {node_id: times for node_id, times in base.clocks.items() if node_id in plan.ids}
    plan.segment_bytes = pick(rng, (1 << 30, 3_000, 20_000))
    plan.load = Load(every_ms=0)


def _cut_short(rng: Random, plan: ClusterPlan) -> None:
    for _ in range(between(rng, 0, 4)):
        args = {"whom": "struck", "down_ms": between(rng, 20, 1500)}
        fault = Fault(pick(rng, ("kill", "power")), args, on=pick(rng, ("after:Append", "after:HighWatermark")))
        fault.nth, fault.role = between(rng, 3, 120), "Leader"
        plan.faults.append(fault)


def _draw_cluster(rng: Random, plan: ClusterPlan) -> None:
    plan.brokers = between(rng, 1, 5)
    plan.admins = between(rng, 1, 4)
    plan.topics = pick(rng, (1, 3, 6))
    plan.metadata_version = pick(rng, (30, 30, 30, 27, 23, 20, 17, 13))
    if rng.random() < 0.5:
        plan.operations = [each for each in OPERATIONS if rng.random() < 0.6] or ["create"]
        if "create" not in plan.operations:
            plan.operations.append("create")
    plan.ask_every_ms = pick(rng, (20, 60, 60, 200))
    plan.session_ms = pick(rng, (500, 1500, 1500, 4000))
    plan.heartbeat_ms = plan.session_ms // pick(rng, (3, 5, 10))
    plan.lead_every_ms = pick(rng, (100, 250, 800))
    plan.lag = pick(rng, (0.0, 0.1, 0.3))
    if rng.random() < 0.6:
        plan.properties[BETWEEN_SNAPSHOTS] = pick(rng, ("500", "2000", "10000"))
        plan.config["retention_bytes_max"] = pick(rng, (500, 3000, 1 << 20))
        plan.config["clean_interval_ms"] = pick(rng, (200, 1000))
    if rng.random() < 0.3:
        plan.properties[IMBALANCE_S] = "1"
    if rng.random() < 0.2:
        plan.properties[IDLE_MS] = "0"
    if rng.random() < 0.25:  # so that requests become metadata transactions of several batches
        plan.properties[BATCH_BYTES] = pick(rng, ("700", "1200"))
        # Followers read a batch at a time, and some leaders die in between.
        plan.config["fetch_bytes_max"] = pick(rng, (100, 400))
        _cut_short(rng, plan)
    if rng.random() < 0.3:
        plan.properties[MIN_ISR] = "2"
