"""The requests of admin clients and of fuzz clients: one table of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.cluster.clients import (
    admin_configs,
    admin_mistakes,
    admin_nodes,
    admin_topics,
    fuzz_brokers,
    fuzz_configs,
    fuzz_topics,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.clients.admins import Admin
    from simulations.cluster.clients.fuzz_clients import FuzzClient

ADMIN_REQUESTS: dict[str, Callable[[Admin], None]] = {
    **admin_topics.ASKS,
    **admin_configs.ASKS,
    **admin_nodes.ASKS,
    **admin_mistakes.ASKS,
}
"""By the name that a plan gives to them (`ClusterPlan.operations`)."""

FUZZ_REQUESTS: tuple[Callable[[FuzzClient], Any], ...] = (*fuzz_topics.ASKS, *fuzz_configs.ASKS, *fuzz_brokers.ASKS)
