"""A live quorum as a source: committed records are fetched from its leader, as an observer does (KIP-595, KIP-630).

The requests carry the replica id -1, so that the leader does not track us as an observer. Like any empty replica, the
reader must fetch a snapshot first, if there is one.
"""

from __future__ import annotations

import asyncio
import time
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pipeline.source.columns import batch_of_findings
from pipeline.source.options import OptionError
from pipeline.source.ranges import Finding, Plan, of_no_file
from pipeline.source.reading import Wanted, decode
from raft.config import Endpoint
from raft.network.channel import Channel
from records.batch import CorruptBatch, read_header
from records.errors import Error, error_name
from records.messages.cluster import DescribeClusterRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import METADATA_TOPIC_ID

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FETCH_BYTES = 8 << 20
# Offsets of a task; how many bytes they are is not known before they are fetched.
OFFSETS_PER_RANGE = 1_000_000
ANSWER_S_MAX = 10.0
ATTEMPT_S_MAX = 30.0  # an election ends within seconds
_RETRY_S = 0.3
_CONTROLLERS = 2


class Unreachable(Exception):
    """No node of the quorum gives a usable response. The text is one line with the node and its last error."""


class Leader(NamedTuple):
    """The leader of the quorum, and the high watermark."""

    cluster_id: str
    node_id: int
    endpoint: Endpoint
    epoch: int
    high_watermark: int


def endpoints_of(text: str) -> tuple[Endpoint, ...]:
    """The nodes in an option, host:port, separated by commas; raises OptionError."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        host, sign, port = part.rpartition(":")
        if not sign or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise OptionError(f"quorum: {part!r} is not host:port")
        found.append(Endpoint("CONTROLLER", host.strip("[]"), int(port)))
    if not found:
        raise OptionError("quorum: no host:port given")
    return tuple(found)


class Asking:
    """Blocking requests over channels of its own; a context manager."""

    def __init__(self, client: str) -> None:
        self.client = client
        self.loop = asyncio.new_event_loop()
        self.channels: dict[Endpoint, Channel] = {}
        self.answers: asyncio.Future[Any] | None = None
        self.number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for channel in self.channels.values():
            channel.close()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    def ask(self, endpoint: Endpoint, request: Any) -> Any:
        """The response; raises Unreachable."""
        return self.loop.run_until_complete(self._ask(endpoint, request))

    async def _ask(self, endpoint: Endpoint, request: Any) -> Any:
        where = f"{endpoint.host}:{endpoint.port}"
        self.number += 1
        self.answers = self.loop.create_future()
        channel = self.channels.get(endpoint) or self._channel(endpoint)
        channel.send(self.number, endpoint, request)
        try:
            found = await asyncio.wait_for(self.answers, ANSWER_S_MAX)
        except TimeoutError:
            raise Unreachable(f"{where} does not answer within {ANSWER_S_MAX:.0f} s") from None
        if isinstance(found, Error):
            raise Unreachable(f"{where}: {error_name(found)}")
        return found

    def _channel(self, endpoint: Endpoint) -> Channel:
        made = self.channels[endpoint] = Channel(
            self.loop, self.client, Random(), on_answer=self._on_result, on_failure=self._on_result,
            on_refused=lambda: None, note=lambda _event, _fields: None,
        )  # fmt: skip
        return made

    def _on_result(self, number: int, what: Any) -> None:
        if number == self.number and self.answers is not None and not self.answers.done():
            self.answers.set_result(what)


class Quorum(NamedTuple):
    """The log of a live quorum."""

    endpoints: tuple[Endpoint, ...]
    client: str
    range_bytes: int

    def plans(self, progress: Mapping[str, Mapping[str, int]], *, is_live: bool) -> tuple[list[Plan], list[Finding]]:
        """A plan for the committed records from the progress on. Raises Unreachable."""
        del is_live
        with Asking(self.client) as asking:
            leader = leader_of(asking, self.endpoints)
            done = progress.get(leader.cluster_id, {}).get("offset", 0)
            parts: list[Any] = []
            begin = done
            if done < leader.high_watermark:
                response = _fetch(asking, leader, done, 1)
                if response.snapshot_id is not None and response.snapshot_id.end_offset >= 0:
                    snapshot = response.snapshot_id
                    parts.append(QuorumSnapshot(self, leader.cluster_id, snapshot.end_offset, snapshot.epoch))
                    begin = snapshot.end_offset
        for start in range(begin, leader.high_watermark, OFFSETS_PER_RANGE):
            end = min(start + OFFSETS_PER_RANGE, leader.high_watermark)
            parts.append(QuorumRange(self, leader.cluster_id, start, end))
        findings = []
        if begin > done > 0:
            problem = f"{leader.endpoint.host}: offsets {done} to {begin - 1} are in a snapshot alone"
            findings.append(Finding(leader.cluster_id, None, None, None, done, "gap", problem))
        return [Plan(leader.cluster_id, tuple(parts), tuple(findings), max(leader.high_watermark, done))], []


class QuorumRange(NamedTuple):
    """Offsets that are fetched from the current leader. The fields of a `Range` that it cannot fill are unknown."""

    quorum: Quorum
    cluster_id: str
    base_offset: int
    end_offset: int
    until: int = (1 << 63) - 1
    checkpoint_end_offset: int = -1
    epoch: int = -1
    start: int = 0
    end: int = 0
    min_time_ms: int = -(1 << 62)
    max_time_ms: int = 1 << 62

    def read(self, schema: Any, wanted: Wanted) -> Iterator[Any]:
        """The rows of these offsets. Raises Unreachable, after some attempts."""
        end = min(self.end_offset, self.until)
        wanted = wanted.within(self.base_offset, end)
        source = of_no_file(self, self.base_offset, end)
        offset = self.base_offset
        with Asking(self.quorum.client) as asking:
            leader = None
            deadline = time.monotonic() + ATTEMPT_S_MAX
            while offset < end:
                try:
                    leader = leader or leader_of(asking, self.quorum.endpoints, self.cluster_id)
                    data = bytes(_fetch(asking, leader, offset, FETCH_BYTES).records or b"")
                except Unreachable:
                    leader = None
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(_RETRY_S)
                    continue
                whole, last = _whole(data, offset)
                # The leader may also return batches below the offset, again and again.
                if not whole or last < offset:
                    raise Unreachable(f"cluster {self.cluster_id}: no records at offset {offset}, expected up to {end}")
                yield from decode(whole, source, schema, wanted)
                offset = last + 1
                deadline = time.monotonic() + ATTEMPT_S_MAX


class QuorumSnapshot(NamedTuple):
    """A snapshot that is fetched as a whole."""

    quorum: Quorum
    cluster_id: str
    checkpoint_end_offset: int
    epoch: int
    base_offset: int = 0
    end_offset: int = 0
    until: int = (1 << 63) - 1
    start: int = 0
    end: int = 0
    min_time_ms: int = -(1 << 62)
    max_time_ms: int = 1 << 62

    def read(self, schema: Any, wanted: Wanted) -> Iterator[Any]:
        """Its rows. Raises Unreachable."""
        source = of_no_file(self, 0, self.checkpoint_end_offset)._replace(
            checkpoint_end_offset=self.checkpoint_end_offset
        )
        found = bytearray()
        with Asking(self.quorum.client) as asking:
            leader = leader_of(asking, self.quorum.endpoints, self.cluster_id)
            size = 1
            while len(found) < size:
                part = _snapshot_part(asking, leader, self, len(found))
                if part.size < 1 or not part.unaligned_records or (found and part.size != size):
                    problem = f"the snapshot of {self.checkpoint_end_offset} has ended"
                    raise Unreachable(f"cluster {self.cluster_id}: {problem}")
                size = part.size
                found += part.unaligned_records
        try:
            yield from decode(bytes(found), source, schema, wanted)
        except CorruptBatch as error:
            finding = Finding(
                self.cluster_id, None, None, error.position, error.offset, "corrupt", f"snapshot: {error}",
                self.checkpoint_end_offset,
            )  # fmt: skip
            yield batch_of_findings([finding], schema)


def leader_of(asking: Asking, endpoints: tuple[Endpoint, ...], cluster_id: str | None = None) -> Leader:
    """The present leader; raises Unreachable if there is none for 30 s, or the cluster is another."""
    deadline = time.monotonic() + ATTEMPT_S_MAX
    while True:
        try:
            return _leader_of(asking, endpoints, cluster_id)
        except Unreachable:
            if time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)


def _leader_of(asking: Asking, endpoints: tuple[Endpoint, ...], cluster_id: str | None) -> Leader:
    said = "no node was asked"
    for endpoint in endpoints:
        try:
            response = asking.ask(endpoint, DescribeClusterRequest(
                include_cluster_authorized_operations=False, endpoint_type=_CONTROLLERS
            ))  # fmt: skip
        except Unreachable as error:
            said = str(error)
            continue
        where = f"{endpoint.host}:{endpoint.port}"
        if response.error_code:
            said = f"{where}: {error_name(response.error_code)}"
            continue
        if cluster_id is not None and response.cluster_id != cluster_id:
            raise Unreachable(f"{where} is of cluster {response.cluster_id}, not of {cluster_id}")
        for node in response.brokers:
            if node.broker_id == response.controller_id:
                found = Endpoint("CONTROLLER", node.host, node.port)
                return _described(asking, response.cluster_id, node.broker_id, found)
        said = f"{where} knows no active controller"
    raise Unreachable(f"no leader of the quorum found: {said}")


def _described(asking: Asking, cluster_id: str, node_id: int, endpoint: Endpoint) -> Leader:
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
    response = asking.ask(endpoint, DescribeQuorumRequest(topics=(topic,)))
    where = f"{endpoint.host}:{endpoint.port}"
    if response.error_code or not response.topics or not response.topics[0].partitions:
        raise Unreachable(f"{where}: DescribeQuorum: {error_name(response.error_code)}")
    found = response.topics[0].partitions[0]
    if found.error_code or found.leader_id != node_id or found.high_watermark < 0:
        raise Unreachable(f"{where}: DescribeQuorum: {error_name(found.error_code)}, leader {found.leader_id}")
    return Leader(cluster_id, node_id, endpoint, found.leader_epoch, found.high_watermark)


def _fetch(asking: Asking, leader: Leader, offset: int, bytes_max: int) -> Any:
    """The partition data of the leader's Fetch response for an offset. Raises Unreachable."""
    partition = FetchRequest.FetchTopic.FetchPartition(
        partition=0,
        current_leader_epoch=leader.epoch,
        fetch_offset=offset,
        # The records before are committed, so they are in the log of every later epoch.
        last_fetched_epoch=leader.epoch if offset else 0,
        log_start_offset=-1,
        partition_max_bytes=bytes_max,
        high_watermark=leader.high_watermark,
    )
    topic = FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, topic=METADATA_TOPIC, partitions=(partition,))
    response = asking.ask(
        leader.endpoint,
        FetchRequest(
            cluster_id=leader.cluster_id,
            replica_state=FetchRequest.ReplicaState(replica_id=-1, replica_epoch=-1),
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=bytes_max,
            topics=(topic,),
        ),
    )
    if response.error_code or not response.responses or not response.responses[0].partitions:
        raise Unreachable(f"{leader.endpoint.host}:{leader.endpoint.port}: Fetch: {error_name(response.error_code)}")
    found = response.responses[0].partitions[0]
    if found.error_code:
        raise Unreachable(f"{leader.endpoint.host}:{leader.endpoint.port}: Fetch: {error_name(found.error_code)}")
    return found


def _snapshot_part(asking: Asking, leader: Leader, snapshot: QuorumSnapshot, position: int) -> Any:
    kind = FetchSnapshotRequest.TopicSnapshot.PartitionSnapshot
    partition = kind(
        partition=0,
        current_leader_epoch=leader.epoch,
        snapshot_id=kind.SnapshotId(end_offset=snapshot.checkpoint_end_offset, epoch=snapshot.epoch),
        position=position,
    )
    topic = FetchSnapshotRequest.TopicSnapshot(name=METADATA_TOPIC, partitions=(partition,))
    request = FetchSnapshotRequest(cluster_id=leader.cluster_id, max_bytes=FETCH_BYTES, topics=(topic,))
    response = asking.ask(leader.endpoint, request)
    where = f"{leader.endpoint.host}:{leader.endpoint.port}"
    if response.error_code or not response.topics or not response.topics[0].partitions:
        raise Unreachable(f"{where}: FetchSnapshot: {error_name(response.error_code)}")
    found = response.topics[0].partitions[0]
    if found.error_code:
        raise Unreachable(f"{where}: FetchSnapshot: {error_name(found.error_code)}")
    return found


def _whole(data: bytes, offset: int) -> tuple[bytes, int]:
    """The whole batches at the start of a response, and the last offset in them."""
    position, last = 0, offset - 1
    while (batch := read_header(data, position)) is not None:
        position += batch.size
        last = batch.last_offset
    return data[:position], last
