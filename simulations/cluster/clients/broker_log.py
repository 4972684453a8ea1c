"""The observer within a model broker: it reads the log by Fetch and FetchSnapshot, and applies committed records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import METADATA_TOPIC_ID
from simulations.cluster.metadata.image import Image, Settling, batches_of, decode_batch
from simulations.nodes.client import BACKOFF_MS
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.cluster.clients.interfaces import BrokerLife
    from simulations.nodes.client import Client

FETCH_TIMEOUT_MS = 2000
PART_BYTES = 1 << 20


class LogReader:
    """Reads the log, applies committed records, and restarts from snapshots."""

    def __init__(self, process: BrokerLife) -> None:
        self._process = process
        self._client: Client | None = None
        self._ahead: list[tuple[int, int, int, bytes]] = []  # base, end, epoch of what is not known to be committed
        self._applied_epoch = -1
        self._leader_epoch = 0
        self._snapshot: tuple[int, int] | None = None
        self._parts = bytearray()
        self._settling = Settling()

    def fetch(self) -> None:
        """Fetch the next records."""
        process = self._process
        if process.is_over:
            return
        end, epoch = process.image.end_offset, self._applied_epoch
        if self._ahead:
            end, epoch = self._ahead[-1][1:3]
        asked = FetchRequest.FetchTopic.FetchPartition(
            partition=0, current_leader_epoch=self._leader_epoch, fetch_offset=end, last_fetched_epoch=max(epoch, 0),
            log_start_offset=-1, partition_max_bytes=0, replica_directory_id=process.machine.replica_directory,
        )  # fmt: skip
        request = FetchRequest(
            cluster_id=process.run.cluster_id,
            replica_state=FetchRequest.ReplicaState(replica_id=process.id, replica_epoch=-1),
            max_wait_ms=process.run.plan.fetch_wait_ms,
            min_bytes=0,
            max_bytes=8 << 20,
            topics=(FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=(asked,)),),
        )
        process.fetching.ask(request, self._on_fetched, FETCH_TIMEOUT_MS)

    def _on_fetched(self, response: Any) -> None:
        process = self._process
        if response is None or response.error_code != Error.NONE or not response.responses:
            self._again(BACKOFF_MS)
            return
        data = response.responses[0].partitions[0]
        leader = data.current_leader
        self._leader_epoch = max(self._leader_epoch, leader.leader_epoch)
        if data.error_code != Error.NONE:
            if leader.leader_id in process.run.nodes:
                process.fetching.target = leader.leader_id
                process.world.after(BACKOFF_MS * MS // 4, process.fetching.when_awake, self.fetch)
            else:
                self._again(BACKOFF_MS)
            return
        if data.diverging_epoch.epoch >= 0:
            self._truncate(data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
        elif data.snapshot_id.epoch >= 0:
            self._snapshot = (data.snapshot_id.end_offset, data.snapshot_id.epoch)
            self._parts.clear()
            self._fetch_part()
            return
        else:
            self._take(data.records or b"", data.high_watermark)
        process.world.after(MS, process.fetching.when_awake, self.fetch)

    def _again(self, delay_ms: int) -> None:
        process = self._process
        process.fetching.look_elsewhere()
        process.world.after(delay_ms * MS, process.fetching.when_awake, self.fetch)

    def _take(self, data: bytes, high_watermark: int) -> None:
        for base, end, batch in batches_of(data):
            epoch = int.from_bytes(batch[12:16], "big", signed=True)
            self._ahead.append((base, end, epoch, batch))
        image = self._process.image
        while self._ahead and self._ahead[0][1] <= high_watermark:
            base, end, epoch, batch = self._ahead.pop(0)
            if base != image.end_offset:
                raise Violation("L09", f"broker {self._process.id} got the offset {base}, expected {image.end_offset}")
            for _, record in self._settling.take(batch):
                image.apply(record)
            image.end_offset = end
            self._applied_epoch = epoch

    def _truncate(self, epoch: int, end_offset: int) -> None:
        image = self._process.image
        if end_offset < image.end_offset:
            text = (
                f"broker {self._process.id} has applied {image.end_offset}, and would have to truncate to {end_offset}"
            )
            raise Violation("S11", text)
        while self._ahead and (self._ahead[-1][1] > end_offset or self._ahead[-1][2] > epoch):
            self._ahead.pop()

    # Snapshots

    def _fetch_part(self) -> None:
        process = self._process
        assert self._snapshot is not None
        asked = FetchSnapshotRequest.TopicSnapshot
        partition = asked.PartitionSnapshot(
            partition=0, current_leader_epoch=self._leader_epoch,
            snapshot_id=asked.PartitionSnapshot.SnapshotId(end_offset=self._snapshot[0], epoch=self._snapshot[1]),
            position=len(self._parts), replica_directory_id=process.machine.replica_directory,
        )  # fmt: skip
        request = FetchSnapshotRequest(
            cluster_id=process.run.cluster_id, replica_id=process.id, max_bytes=PART_BYTES,
            topics=(asked(name=METADATA_TOPIC, partitions=(partition,)),),
        )  # fmt: skip
        process.fetching.ask(request, self._part_came, FETCH_TIMEOUT_MS)

    def _part_came(self, response: Any) -> None:
        if response is None or response.error_code != Error.NONE or not response.topics:
            self._again(BACKOFF_MS)
            return
        data = response.topics[0].partitions[0]
        if data.error_code != Error.NONE or data.position != len(self._parts):
            self._again(BACKOFF_MS)
            return
        self._parts += data.unaligned_records
        if len(self._parts) < data.size:
            self._fetch_part()
            return
        self._load()
        self.fetch()

    def _load(self) -> None:
        assert self._snapshot is not None
        image = self._process.image = Image()
        for _, _, batch in batches_of(bytes(self._parts)):
            for _, record in decode_batch(batch):
                image.apply(record)
        image.end_offset, self._applied_epoch = self._snapshot
        self._settling = Settling()
        self._ahead.clear()
        self._parts.clear()
        self._snapshot = None
