"""The log directories of a model broker: it reports where each replica is, and which directory has failed (KIP-858)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.partitions import AssignReplicasToDirsRequest
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from simulations.cluster.metadata.member_rules import DIRECTORIES_SINCE, METADATA_VERSION
from simulations.nodes.client import Client, is_elsewhere
from simulations.world.streams import between

if TYPE_CHECKING:
    from simulations.cluster.clients.interfaces import BrokerLife

REQUEST_TIMEOUT_MS = 1500
# How often a replica is moved from one directory to another.
MOVES = 0.03

DirectoryData = AssignReplicasToDirsRequest.DirectoryData
TopicData = DirectoryData.TopicData
PartitionData = TopicData.PartitionData


class Directories:
    """online: those that worked when the process began; failed: those of them that failed since."""

    def __init__(self, process: BrokerLife) -> None:
        self._process = process
        machine = process.machine
        self.online = [each for each in machine.directories if each not in machine.offline]
        self.failed: list[bytes] = []
        self._waits = False
        self._last: AssignReplicasToDirsRequest | None = None
        self._client: Client | None = None
        if process.run.plan.directories > 1:  # of a single one the controller knows by itself
            self._rng = process.run.stream("directories", process.id, process.life)
            self._client = Client(process.world, process.run.network, self._rng, process.id, process.run.plan.voter_ids)

    @property
    def clients(self) -> list[Client]:
        return [] if self._client is None else [self._client]

    def start(self) -> None:
        """Begin to report directories."""
        if self._client is not None:
            self._process.later(self._process.run.plan.lead_every_ms, self._act)

    def fail(self, directory: bytes) -> None:
        if directory in self.online:
            self.failed.append(directory)

    def has(self, key: tuple[bytes, int]) -> bool:
        """Whether the broker's replica of a partition can be read, as far as its directory is known."""
        if self._client is None:
            return True
        partition = self._process.image.partitions.get(key)
        at = UNASSIGNED_DIRECTORY if partition is None else partition.directory_of(self._process.id)
        return at not in self._process.machine.offline

    def _act(self) -> None:
        """Report the directories of replicas that the controller does not know, or that were moved."""
        process, client = self._process, self._client
        assert client is not None, "there are several directories"
        process.later(between(self._rng, 1, 2 * process.run.plan.lead_every_ms), self._act)
        echoes = process.run.plan.echoes
        well = [each for each in self.online if each not in self.failed]
        is_known = process.image.features.get(METADATA_VERSION, 0) >= DIRECTORIES_SINCE
        if process.epoch < 0 or client.is_paused or self._waits or not well or not is_known:
            return
        assignments: dict[bytes, dict[bytes, list[int]]] = {}
        for (topic_id, index), partition in process.image.partitions.items():
            if process.id not in partition.replicas:
                continue
            at = partition.directory_of(process.id)
            # A replica whose disk was moved to another broker is made anew.
            is_away = at not in (*process.machine.directories, MIGRATING_DIRECTORY)
            if at == UNASSIGNED_DIRECTORY or is_away or (at in well and self._rng.random() < MOVES):
                chosen = well[int(self._rng.random() * len(well))]
                assignments.setdefault(chosen, {}).setdefault(topic_id, []).append(index)
        if assignments:
            self._last = self._request(assignments)
        elif not echoes or self._last is None or self._rng.random() >= echoes:
            return
        # It may be the former request once more, as after a timeout: its directory may have failed since.
        self._waits = True
        client.ask(self._last, self._on_answer, REQUEST_TIMEOUT_MS)

    def _request(self, assignments: dict[bytes, dict[bytes, list[int]]]) -> AssignReplicasToDirsRequest:
        return AssignReplicasToDirsRequest(
            broker_id=self._process.id,
            broker_epoch=self._process.epoch,
            directories=tuple(
                DirectoryData(
                    id=directory,
                    topics=tuple(
                        TopicData(
                            topic_id=topic_id,
                            partitions=tuple(PartitionData(partition_index=index) for index in indexes),
                        )
                        for topic_id, indexes in topics.items()
                    ),
                )
                for directory, topics in assignments.items()
            ),
        )

    def _on_answer(self, response: Any) -> None:
        self._waits = False
        if response is None or is_elsewhere(response.error_code):
            self.clients[0].look_elsewhere()
        elif response.error_code == Error.STALE_BROKER_EPOCH:
            self._waits = True  # of a process that is over; it will hear of it
