"""What each kind of fault is there for: a mutant that is caught in a world with faults of that kind, and not without.

First kills tell that of most kinds (`kills.by_fault`). For the others a world of a few faults of the one kind is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.cluster import swarm as cluster
from simulations.cluster.faults import BROKER_KINDS, draw_broker_fault
from simulations.faults.table import KINDS, Scale
from simulations.plans.plan import Fault
from simulations.raft import swarm
from simulations.world.streams import between, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNT = 4
"""How many faults such a world has."""


class Witness(NamedTuple):
    """The world of `plan_of(kind, seed)` catches the mutant, and the same without faults does not."""

    kind: str
    mutant_id: str
    seed: int


def plan_of(kind: str, seed: int) -> Any:
    """The plan of a seed, of raft's level or of the controller's, with faults of one kind alone."""
    rng = stream(seed, "only", kind)
    if kind in BROKER_KINDS:
        of_cluster = cluster.draw(seed)
        of_cluster.faults = [draw_broker_fault(rng, of_cluster, [kind]) for _ in range(COUNT)]
        return of_cluster
    plan = swarm.draw(seed)
    scale = Scale(plan.ids, plan.voter_ids, swarm.timeouts_ms(plan), plan.chaos_ms)
    plan.faults = [_fault(kind, rng, scale) for _ in range(COUNT)]
    return plan


def _fault(kind: str, rng: Any, scale: Scale) -> Fault:
    return Fault(kind, KINDS[kind].draw(rng, scale), at_ms=between(rng, 0, scale.chaos_ms * 9 // 10))


def kinds() -> Iterator[str]:
    """All kinds of faults, of machines and networks first, then of brokers."""
    yield from KINDS
    yield from BROKER_KINDS


WITNESSES = (
    Witness("succession", "R25", 4),
    Witness("isolate", "R44", 2),
    Witness("churn", "R27", 1),
    Witness("everybody", "D20", 2),
    Witness("wall_jump", "X09", 1),
    Witness("fails", "D08", 2),
    Witness("wipe", "M08", 2),
    Witness("rot", "H06", 1),
    Witness("lose_snapshot", "D11", 3),
    Witness("part", "R31b", 2),
    Witness("bridge", "R31b", 2),
    Witness("ring", "R31b", 4),
    Witness("flap", "R31b", 1),
    Witness("swizzle", "R31b", 1),
    Witness("tail", "R10", 3),
    Witness("cross", "X03", 1),
    Witness("stray", "H14", 2),
    Witness("shut_down", "X14", 1),
    Witness("rolling", "X14", 2),
    Witness("resign", "H11", 2),
    Witness("slow_syncs", "H07", 3),
    Witness("read_only", "D08b", 2),
    Witness("full", "D08b", 3),
    Witness("restore", "H01", 1),
    Witness("release", "R10", 1),
)
