"""The world of one plan whose voters change: an administrator, and nodes that find any other node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.voters import VoterSet
from simulations.members.administrator import Administrator
from simulations.raft.run import Run
from simulations.raft.world import CLUSTER
from simulations.world.machine import endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.config import Endpoint
    from simulations.members.administrator import Wish
    from simulations.members.autopilots import Autopilots
    from simulations.plans.plan import Plan
    from simulations.world.process import Node


class MembersWorld(Run):
    """The world of a run at the members level. _renamed: the addresses of all nodes, once all have new ones at once.

    autopilots: those of its leaders, from the change `autopilot` on.
    """

    def __init__(self, plan: Plan, written: Callable[[bytes], None] | None = None) -> None:
        self._renamed: dict[int, Endpoint] = {}
        self.autopilots: Autopilots | None = None
        super().__init__(plan, written)
        self.administrator = Administrator(
            self.world, self.ledger, self.watch.changes, CLUSTER, self.stream("administrator")
        )

    def _configure_bootstrap(self, node: Node) -> None:
        """All nodes are bootstrap servers, because each of the first voters may be replaced during a run."""
        node.static_voters = VoterSet()
        self._name_servers(node)

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        node = super()._make_node(node_id, voters)
        self._name_servers(node)  # with static voters too, for the time after they have changed
        return node

    def _name_servers(self, node: Node) -> None:
        node.config.bootstrap_servers = tuple(
            self._renamed.get(each) or endpoint(each) for each in self.plan.ids if each != node.id
        )

    def rename_all(self) -> None:
        """All nodes are stopped, and have new addresses, which the bootstrap servers of each name. The former refuse
        connections for ever: no voter set of any log leads to a voter any more.
        """
        for node in self.nodes.values():
            node.kill()
            self.network.move(node)
        self._renamed = {node.id: node.endpoints()[0] for node in self.nodes.values()}
        for node in self.nodes.values():
            self._name_servers(node)

    def want(self, wish: Wish, tries: int, wait_ms: int, then: Callable[[bool], None] | None = None) -> None:
        """Have the administrator make a change, until the faults end."""
        phase = self._phase

        def tell(is_done: bool) -> None:
            if then is not None and phase == self._phase:
                then(is_done)

        self.administrator.want(wish, tries, wait_ms, tell, lambda: phase == self._phase)

    def end_chaos(self) -> None:
        """End all faults; former addresses are those of their nodes again, unless all nodes have new ones."""
        super().end_chaos()
        if self.autopilots is not None:
            self.autopilots.end_chaos()
        if not self._renamed:
            self.network.former.clear()
