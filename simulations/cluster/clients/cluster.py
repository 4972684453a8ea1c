"""The cluster as its admin and fuzz clients see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from simulations.cluster.clients.interfaces import Surroundings

if TYPE_CHECKING:
    from simulations.cluster.clients.brokers import BrokerMachine
    from simulations.cluster.metadata.log_rules import LogRules
    from simulations.nodes.client import Client


class ClientWatch(Protocol):
    """See `cluster.watch.ClusterWatch`."""

    log_rules: LogRules

    def is_from_standby(self, client: Client) -> bool: ...


class Cluster(Surroundings, Protocol):
    """See `cluster.world.ClusterWorld`."""

    brokers: list[BrokerMachine]

    @property
    def watch(self) -> ClientWatch: ...
    def count(self, name: str) -> None: ...
