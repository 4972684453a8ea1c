"""The facts of a world that do not come from its nodes: all logs as chains, the committed history, the content of each
disk.

Nothing is checked here; `properties` checks, on this data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.world.chains import ChainedLog, Chains
from simulations.world.durable import DurableView
from simulations.world.history import History

if TYPE_CHECKING:
    from simulations.world.process import Node, Process


class Ledger:
    """nodes: all, by id. voter_ids: of the voter set. gone: voters whose disk was lost, and with it their identity, if
    voters have directory ids (KIP-853). damaged: nodes whose disk was damaged by a fault: they may refuse to start.
    shadows: the log of each running process, as its effects made it.
    """

    def __init__(self, nodes: dict[int, Node], voter_ids: tuple[int, ...]) -> None:
        self.nodes = nodes
        self.voter_ids = voter_ids
        self.majority = len(voter_ids) // 2 + 1
        self.gone: set[int] = set()
        self.damaged: set[int] = set()
        self.chains = Chains()
        self.history = History(self.chains)
        self.shadows: dict[int, ChainedLog] = {}  # by node id
        self._views: dict[int, tuple[int, DurableView]] = {}  # by node id: the disk's number, and its view

    def shadow(self, process: Process) -> ChainedLog:
        return self.shadows[process.node.id]

    def durable(self, node: Node) -> DurableView:
        """The contents of the present disk of a node."""
        found = self._views.get(node.id)
        if found is None or found[0] != node.disk.number:
            found = self._views[node.id] = (node.disk.number, DurableView(node.disk, self.chains, self.history))
        return found[1]

    def forget_disk(self, node: Node) -> None:
        """The contents of a disk were replaced: drop everything known about it."""
        self._views.pop(node.id, None)

    def holders(self, end_offset: int) -> list[int]:
        """Voters whose disks have the history up to an offset, in the log or in a snapshot."""
        number = self.history.chain_at[end_offset]
        return [
            voter_id
            for voter_id in self.voter_ids
            if voter_id not in self.gone
            and ((view := self.durable(self.nodes[voter_id])).at(end_offset) == number or view.covers(end_offset))
        ]

    def running(self) -> list[Process]:
        """All running processes, by node id."""
        return [node.process for node in self.nodes.values() if node.process is not None]
