"""The interface between a fault and the run that it strikes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from raft.interface.config import SnapshotId
    from simulations.plans.plan import Plan
    from simulations.world.connections import Network
    from simulations.world.files import Dead
    from simulations.world.ledger import Ledger
    from simulations.world.process import Node
    from simulations.world.triggers import Triggers
    from simulations.world.world import World


class StruckRun(Protocol):
    """See `raft.world.RaftWorld`."""

    world: World
    nodes: dict[int, Node]
    ledger: Ledger
    triggers: Triggers
    forgotten: set[int]

    @property
    def plan(self) -> Plan: ...
    @property
    def network(self) -> Network: ...
    def stream(self, *names: str | int) -> Random: ...
    def strikes(self, death: Dead) -> None: ...
    def count(self, name: str) -> None: ...
    def later(self, delay_ms: int, act: Callable[..., Any], *args: Any) -> None: ...
    def on_disk_replaced(self, node: Node) -> None: ...
    def lose_snapshot(self, node: Node, snapshot: SnapshotId) -> None: ...
    def make_observer(self, node: Node) -> None: ...
