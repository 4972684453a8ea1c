"""The image of a live quorum, read from its leader as an observer without an id (KIP-595, KIP-630).

The requests carry the replica id -1, so the leader does not register the reader as a replica. The image has only
committed batches, so nothing has to be undone when the leader changes. Nothing is written, no lock is taken.
"""

from __future__ import annotations

import time
from typing import NamedTuple, Self

from records.errors import ApiError, Error, error_name
from records.messages.cluster import DescribeClusterRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import METADATA_TOPIC_ID
from records.wire import DecodeError, EncodeError
from tools.client.connection import Connection, NotAuthenticated
from tools.offline.image import Image
from tools.offline.log_file import DamagedLog
from tools.offline.take_in import last_log_time_ms, take_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from raft.network.security import ClientSecurity
    from tools.offline.log_file import StoredBatch

    Address = tuple[str, int]

CONTROLLERS = 2
FETCH_BYTES = 8 << 20
ASK_S = 5.0
# Of one update: loads of a snapshot, diverging epochs and empty responses before it waits between requests.
RESTARTS_MAX = 4
RETRY_S = 0.1
# A quorum has a handful of controllers; a node that names more must not make the list grow without bound.
ADDRESSES_MAX = 32
# A snapshot is kept in memory before it is decoded.
SNAPSHOT_BYTES_MAX = 4 << 30


class NoLeader(Exception):
    """No leader of the quorum was found in time; the text is one line with the response or error of each node."""


class Refused(NoLeader):
    """A node does not accept this client, or the client does not accept the node; to ask again would not help."""


class _Again(Exception):
    """The node does not lead, or no longer has the requested offset or snapshot; the text is the reason."""


class Position(NamedTuple):
    """The end of the image. end_offset: exclusive; epoch: of the last batch in it."""

    end_offset: int
    epoch: int


START = Position(0, 0)


class LiveQuorum:
    """An image of the metadata that `update` brings to the state of the quorum; a context manager.

    addresses: controllers to ask; they name the others. wait_s: how long `update` looks for a leader.
    security: None for PLAINTEXT.
    image: as of the last update. position: the end of it. leader: `HOST:PORT` of the node that answered last.
    cluster_id: empty before the first answer.
    """

    def __init__(
        self, addresses: list[Address], client_id: str, wait_s: float = 30.0, security: ClientSecurity | None = None
    ) -> None:
        self.addresses = list(addresses)
        self.client_id = client_id
        self.security = security
        self.wait_s = wait_s
        self.image = self.new_image()
        self.position = START
        self.cluster_id = ""
        self.leader = ""
        self._connection: Connection | None = None
        self._leader_epoch = -1
        self._said: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def update(self) -> Image:
        """Read up to the high watermark of the leader's first response; returns the image.

        If the log no longer reaches back to the end of the image, a new image is loaded from a snapshot. Raises
        NoLeader.
        """
        end = time.monotonic() + self.wait_s
        goal: int | None = None
        restarts = 0
        while True:
            try:
                before = self.position
                goal = self._step(goal)
                if goal is not None and self.position.end_offset >= goal:
                    return self.image
                # A node that always answers with a snapshot, or a diverging epoch, makes no progress towards the goal.
                if goal is not None and self.position.end_offset <= before.end_offset:
                    restarts += 1
                    if restarts > RESTARTS_MAX:
                        self._note(f"{restarts} responses without progress to offset {goal}")
                        self._pause(end)
                # The high watermark of a leader is unknown until it has committed a record of its own epoch.
                if goal is None:
                    self._note("the leader does not know its high watermark yet")
                    self._pause(end)
            except NotAuthenticated as error:
                raise self._refused(error) from None
            except (_Again, OSError, ApiError, DecodeError, EncodeError, DamagedLog) as error:
                self._note(str(error) or type(error).__name__)
                self._leave()
                self._pause(end)

    def _pause(self, end: float) -> None:
        if time.monotonic() >= end:
            said = "; ".join(f"{where}: {text}" for where, text in self._said.items())
            raise NoLeader(f"no leader of the quorum answered within {self.wait_s:g} s: {said}")
        time.sleep(RETRY_S)

    def _note(self, text: str) -> None:
        self._said[self.leader or "no node"] = text

    def _step(self, goal: int | None) -> int | None:
        """Send one Fetch; the high watermark, None while it is unknown. Raises _Again or what a request raises."""
        connection = self._connection or self._connect()
        found = self._fetched(connection)
        if found.snapshot_id is not None and found.snapshot_id.end_offset >= 0:
            self._load_snapshot(connection, found.snapshot_id.end_offset, found.snapshot_id.epoch)
            return goal
        if found.diverging_epoch is not None and found.diverging_epoch.epoch >= 0:
            # Committed records are gone: another cluster has these addresses now, or the disks were lost.
            self._begin_anew()
            return goal
        high_watermark = int(found.high_watermark)
        if high_watermark < 0:
            return goal
        if high_watermark < self.position.end_offset:
            raise _Again(f"its high watermark is {high_watermark}, behind offset {self.position.end_offset}")
        data = bytes(found.records or b"")
        taken = take_in(self.image, data, self.position.end_offset, high_watermark, self.admits)
        if taken.epoch is not None:
            self.on_batches(data[: taken.position], self.position.end_offset)
            self.position = Position(taken.end_offset, taken.epoch)
        if taken.is_refused:
            return self.position.end_offset
        if taken.epoch is None and self.position.end_offset < high_watermark:
            raise _Again(f"it returned no batch at offset {self.position.end_offset}, below {high_watermark}")
        return high_watermark if goal is None else goal

    def _connect(self) -> Connection:
        """A connection to the first node that says it leads. Raises _Again if none does."""
        for address in list(self.addresses)[:ADDRESSES_MAX]:
            self.leader = f"{address[0]}:{address[1]}"
            try:
                connection = Connection(*address, self.client_id, seconds=ASK_S, security=self.security)
            except NotAuthenticated as error:
                raise self._refused(error) from None
            except (OSError, DecodeError) as error:
                self._note(str(error) or type(error).__name__)
                continue
            try:
                self._learn(connection)
                self._leader_epoch = self._epoch_and_voters(connection)
            except NotAuthenticated as error:
                connection.socket.close()
                raise self._refused(error) from None
            except (_Again, OSError, ApiError, DecodeError, EncodeError) as error:
                self._note(str(error) or type(error).__name__)
                connection.socket.close()
                continue
            self._connection = connection
            self._said.clear()
            # The leader is asked first next time.
            self.addresses.remove(address)
            self.addresses.insert(0, address)
            return connection
        raise _Again(self._said.get(self.leader, "it does not answer"))

    def _refused(self, error: OSError) -> Refused:
        return Refused(f"{self.leader}: {error}")

    def _learn(self, connection: Connection) -> None:
        """Learn the cluster id and the controllers' addresses. Raises _Again if this node is not a controller."""
        request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=CONTROLLERS)
        try:
            cluster = connection.ask(request)
        except EncodeError:
            raise _Again("it is no controller of Kafka 3.7 or later") from None
        if cluster.error_code in (Error.MISMATCHED_ENDPOINT_TYPE, Error.UNSUPPORTED_ENDPOINT_TYPE):
            raise _Again("it is a broker, not a controller")
        if cluster.error_code:
            return  # controllers cannot be described before they register, but their log can be read
        if self.cluster_id and cluster.cluster_id != self.cluster_id:
            raise _Again(f"its cluster id is {cluster.cluster_id}, not {self.cluster_id}")
        self.cluster_id = cluster.cluster_id
        for node in cluster.brokers:
            self._add_address(node.host, node.port)

    def _epoch_and_voters(self, connection: Connection) -> int:
        """The epoch in which this node leads; raises _Again if it does not lead.

        The voters' addresses are learned too: a controller that has not registered yet is missing in DescribeCluster.
        """
        partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
        topic = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
        answer = connection.ask(DescribeQuorumRequest(topics=(topic,)))
        epoch = int(_only(answer, answer.topics, "DescribeQuorum").leader_epoch)
        for node in answer.nodes or ():
            for listener in node.listeners:
                self._add_address(listener.host, listener.port)
        return epoch

    def _add_address(self, host: str, port: int) -> None:
        if (host, port) not in self.addresses and len(self.addresses) < ADDRESSES_MAX:
            self.addresses.append((host, port))

    def _fetched(self, connection: Connection) -> Any:
        """The leader's data at the end of the image. Raises _Again if the node does not lead."""
        partition = FetchRequest.FetchTopic.FetchPartition(
            partition=0,
            current_leader_epoch=self._leader_epoch,
            fetch_offset=self.position.end_offset,
            last_fetched_epoch=self.position.epoch,
            partition_max_bytes=FETCH_BYTES,
        )
        topic = FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, topic=METADATA_TOPIC, partitions=(partition,))
        answer = connection.ask(
            FetchRequest(
                cluster_id=self.cluster_id or None,
                replica_state=FetchRequest.ReplicaState(replica_id=-1, replica_epoch=-1),
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=FETCH_BYTES,
                topics=(topic,),
            )
        )
        return _only(answer, answer.responses, "Fetch")

    def _load_snapshot(self, connection: Connection, end_offset: int, epoch: int) -> None:
        kind = FetchSnapshotRequest.TopicSnapshot.PartitionSnapshot
        data = bytearray()
        size = 1
        while len(data) < size:
            partition = kind(
                partition=0,
                current_leader_epoch=self._leader_epoch,
                snapshot_id=kind.SnapshotId(end_offset=end_offset, epoch=epoch),
                position=len(data),
            )
            topic = FetchSnapshotRequest.TopicSnapshot(name=METADATA_TOPIC, partitions=(partition,))
            request = FetchSnapshotRequest(
                cluster_id=self.cluster_id or None, max_bytes=FETCH_BYTES, topics=(topic,)
            )  # fmt: skip
            answer = connection.ask(request)
            found = _only(answer, answer.topics, "FetchSnapshot")
            size = found.size
            if not found.unaligned_records or not 0 < size <= SNAPSHOT_BYTES_MAX:
                raise _Again(f"snapshot {end_offset}-{epoch} ends after {len(data)} of {size} bytes")
            data += found.unaligned_records
        image = self.new_image()
        if take_in(image, bytes(data), 0, None).position != len(data):
            raise DamagedLog(f"snapshot {end_offset}-{epoch} is damaged")
        image.last_offset, image.last_epoch = end_offset - 1, epoch
        image.last_time_ms = last_log_time_ms(bytes(data))
        self.on_snapshot(bytes(data), end_offset, epoch)
        self.image, self.position = image, Position(end_offset, epoch)

    def new_image(self) -> Image:
        """An empty image."""
        return Image()

    def admits(self, batch: StoredBatch) -> bool:
        """Whether to replay a batch; `update` ends before the first that is refused."""
        del batch
        return True

    def on_snapshot(self, data: bytes, end_offset: int, epoch: int) -> None:
        """A whole snapshot was loaded, and replaces all that was read before; for a subclass that keeps the bytes."""

    def on_batches(self, data: bytes, offset: int) -> None:
        """Committed batches were replayed; those below `offset`, if there are any, were replayed before."""

    def _begin_anew(self) -> None:
        self.on_reset()
        self.image, self.position = self.new_image(), START

    def on_reset(self) -> None:
        """All that was read is void."""

    def _leave(self) -> None:
        if self._connection is not None:
            self._connection.socket.close()
            self._connection = None


def _only(answer: Any, topics: Any, api: str) -> Any:
    """The one partition of a response; raises _Again if it has an error, NotAuthenticated if that is a refusal."""
    codes = [answer.error_code, *(each.error_code for topic in topics for each in topic.partitions)]
    for denied in (Error.CLUSTER_AUTHORIZATION_FAILED, Error.TOPIC_AUTHORIZATION_FAILED):
        if denied in codes:
            text = f"{api}: {error_name(denied)}: its principal needs ClusterAction and Describe on Cluster"
            raise NotAuthenticated(text, denied, text)
    if answer.error_code:
        raise _Again(f"{api}: {error_name(answer.error_code)}")
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        raise _Again(f"{api}: the response does not have the metadata partition")
    found = topics[0].partitions[0]
    if found.error_code == Error.NOT_LEADER_OR_FOLLOWER:
        raise _Again("it does not lead")
    if found.error_code:
        raise _Again(f"{api}: {error_name(found.error_code)}")
    return found
