"""The facts of a world that do not come from its nodes: all logs as chains, the committed history, the content of each
disk.

Nothing is checked here; `properties` checks, on this data.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from simulations.world.chains import ChainedLog, Chains
from simulations.world.durable import DurableView
from simulations.world.history import History
from simulations.world.voter_sets import NO_VOTERS, Voters, VoterSets

if TYPE_CHECKING:
    from simulations.world.process import Node, Process


class Ledger:
    """nodes: all, by id. damaged: nodes whose disk was damaged by a fault: they may refuse to start. shadows: the log
    of each running process, as its effects made it. voter_sets: of each prefix of a log; formatted: the voters that the
    nodes were formatted with, or static voters.
    """

    def __init__(self, nodes: dict[int, Node], formatted: Voters, level: int = 0) -> None:
        self.nodes = nodes
        self.formatted = formatted
        self.damaged: set[int] = set()
        self.chains = Chains()
        self.history = History(self.chains)
        self.voter_sets = VoterSets(self.chains, formatted, level)
        self.shadows: dict[int, ChainedLog] = {}  # by node id
        self._views: dict[int, tuple[int, DurableView]] = {}  # by node id: the disk's number, and its view

    @property
    def committed_voters(self) -> Voters:
        """The newest committed voter set."""
        return self.voter_sets.at(self.history.log.last)

    @property
    def voter_ids(self) -> tuple[int, ...]:
        return self.committed_voters.ids

    @property
    def majority(self) -> int:
        return self.committed_voters.majority

    @property
    def lost_voters(self) -> set[int]:
        """Ids of committed voters whose disk was lost, and with it their identity, if voters have directory ids."""
        voters, nodes = self.committed_voters, self.nodes
        return {voter_id for voter_id in voters.ids if voter_id in nodes and not voters.holds(nodes[voter_id].key)}

    def voters(self, process: Process) -> Voters:
        """The voter set that a process must follow: the newest one of its log, committed or not."""
        voters = self.voter_sets.at(self.shadow(process).last)
        return voters if voters is not self.formatted or self._is_formatted(process.node) else NO_VOTERS

    def all_voters(self, process: Process) -> tuple[Voters, ...]:
        """All voter sets of the log of a process, the oldest first; NO_VOTERS where its disk was not formatted."""
        return self.all_voters_at(process, self.shadow(process).last)

    def all_voters_at(self, process: Process, number: int) -> tuple[Voters, ...]:
        """As `all_voters`, of the log that ends with the chain `number`."""
        sets = self.voter_sets.all_at(number)
        return sets if self._is_formatted(process.node) else (NO_VOTERS, *sets[1:])

    def _is_formatted(self, node: Node) -> bool:
        return bool(node.static_voters.ids) or (node.disk.number == 1 and node.id in self.formatted.ids)

    def is_voter(self, process: Process) -> bool:
        """Whether a process is a voter by its own log."""
        return self.voters(process).holds(process.node.key)

    def may_stand(self, process: Process) -> bool:
        """Whether a process may be elected: a voter, or one whose removal it does not know to be committed."""
        sets, key, committed = self.all_voters(process), process.node.key, process.replica.log.committed
        if sets[-1].holds(key):
            return True
        return any(voters.holds(key) and later.offset >= committed for voters, later in pairwise(sets))

    def was_voter(self, key: tuple[int, bytes]) -> bool:
        """Whether a replica is in a voter set of any log, or was."""
        return any(voters.holds(key) for voters in self.voter_sets.all)

    def shadow(self, process: Process) -> ChainedLog:
        return self.shadows[process.node.id]

    def durable(self, node: Node) -> DurableView:
        """The contents of the present disk of a node."""
        numbered_view = self._views.get(node.id)
        if numbered_view is None or numbered_view[0] != node.disk.number:
            numbered_view = self._views[node.id] = (node.disk.number, DurableView(node.disk, self.chains, self.history))
        return numbered_view[1]

    def forget_disk(self, node: Node) -> None:
        """The contents of a disk were replaced: drop everything known about it."""
        self._views.pop(node.id, None)

    def holders(self, end_offset: int, voters: Voters) -> list[int]:
        """Those of the voters whose disks have the history up to an offset, in the log or in a snapshot."""
        number = self.history.chain_at[end_offset]
        return [
            voter_id
            for voter_id in voters.ids
            if voters.holds(self.nodes[voter_id].key)
            and ((view := self.durable(self.nodes[voter_id])).at(end_offset) == number or view.covers(end_offset))
        ]

    def running(self) -> list[Process]:
        """All running processes, by node id."""
        return [node.process for node in self.nodes.values() if node.process is not None]
