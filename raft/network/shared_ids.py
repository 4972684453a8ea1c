"""Two processes with one node id, which a controller detects by their Fetches.

A process that opens a new connection does not use the old one again. So when the Fetches of one replica id return again
and again to a connection although another was used since, they come from two processes: a `node.id` was given twice, or
a whole log directory was copied, with its directory id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.interface.config import ReplicaKey
from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from raft.network.requests import Incoming
    from raft.state.replica import Replica
    from records.messages.fetch import FetchRequest

# Two processes return some four times a second, because no Fetch is parked for longer than 500 ms. A replica that has
# lost its leader returns at most twice in a fetch timeout (2 s): to a bootstrap server, and to the leader it names.
RETURNS_MIN = 8
WINDOW_MS = 5000
CONSUMER = -1
FETCH = 1


class _Fetcher(NamedTuple):
    """Whoever fetches over a connection. host: its address; directory_id: in Kafka's text form, or `none`."""

    host: str
    directory_id: str

    def __str__(self) -> str:
        return f"one on {self.host} with directory id {self.directory_id}"


class _Fetchers:
    """The open connections that fetch with one id. last: the latest to do so. returns: since `since_ms`."""

    __slots__ = ("by_connection", "last", "returns", "since_ms")

    def __init__(self, now_ms: int) -> None:
        self.by_connection: dict[int, _Fetcher] = {}
        self.last = -1
        self.returns = 0
        self.since_ms = now_ms


class SharedIds:
    """Notes `node_id_shared` while two processes fetch with one id. note: takes an event for the log."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None]) -> None:
        self._note = note
        self._by_id: dict[int, _Fetchers] = {}
        # A connection counts for the last id that it sent, so peers choose ids, but not how many are kept.
        self._ids: dict[int, int] = {}

    def on_request(self, incoming: Incoming, replica: Replica, now_ms: int) -> None:
        """A request of the quorum came in. replica: of this node, which may fetch from itself as a bootstrap server.

        Only a Fetch counts, and not for another cluster, nor from a consumer (replica id -1).
        """
        if incoming.api_key != FETCH:
            return
        request, connection = incoming.message, incoming.source.connection
        replica_id = request.replica_id if request.replica_id != CONSUMER else request.replica_state.replica_id
        fetchers = self._by_id.get(replica_id)
        if fetchers is not None and fetchers.last == connection:
            return
        if replica_id < 0 or (request.cluster_id is not None and request.cluster_id != replica.config.cluster_id):
            return
        if replica_id == replica.key.id and (key := _key(replica_id, request)) != replica.key:
            self._note("fetch_from_own_id", {"key": str(key)})
        if self._ids.get(connection, replica_id) != replica_id:
            self.on_disconnected(connection)
            fetchers = self._by_id.get(replica_id)
        if fetchers is None:
            fetchers = self._by_id[replica_id] = _Fetchers(now_ms)
        before, fetchers.last = fetchers.by_connection.get(fetchers.last), connection
        if connection not in fetchers.by_connection:
            self._ids[connection] = replica_id
            directory_id = _key(replica_id, request).directory_id
            text = "none" if directory_id == ZERO_UUID else uuid_text(directory_id)
            fetchers.by_connection[connection] = _Fetcher(incoming.peer.rpartition(":")[0], text)
            return
        if now_ms - fetchers.since_ms > WINDOW_MS:
            fetchers.returns, fetchers.since_ms = 0, now_ms
        fetchers.returns += 1
        if before is not None and fetchers.returns >= RETURNS_MIN:
            first, second = sorted((before, fetchers.by_connection[connection]))
            self._note("node_id_shared", {"peer": replica_id, "first": str(first), "second": str(second)})

    def on_disconnected(self, connection: int) -> None:
        """The connection is closed."""
        replica_id = self._ids.pop(connection, None)
        if replica_id is None:
            return
        fetchers = self._by_id[replica_id]
        del fetchers.by_connection[connection]
        if not fetchers.by_connection:
            del self._by_id[replica_id]


def _key(replica_id: int, request: FetchRequest) -> ReplicaKey:
    """The sender; its directory id stands in each partition since version 17."""
    directory_ids = [
        partition.replica_directory_id for topic in request.topics[:1] for partition in topic.partitions[:1]
    ]
    return ReplicaKey(replica_id, *directory_ids)
