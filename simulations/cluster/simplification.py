"""Plans of whole clusters that are simpler in one respect: fewer clients with fewer requests, then
as at the raft level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simulations.raft import simplification as of_any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulations.plans.cluster_plan import ClusterPlan
    from simulations.plans.plan import Plan


def simpler(plan: ClusterPlan) -> Iterator[Plan]:
    """The simplifications that help a reader most come first."""
    named = {fault.args["broker"] for fault in plan.faults if "broker" in fault.args}
    brokers = max(named, default=0) + 1
    for name, least in (("fuzz_clients", 0), ("hostile", 0), ("admins", 1), ("brokers", brokers), ("topics", 1)):
        for count in range(least, getattr(plan, name)):
            fewer: dict[str, Any] = {name: count}
            yield replace(plan, **fewer)
    if len(plan.operations) > 1:
        for operation in plan.operations:
            yield replace(plan, operations=[each for each in plan.operations if each != operation])
    yield from (each for each in of_any.simpler(plan) if not _is_more(each, plan))


def _is_more(other: Plan, plan: ClusterPlan) -> bool:
    """Whether a default would restore what was left out."""
    kept = ("fuzz_clients", "hostile", "admins", "brokers", "topics", "operations")
    return any(getattr(other, name) != getattr(plan, name) for name in kept)
