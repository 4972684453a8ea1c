"""An observer without an id: it reads the log of a live quorum from its leader (KIP-595, KIP-630).

The requests carry the replica id -1, so the leader does not register the reader as a replica.
"""

from __future__ import annotations

from typing import Self

from records.errors import Error, error_name
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import METADATA_TOPIC_ID
from tools.client.connection import Connection, NotAuthenticated
from tools.client.quorum import DENIALS, FAILURES, Controllers, NoLeader, NotAnswered, Refused, log_denial
from tools.client.retries import Retries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address, View

    T = TypeVar("T")

FETCH_BYTES = 8 << 20
ASK_S = 5.0
WAIT_S = 30.0
RETRY_S = 0.1
# A snapshot is kept in memory before it is decoded.
SNAPSHOT_BYTES_MAX = 4 << 30


class Observer:
    """A connection to the leader, which is searched for again when it fails; a context manager.

    addresses: controllers to ask; they name the others. wait_s: how long `repeat` looks for a leader. security: None
    for PLAINTEXT. cluster_id: no other cluster is read; empty: that of the first leader.
    leader: `HOST:PORT` of the node that leads, or led last; empty before.
    """

    def __init__(
        self, addresses: list[Address], client_id: str, wait_s: float = WAIT_S,
        security: ClientSecurity | None = None, cluster_id: str = "",
    ) -> None:  # fmt: skip
        self.client_id = client_id
        self.security = security
        self.wait_s = wait_s
        self.leader = ""
        self._controllers = Controllers(
            addresses, client_id, security, seconds=ASK_S, cluster_id=cluster_id, for_log=True
        )
        self._found: tuple[Connection, View] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    @property
    def addresses(self) -> list[Address]:
        """The controllers that are known, the last leader first."""
        return self._controllers.addresses

    @property
    def cluster_id(self) -> str:
        """Empty before the first leader, and where that did not say it."""
        return self._controllers.cluster_id

    def retries(self) -> Retries:
        """The attempts within the time in which a leader is looked for."""
        return Retries(self.wait_s, RETRY_S)

    def repeat(self, ask: Callable[[], T], retries: Retries | None = None) -> T:
        """What `ask` returns, which is called again, at the leader of that time, while its requests fail.

        retries: the attempts so far; None for `retries()`. Raises NoLeader, Refused where to ask again would not help.
        """
        retries = retries or self.retries()
        while True:
            try:
                return ask()
            except Refused:
                raise
            except NoLeader:  # each node has its note
                pass
            except NotAuthenticated as error:
                raise Refused(f"{self.leader}: {error}") from None
            except FAILURES as error:
                self._leave()
                self.note(str(error) or type(error).__name__)
            self.pause(retries)

    def note(self, text: str) -> None:
        """Note why the leader is of no use."""
        self._controllers.said[self.leader] = text

    def pause(self, retries: Retries) -> None:
        """Wait before the next attempt. Raises NoLeader if there is none."""
        if not retries.pause():
            raise NoLeader(
                f"no leader of the quorum answered within {self.wait_s:g} s: {self._controllers.answers()}"
            )  # fmt: skip

    def view(self) -> View:
        """The quorum as the leader described it when it was found. Raises NoLeader if none is."""
        return self._connect()[1]

    def fetch(self, offset: int, epoch: int | None = None, bytes_max: int = FETCH_BYTES) -> Any:
        """The partition of the leader's response for an offset. Raises one of FAILURES.

        epoch: of the record before the offset. None where that is committed: it is in the log of each later epoch.
        """
        connection, view = self._connect()
        if epoch is None:
            epoch = view.epoch if offset else 0
        partition = FetchRequest.FetchTopic.FetchPartition(
            partition=0,
            current_leader_epoch=view.epoch,
            fetch_offset=offset,
            last_fetched_epoch=epoch,
            partition_max_bytes=bytes_max,
        )
        topic = FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, topic=METADATA_TOPIC, partitions=(partition,))
        answer = connection.ask(
            FetchRequest(
                cluster_id=self.cluster_id or None,
                replica_state=FetchRequest.ReplicaState(replica_id=-1, replica_epoch=-1),
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=bytes_max,
                topics=(topic,),
            )
        )
        return _only(answer, answer.responses, "Fetch")

    def fetch_snapshot(self, end_offset: int, epoch: int) -> bytes:
        """A whole snapshot of the leader. Raises one of FAILURES."""
        connection, view = self._connect()
        kind = FetchSnapshotRequest.TopicSnapshot.PartitionSnapshot
        data = bytearray()
        size = 1
        while len(data) < size:
            partition = kind(
                partition=0,
                current_leader_epoch=view.epoch,
                snapshot_id=kind.SnapshotId(end_offset=end_offset, epoch=epoch),
                position=len(data),
            )
            topic = FetchSnapshotRequest.TopicSnapshot(name=METADATA_TOPIC, partitions=(partition,))
            request = FetchSnapshotRequest(
                cluster_id=self.cluster_id or None, max_bytes=FETCH_BYTES, topics=(topic,)
            )  # fmt: skip
            answer = connection.ask(request)
            piece = _only(answer, answer.topics, "FetchSnapshot")
            size = piece.size
            if not piece.unaligned_records or not 0 < size <= SNAPSHOT_BYTES_MAX:
                raise NotAnswered(f"snapshot {end_offset}-{epoch} ends after {len(data)} of {size} bytes")
            data += piece.unaligned_records
        return bytes(data)

    def _connect(self) -> tuple[Connection, View]:
        if self._found is None:
            self._found = self._controllers.connect()
            host, port = self._found[1].address
            self.leader = f"{host}:{port}"
        return self._found

    def _leave(self) -> None:
        if self._found is not None:
            self._found[0].socket.close()
            self._found = None


def _only(answer: Any, topics: Any, api: str) -> Any:
    """The one partition of a response; raises NotAnswered if it has an error, NotAuthenticated if that is a refusal."""
    codes = [answer.error_code, *(each.error_code for topic in topics for each in topic.partitions)]
    for denial in DENIALS:
        if denial in codes:
            text = log_denial(api, denial)
            raise NotAuthenticated(text, denial, text)
    if answer.error_code:
        raise NotAnswered(f"{api}: {error_name(answer.error_code)}")
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        raise NotAnswered(f"{api}: the response does not have the metadata partition")
    partition = topics[0].partitions[0]
    if partition.error_code == Error.NOT_LEADER_OR_FOLLOWER:
        raise NotAnswered("it does not lead")
    if partition.error_code:
        raise NotAnswered(f"{api}: {error_name(partition.error_code)}")
    return partition
