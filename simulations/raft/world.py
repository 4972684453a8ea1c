"""The world of one plan: nodes, network, clients and the watch; and the operations that faults use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.config import RaftConfig, ReplicaKey, Voter
from raft.interface.voters import VoterSet, voters_record
from raft.storage.names import snapshot_name
from raft.storage.snapshot_file import SnapshotBytes
from simulations.plans.noise import Noise, disk_name, link_name
from simulations.raft.load import Clients
from simulations.raft.rogue_clients import RogueClients
from simulations.raft.watch import Watch
from simulations.world.connections import Network, speaks_newest
from simulations.world.disk import DIRECTORY
from simulations.world.ledger import Ledger
from simulations.world.links import Latency
from simulations.world.machine import DiskPace, endpoint
from simulations.world.process import Node, Process
from simulations.world.releases import NEWEST
from simulations.world.streams import directory_id, stream
from simulations.world.trace import Trace
from simulations.world.triggers import Triggers
from simulations.world.voter_sets import Voters
from simulations.world.world import MS, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from raft.interface.config import SnapshotId
    from simulations.plans.plan import Plan
    from simulations.world.files import Dead

CLUSTER = "simulated-cluster-id"
EVENTS_MAX = 4_000_000
"""More than any sound run has."""


class RaftWorld:
    """forgotten: ids of nodes whose disk was replaced. fired: how often each fault struck, by kind."""

    def __init__(self, plan: Plan, written: Callable[[bytes], None] | None = None) -> None:
        self.plan = plan
        self.world = World()
        self.trace = Trace(written)
        self.noise = Noise(self.world, plan.noise_ms, plan.noise_of)
        self.network = self._make_network()
        self.nodes: dict[int, Node] = {}
        voters = self._voter_set()
        self.ledger = Ledger(self.nodes, formatted_voters(voters), plan.kraft_version)
        self.triggers = Triggers(self.ledger)
        self.watch = self._make_watch()
        self.network.seen = self.watch.leaves
        self.network.arrived = self.watch.arrives
        self.network.links.changed = self.watch.on_link_changed
        self.forgotten: set[int] = set()
        self.fired: dict[str, int] = {}
        self.events_max = EVENTS_MAX
        self._phase = 0
        for node_id in plan.ids:
            self.nodes[node_id] = self._make_node(node_id, voters)
        self.network.uses_codec = plan.codec or not speaks_newest(list(self.nodes.values()))
        self.network.delivers_late_answers = plan.late_answers
        self.clients = Clients(self.world, self.ledger, plan.load, self.stream("clients"))
        self.rogue_clients = RogueClients(
            self.world, self.ledger, self.watch.answers, plan.load.rogue_ms, self.stream("strangers")
        )

    def stream(self, *names: str | int) -> Random:
        return stream(self.plan.seed, *names)

    def rng_of_link(self, source: int, target: int) -> Random:
        name = link_name(source, target, len(self.plan.ids))
        return self.noise.of(self.stream("link", source, target), name)

    # Making it

    def _make_watch(self) -> Watch:
        return Watch(self.world, self.ledger, self.trace)

    def _make_network(self) -> Network:
        return Network(self.world, Latency(*self.plan.latency), self.rng_of_link)  # type: ignore[arg-type]

    def _voter_set(self) -> VoterSet:
        dynamic = self.plan.kraft_version > 0
        voters = []
        for node_id in self.plan.voter_ids:
            key = ReplicaKey(node_id)
            if dynamic:
                key = ReplicaKey(node_id, directory_id(self.plan.seed, node_id, 1))
            # What a static voter supports is not known before it has told the leader.
            voters.append(Voter(key, (endpoint(node_id),), (0, 1) if dynamic else (0, 0)))
        return VoterSet(voters)

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        plan = self.plan
        node = Node(self.world, self.network, self.triggers, self.watch, plan.seed, node_id, self._make_process)
        node.config = RaftConfig(CLUSTER, endpoints=node.endpoints(), **plan.config)
        node.static_voters = voters
        node.limits = node.limits._replace(segment_bytes_max=plan.segment_bytes, cache_bytes_max=plan.cache_bytes)
        node.release = plan.releases.get(node_id, NEWEST)
        node.snapshot_every, node.snapshot_padding = plan.snapshot_every, plan.snapshot_padding
        node.pace = DiskPace(*plan.pace)  # type: ignore[arg-type]
        node.journal = plan.journal
        node.removes_quorum_state = plan.removes_quorum_state
        node.disk_rng = self.noise.of(node.disk_rng, disk_name(node_id))
        start_ms, ppm = plan.clocks.get(node_id, [0, 0])
        node.clock.__init__(start_ms * MS, ppm)  # type: ignore[misc]
        if plan.kraft_version:
            self._format(node, voters)
        return node

    def _make_process(self, node: Node) -> Process:
        return Process(node)

    def _format(self, node: Node, voters: VoterSet) -> None:
        """Write the 0-0 snapshot with the voters, as the formatter does (KIP-853); then none are configured."""
        bytes_of = SnapshotBytes(0, 0)
        data = bytes_of.header(0, 1, voters_record(voters)) + bytes_of.footer()
        node.disk.directories.add(DIRECTORY)
        if node.id in self.ledger.formatted.ids:
            node.disk.put(f"{DIRECTORY}/{snapshot_name(0, 0)}", data, read_only=True)
        self._configure_bootstrap(node)

    def _configure_bootstrap(self, node: Node) -> None:
        node.static_voters = VoterSet()
        node.config.bootstrap_servers = tuple(endpoint(each) for each in self.plan.voter_ids if each != node.id)

    # Operations for faults

    def strikes(self, death: Dead) -> None:
        """Kill the process that has reached the trigger, at that point."""
        raise death

    def count(self, name: str) -> None:
        self.fired[name] = self.fired.get(name, 0) + 1

    def later(self, delay_ms: int, act: Callable[..., Any], *args: Any) -> None:
        """Call `act(*args)` after a while, unless the faults have ended by then and everything is healed."""
        self.world.after(delay_ms * MS, self._if_same_phase, self._phase, act, args)

    def _if_same_phase(self, phase: int, act: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if phase == self._phase:
            act(*args)

    def on_disk_replaced(self, node: Node) -> None:
        """A disk no longer has the contents that its node reported as saved."""
        node.disks_lost += 1
        self.forgotten.add(node.id)
        self.ledger.damaged.discard(node.id)
        self.ledger.forget_disk(node)
        self.watch.recovery.on_disk_replaced(node)

    def lose_snapshot(self, node: Node, snapshot: SnapshotId) -> None:
        """A disk no longer has the newest snapshot of its node."""
        self.watch.recovery.on_snapshot_lost(node, snapshot)

    def make_observer(self, node: Node) -> None:
        """Make an observer of a voter with another directory id: where voters have directory ids, it votes no more
        (KIP-853).
        """
        self._configure_bootstrap(node)


def formatted_voters(voters: VoterSet) -> Voters:
    """The voters that nodes are formatted with, or static voters, as the properties compare them."""
    return Voters(
        tuple((voter.key.id, voter.key.directory_id) for voter in voters),
        tuple(voter.endpoints[0].host for voter in voters),
    )
