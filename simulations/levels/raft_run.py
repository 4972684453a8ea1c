"""One run: a world made from a plan, its faults, and the calm behind them; what comes of it."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from raft.config import RaftConfig, ReplicaKey, Voter
from raft.storage.log import LogLimits
from raft.storage.names import snapshot_name
from raft.storage.snapshot_file import SnapshotBytes
from raft.voters import VoterSet, voters_record
from simulations.coverage.seen import Seen
from simulations.faults.table import KINDS
from simulations.levels.raft_watch import Watch
from simulations.levels.recovery_phase import CalmPhase
from simulations.running.closeup import tell_writes
from simulations.running.outcome import Outcome
from simulations.world import scale
from simulations.world.connections import Network, speaks_newest
from simulations.world.disk import DIRECTORY
from simulations.world.files import Dead
from simulations.world.ledger import Ledger
from simulations.world.links import Latency
from simulations.world.load import Clients
from simulations.world.machine import DiskPace, endpoint
from simulations.world.noise import BEGIN, Noise, disk_name, link_name
from simulations.world.process import Node, Process
from simulations.world.releases import NEWEST
from simulations.world.rogue_clients import Strangers
from simulations.world.streams import between, directory_id, stream
from simulations.world.trace import FAULT, Trace
from simulations.world.triggers import Pending, Triggers
from simulations.world.violation import Violation
from simulations.world.world import MS, TooBusy, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.plans.plan import Fault, Plan
    from simulations.running.closeup import Told

CLUSTER = "simulated-cluster-id"
EVENTS_MAX = 4_000_000
"""More than any sound run has."""

# The node that was killed may take so long to be at work, in ms.
_STARTS_WITHIN_MS = 60


class Run:
    """The world of one plan. forgotten: ids of nodes whose disk was replaced."""

    def __init__(self, plan: Plan, written: Callable[[bytes], None] | None = None) -> None:
        scale.shrink()
        self.plan = plan
        self.world = World()
        self.trace = Trace(written)
        self.noise = Noise(self.world, plan.noise_ms, plan.noise_of)
        self.network = self._make_network()
        self.nodes: dict[int, Node] = {}
        self.ledger = Ledger(self.nodes, tuple(plan.voter_ids))
        self.triggers = Triggers(self.ledger)
        self.watch = self._make_watch()
        self.network.seen = self.watch.leaves
        self.network.arrived = self.watch.arrives
        self.network.links.changed = self.watch.link_changed
        self.forgotten: set[int] = set()
        self.fired: dict[str, int] = {}
        self.events_max = EVENTS_MAX
        self._phase = 0
        voters = self._voter_set()
        for node_id in plan.ids:
            self.nodes[node_id] = self._make_node(node_id, voters)
        self.network.uses_codec = plan.codec or not speaks_newest(list(self.nodes.values()))
        self.network.tells_late = plan.late_answers
        self.clients = Clients(self.world, self.ledger, plan.load, self.stream("clients"))
        self.strangers = Strangers(
            self.world, self.ledger, self.watch.answers, plan.load.strangers_ms, self.stream("strangers")
        )
        self.calm = CalmPhase(self)

    def stream(self, *names: str | int) -> Random:
        return stream(self.plan.seed, *names)

    def luck_of_link(self, source: int, target: int) -> Random:
        name = link_name(source, target, len(self.plan.ids))
        return self.noise.of(self.stream("link", source, target), name)

    def keep_count(self) -> None:
        """Have what it comes to counted."""
        self.watch.seen = Seen(self.ledger)
        self.watch.told = self.watch.told or self.watch.seen.moments.told

    def execute(self) -> Outcome:
        """Live it through."""
        outcome = Outcome(self.plan.seed)
        try:
            self.begin()
            self.world.run(self.plan.chaos_ms * MS, self.events_max)
            self.end_chaos()
            if not self.plan.calm.skipped:
                self.calm.live_through()
            self.watch.validator.conclude()
        except Violation as violation:
            outcome.property_id, outcome.text = violation.property_id, violation.text
        except TooBusy as busy:
            outcome.property_id, outcome.text = "L11", str(busy)
        except Exception as error:
            outcome.property_id = "ASSERT"
            outcome.text = describe_error(error)
        outcome.at_us = self.world.now
        outcome.trace_hash = self.trace.finish()
        outcome.events, outcome.steps, outcome.messages = self.world.events, self.watch.steps, self.network.messages
        outcome.committed = self.ledger.history.end
        outcome.acknowledged = len(self.watch.commits.acknowledged)
        outcome.decisions = self.noise.decisions
        outcome.epochs = max(self.watch.elections.leaders, default=0)
        outcome.fired, outcome.notes = self.fired, self.watch.notes
        outcome.refused = self.watch.validator.refused
        if self.watch.seen is not None:
            outcome.seen = self.watch.seen.counts(self.watch.validator)
        if self.watch.told is not None:
            self._tell_rest(self.watch.told)
        calm = self.calm
        outcome.elected_ms, outcome.committed_ms = calm.elected_ms, calm.committed_ms
        outcome.caught_up_ms = calm.caught_up_ms
        return outcome

    def _tell_rest(self, told: Told) -> None:
        """What is known when the run is over."""
        tell_writes(self.ledger.history, told)

    # Making it

    def _make_watch(self) -> Watch:
        return Watch(self.world, self.ledger, self.trace)

    def _make_network(self) -> Network:
        return Network(self.world, Latency(*self.plan.latency), self.luck_of_link)  # type: ignore[arg-type]

    def _voter_set(self) -> VoterSet:
        dynamic = self.plan.kraft_version > 0
        voters = []
        for node_id in self.plan.voter_ids:
            key = ReplicaKey(node_id)
            if dynamic:
                key = ReplicaKey(node_id, directory_id(self.plan.seed, node_id, 1))
            voters.append(Voter(key, (endpoint(node_id),), (0, 1)))
        return VoterSet(voters)

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        plan = self.plan
        node = Node(self.world, self.network, self.triggers, self.watch, plan.seed, node_id, self._make_process)
        node.config = RaftConfig(CLUSTER, endpoints=node.endpoints(), **plan.config)
        node.static_voters = voters
        node.limits = LogLimits(segment_bytes_max=plan.segment_bytes, cache_bytes_max=plan.cache_bytes)
        node.release = plan.releases.get(node_id, NEWEST)
        node.snapshot_every, node.snapshot_padding = plan.snapshot_every, plan.snapshot_padding
        node.pace = DiskPace(*plan.pace)  # type: ignore[arg-type]
        node.journal = plan.journal
        node.disk_luck = self.noise.of(node.disk_luck, disk_name(node_id))
        start_ms, ppm = plan.clocks.get(node_id, [0, 0])
        node.clock.__init__(start_ms * MS, ppm)  # type: ignore[misc]
        if plan.kraft_version:
            self._format(node, voters)
        return node

    def _make_process(self, node: Node) -> Process:
        return Process(node)

    def _format(self, node: Node, voters: VoterSet) -> None:
        """The 0-0 snapshot with the voters, as the formatter leaves it (KIP-853); then none are configured."""
        bytes_of = SnapshotBytes(0, 0)
        data = bytes_of.header(0, 1, voters_record(voters)) + bytes_of.footer()
        node.disk.directories.add(DIRECTORY)
        if node.id in self.ledger.voter_ids:
            node.disk.put(f"{DIRECTORY}/{snapshot_name(0, 0)}", data, read_only=True)
        self._configure_bootstrap(node)

    def _configure_bootstrap(self, node: Node) -> None:
        node.static_voters = VoterSet()
        node.config.bootstrap_servers = tuple(endpoint(each) for each in self.plan.voter_ids if each != node.id)

    # Faults

    def begin(self) -> None:
        """Start all nodes, and have the faults strike when they are due."""
        rng = self.noise.of(self.stream("begin"), BEGIN)
        for node in self.nodes.values():
            node.start_after(between(rng, 0, _STARTS_WITHIN_MS * MS))
        for place, fault in enumerate(self.plan.faults):
            self.world.at(fault.at_ms * MS, self._arm, place, fault)

    def _arm(self, place: int, fault: Fault) -> None:
        if self._phase:
            return
        if fault.on:

            def strike(process: Process) -> None:
                self._strike(place, fault, process)

            self.triggers.arm(fault.on, Pending(fault.nth, fault.node, fault.role, strike))
        elif fault.when:
            self.triggers.arm_state(fault.when, lambda process: self._strike(place, fault, process))
        else:
            self._strike(place, fault, None)

    def _strike(self, place: int, fault: Fault, struck: Process | None) -> None:
        at = 0 if struck is None else struck.node.id
        self.trace.add((self.world.now, FAULT, at, place, fault.kind))
        try:
            done = self._do(fault, struck)
        except Dead:
            self.count(fault.kind)
            raise
        if done:
            self.count(fault.kind)

    def _do(self, fault: Fault, struck: Process | None) -> bool:
        """Whether there was anything to do it to."""
        return KINDS[fault.kind].strike(self, fault.args, struck)

    def strikes(self, death: Dead) -> None:
        """The process that has reached the trigger dies there."""
        raise death

    def count(self, name: str) -> None:
        self.fired[name] = self.fired.get(name, 0) + 1

    def later(self, delay_ms: int, act: Callable[..., Any], *args: Any) -> None:
        """Call `act(*args)` after a while, unless the faults are over by then and all is healed."""
        self.world.after(delay_ms * MS, self._if_same_phase, self._phase, act, args)

    def _if_same_phase(self, phase: int, act: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if phase == self._phase:
            act(*args)

    def disk_replaced(self, node: Node) -> None:
        """A disk holds something else than its node had promised."""
        node.forgot += 1
        self.forgotten.add(node.id)
        self.ledger.damaged.discard(node.id)
        self.ledger.forget_disk(node)
        self.watch.recovery.disk_replaced(node)

    def make_observer(self, node: Node) -> None:
        """Where voters are known by their directories, one with another directory votes no more (KIP-853)."""
        if node.id in self.ledger.voter_ids:
            self.ledger.gone.add(node.id)
        self._configure_bootstrap(node)

    def end_chaos(self) -> None:
        """All faults end, and what they broke is mended; what waited to be undone is undone by this."""
        self._phase += 1
        self.triggers.disarm()
        network = self.network
        network.rules.clear()
        for key in list(network.crossed):
            del network.crossed[key]
            for connection in network.open_connections():
                if connection.client.node.id == key[0] and connection.channel.host == key[1]:
                    network.reset(connection)
        network.links.heal_all()
        for link in network.links.all():
            link.latency, link.extra_us, link.bytes_per_ms = Latency(), 0, 0
        for node in self.nodes.values():
            node.disk_faults.clear()
            node.disk.full = False
            node.pace, node.pace_times, node.step_us = DiskPace(), 1, 0
            node.freeze_clock(frozen=False)
            node.resume()
            if node.id in self.ledger.damaged:
                node.kill()  # so that a start finds what is wrong


def describe_error(error: BaseException) -> str:
    """Type and text of an error, and the last lines of where it came from, without what differs from run to run."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(
        f"{frame.name} ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in reversed(frames)
    )
    return f"{type(error).__name__}: {error} [{where}]"
