"""The interfaces between a model broker, its parts and the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from random import Random

    from simulations.cluster.metadata.image import Image
    from simulations.histories.operations import Recorder
    from simulations.nodes.client import Client
    from simulations.plans.cluster_plan import ClusterPlan
    from simulations.world.connections import Network
    from simulations.world.process import Node
    from simulations.world.world import World


class Surroundings(Protocol):
    """See `cluster.world.ClusterWorld`."""

    plan: ClusterPlan
    world: World
    recorder: Recorder
    cluster_id: str
    lag: float
    nodes: dict[int, Node]

    @property
    def network(self) -> Network: ...
    def stream(self, *names: str | int) -> Random: ...
    def is_replicating(self, broker_id: int, key: tuple[bytes, int]) -> bool: ...


class Disks(Protocol):
    """The log directories of a broker's machine, by their ids."""

    directories: list[bytes]
    offline: set[bytes]

    @property
    def replica_directory(self) -> bytes: ...


class Replicas(Protocol):
    """Which replicas of a broker can be read."""

    def has(self, key: tuple[bytes, int]) -> bool: ...


class BrokerLife(Protocol):
    """See `brokers.BrokerProcess`."""

    id: int
    life: int
    epoch: int
    is_over: bool
    world: World
    rng: Random
    image: Image
    fetching: Client
    leading: Client

    @property
    def run(self) -> Surroundings: ...
    @property
    def machine(self) -> Disks: ...
    @property
    def directories(self) -> Replicas: ...
    def later(self, delay_ms: int, act: Any) -> None: ...
