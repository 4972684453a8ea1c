"""The world of one rehearsal: the product's controllers on simulated machines, at the sites of a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.served import served_config
from controller.server.start import raft_config
from raft.interface.config import ReplicaKey, Voter
from raft.interface.voters import VoterSet, voters_record
from raft.state.roles import Follower
from raft.storage.log import LogLimits
from raft.storage.names import segment_offset, snapshot_name
from raft.storage.snapshot_file import SnapshotBytes
from records.batch import batches, records_of
from records.features.levels import LATEST_PRODUCTION
from records.frame import decode_record
from records.metadata.configs import ClientQuotaRecord
from simulations.nodes.driver import ControllerProcess, bootstrap
from simulations.nodes.wire import ClusterNetwork
from simulations.rehearsal.clients import USER, WRITERS, Heartbeats, Writer
from simulations.rehearsal.observed import Observed
from simulations.world.disk import DIRECTORY
from simulations.world.links import Latency
from simulations.world.machine import DiskPace, Machine, endpoint
from simulations.world.streams import directory_id, stream
from simulations.world.triggers import Triggers
from simulations.world.world import MS, World

if TYPE_CHECKING:
    from random import Random

    from raft.interface.config import RaftConfig
    from simulations.rehearsal.layout import Layout
    from simulations.rehearsal.metadata import Metadata
    from simulations.world.process import Process
    from simulations.world.trace import Trace

CLUSTER = "rehearsed-cluster-id"
# A packet takes from half of the round trip to this share more of it; a sync likewise.
SPREAD = 0.25
# A round trip between a client and a node.
NEAR_US = 100

Node = Machine[Any]


class RehearsalWorld:
    """nodes: by id. led_by: the node that is started first, so that it is likely to be elected."""

    def __init__(
        self, layout: Layout, metadata: Metadata | None, seed: int, led_by: int, trace: Trace | None = None
    ) -> None:
        self.layout = layout
        self.metadata = metadata
        self.seed = seed
        self.world = World()
        self.observed = Observed(self.world, trace)
        self.network = ClusterNetwork(self.world, Latency(NEAR_US // 2, 0), self._rng_of_link)
        self.network.uses_codec = False
        self.network.seen = self.observed.leaves
        self.network.links.changed = self.observed.on_link_changed
        self.nodes: dict[int, Node] = {}
        triggers = Triggers(None)  # type: ignore[arg-type]  # nothing is armed
        voters = self._voter_set()
        begins_with = bootstrap(LATEST_PRODUCTION)
        checkpoint = self._checkpoint(voters)
        for node_id in layout.voters:
            properties = self._properties(node_id)
            node: Node = Machine(
                self.world, self.network, triggers, self.observed, seed, node_id,  # type: ignore[arg-type]
                lambda machine, own=properties: ControllerProcess(machine, own, begins_with),  # type: ignore[misc]
            )  # fmt: skip
            self.nodes[node_id] = node
            node.config = self._raft_config(node)
            node.limits = LogLimits()
            node.static_voters = VoterSet() if layout.kraft_version else voters
            node.pace = self.pace(layout.disk_sync_ms)
            if checkpoint is not None:
                node.disk.directories.add(DIRECTORY)
                node.disk.put(f"{DIRECTORY}/{checkpoint[0]}", checkpoint[1], read_only=True)
        self._set_latencies()
        self._start(led_by)
        self.writers = [Writer(self, place) for place in range(WRITERS)]
        self.heartbeats = Heartbeats(self, [] if metadata is None else metadata.brokers)

    def stream(self, *names: str | int) -> Random:
        return stream(self.seed, *names)

    # Making it

    def _rng_of_link(self, source: int, target: int) -> Random:
        return self.stream("link", source, target)

    def _voter_set(self) -> VoterSet:
        voters = []
        is_dynamic = self.layout.kraft_version > 0
        for node_id in self.layout.voters:
            key = ReplicaKey(node_id, directory_id(self.seed, node_id, 1)) if is_dynamic else ReplicaKey(node_id)
            voters.append(Voter(key, (endpoint(node_id),), (0, 1) if is_dynamic else (0, 0)))
        return VoterSet(voters)

    def _checkpoint(self, voters: VoterSet) -> tuple[str, bytes] | None:
        """Name and bytes of the snapshot that every disk begins with; None where it begins empty."""
        level = self.layout.kraft_version
        record = voters_record(voters) if level else None
        if self.metadata is not None:
            name = snapshot_name(self.metadata.end_offset, self.metadata.epoch)
            return name, self.metadata.checkpoint(level, record, 1)
        if not level:
            return None
        built = SnapshotBytes(0, 0)
        return snapshot_name(0, 0), built.header(0, level, record) + built.footer()

    def _properties(self, node_id: int) -> dict[str, str]:
        voters = self.layout.voters
        return {
            "process.roles": "controller",
            "node.id": str(node_id),
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://node-{node_id}:9093",
            "controller.quorum.voters": ",".join(f"{each}@node-{each}:9093" for each in voters),
            "log.dirs": "node",
            **{key: str(value) for key, value in self.layout.properties.items()},
        }

    def _raft_config(self, node: Node) -> RaftConfig:
        config = raft_config(served_config(self._properties(node.id)), CLUSTER, node.endpoints())
        if self.layout.kraft_version:
            config.bootstrap_servers = tuple(endpoint(each) for each in self.layout.voters if each != node.id)
        return config

    def _set_latencies(self) -> None:
        for one in self.nodes:
            for other in self.nodes:
                if one != other:
                    one_way_us = self.layout.round_trip(one, other) * MS / 2
                    self.network.links.link(one, other).latency = Latency(int(one_way_us), int(one_way_us * SPREAD))

    @staticmethod
    def pace(sync_ms: float) -> DiskPace:
        return DiskPace(int(sync_ms * MS), int(sync_ms * MS * SPREAD))

    def _start(self, led_by: int) -> None:
        """Start all; the others hold their first election back, so that the one that was started first may win it."""
        for node_id, node in self.nodes.items():
            if node_id == led_by:
                node.start_after(0)
            else:
                node.config.first_election_timeout_ms = 3 * node.config.election_timeout_ms
                node.start_after(20 * MS + int(self.stream("start", node_id).random() * 20 * MS))

    def settle(self) -> None:
        """The quorum is up: from now on every start is as configured."""
        for node in self.nodes.values():
            node.config.first_election_timeout_ms = self._raft_config(node).first_election_timeout_ms

    # What is asked of it

    @property
    def load_us(self) -> int:
        """How long the replay of the metadata takes when a process starts."""
        count = 0 if self.metadata is None else len(self.metadata.values)
        return int(count / self.layout.records_per_s * 1000 * MS)

    @property
    def start_us(self) -> int:
        """The time from the start of a process until it listens."""
        return int(self.layout.start_ms * MS) + self.load_us

    def active(self) -> Process | None:
        """The active controller with the highest epoch: what a broker finds once it knows the new leader."""
        processes = [
            node.process for node in self.nodes.values()
            if node.process is not None and node.process.is_listening and node.process.machine.leads is not None
        ]  # fmt: skip
        return max(processes, key=lambda each: each.replica.epoch, default=None)

    def serving(self, offset: int = 1) -> list[int]:
        """The active controller, then those that follow it, by id; each has applied the log up to `offset`."""
        active = self.active()
        if active is None:
            return []
        epoch = active.replica.epoch
        following = [
            node.id for node in self.nodes.values()
            if (process := node.process) is not None and process is not active and process.is_listening
            and isinstance(process.replica.role, Follower) and process.replica.epoch == epoch
            and process.machine.offset >= offset
        ]  # fmt: skip
        return [active.node.id, *following]

    def epoch(self) -> int:
        """The highest epoch that a running node knows."""
        return max(
            (node.process.replica.epoch for node in self.nodes.values() if node.process and node.process.is_listening),
            default=0,
        )

    def writes_on(self, node_id: int) -> set[int]:
        """The numbers of the writes in the log of a node, as a process that starts there would read it."""
        numbers: set[int] = set()
        disk = self.nodes[node_id].disk
        for path, inode in disk.files.items():
            if segment_offset(path.rpartition("/")[2], ".log") is None:
                continue
            data = bytes(inode.data)
            for batch in batches(data):
                if not batch.is_control:
                    numbers |= _numbers([record.value for record in records_of(data, batch)])
        return numbers


def _numbers(values: list[bytes | None]) -> set[int]:
    numbers = set()
    for value in values:
        if value is None or USER.encode() not in value:
            continue
        record, _ = decode_record(value)
        if isinstance(record, ClientQuotaRecord):
            numbers.add(int(record.value))
    return numbers
