"""Two processes with one node id are noted; a replica that opens new connections, or uses two by turns, is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from raft.interface.config import ReplicaKey
from raft.interface.inputs import Source
from raft.network.requests import Incoming
from raft.network.shared_ids import RETURNS_MIN, SharedIds
from records.messages.fetch import FetchRequest
from records.uuids import METADATA_TOPIC_ID, parse_uuid

OURS = "4L6g3nShT-eMCtK--X86sw"
# The default of controller.quorum.fetch.timeout.ms.
FETCH_TIMEOUT_MS = 2000
FIRST, SECOND = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"


OWN = ReplicaKey(1, parse_uuid(FIRST))
REPLICA: Any = SimpleNamespace(key=OWN, config=SimpleNamespace(cluster_id=OURS))


class Trial:
    """Fetches that arrive half a second apart, if nothing else is said."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.ids = SharedIds(lambda name, fields: self.notes.append((name, fields)))
        self.now_ms = 1000

    def fetch(
        self, connection: int, replica_id: int = 2, *, host: str = "10.0.0.5", directory: str = FIRST,
        cluster: str | None = OURS, after_ms: int = 250, version: int = 17,
    ) -> None:  # fmt: skip
        self.now_ms += after_ms
        partition = FetchRequest.FetchTopic.FetchPartition(
            partition=0, fetch_offset=0, partition_max_bytes=0, replica_directory_id=parse_uuid(directory)
        )
        topics = (FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=(partition,)),)
        old = version < 15
        request = FetchRequest(
            cluster_id=cluster, replica_id=replica_id if old else -1, max_wait_ms=500, min_bytes=1, topics=topics,
            replica_state=FetchRequest.ReplicaState(replica_id=-1 if old else replica_id, replica_epoch=-1),
            forgotten_topics_data=(),
        )  # fmt: skip
        incoming = Incoming(
            Source(connection, 1), 1, version, 1, "raft-client-2", request, b"", 0, "CONTROLLER", f"{host}:4711"
        )
        self.ids.on_request(incoming, REPLICA, self.now_ms)


@pytest.fixture(name="trial")
def _trial() -> Trial:
    return Trial()


@pytest.mark.parametrize("version", [14, 17])
def test_two_hosts_that_fetch_by_turns_are_named_with_their_directories(trial: Trial, version: int) -> None:
    for _ in range(RETURNS_MIN):
        trial.fetch(11, version=version)
        trial.fetch(12, host="10.0.0.6", directory=SECOND, version=version)

    assert trial.notes[0] == (
        "node_id_shared",
        {
            "peer": 2,
            "first": f"one on 10.0.0.5 with directory id {FIRST}",
            "second": f"one on 10.0.0.6 with directory id {SECOND}",
        },
    )
    assert all(note == trial.notes[0] for note in trial.notes)


def test_a_copied_directory_is_noted_too(trial: Trial) -> None:
    for _ in range(RETURNS_MIN):
        trial.fetch(11)
        trial.fetch(12)

    assert len(trial.notes) >= 1


def test_three_processes_with_one_id_are_noted(trial: Trial) -> None:
    for _ in range(RETURNS_MIN):
        for connection in (11, 12, 13):
            trial.fetch(connection)

    assert len(trial.notes) >= 1


def test_fewer_returns_than_that_are_a_replica_that_opened_a_new_connection(trial: Trial) -> None:
    trial.fetch(11)
    for _ in range(RETURNS_MIN // 2):
        trial.fetch(12)
        trial.fetch(11)
    for connection in range(13, 100):
        trial.fetch(connection)

    assert trial.notes == []


def test_returns_that_are_seconds_apart_are_a_replica_that_finds_its_leader_anew(trial: Trial) -> None:
    for _ in range(10 * RETURNS_MIN):
        trial.fetch(11, after_ms=FETCH_TIMEOUT_MS)
        trial.fetch(12, after_ms=20)

    assert trial.notes == []


def test_a_connection_that_closed_is_forgotten(trial: Trial) -> None:
    for _ in range(10 * RETURNS_MIN):
        trial.fetch(11)
        trial.fetch(12)
        trial.ids.on_disconnected(11)
        trial.ids.on_disconnected(12)
    trial.ids.on_disconnected(12)

    assert trial.notes == []


@pytest.mark.parametrize("fields", [{"replica_id": -1}, {"cluster": SECOND}], ids=["consumers", "other cluster"])
def test_consumers_and_nodes_of_other_clusters_do_not_count(trial: Trial, fields: dict[str, Any]) -> None:
    for _ in range(10 * RETURNS_MIN):
        trial.fetch(11, **fields)
        trial.fetch(12, **fields)

    assert trial.notes == []


def test_another_directory_with_the_id_of_this_node_is_noted_at_once_and_this_node_itself_is_not(trial: Trial) -> None:
    trial.fetch(11, OWN.id, directory=FIRST)
    trial.fetch(11, OWN.id, directory=FIRST)
    assert trial.notes == []

    trial.fetch(13, OWN.id, directory=SECOND)

    assert trial.notes == [("fetch_from_own_id", {"key": str(ReplicaKey(OWN.id, parse_uuid(SECOND)))})]


def test_a_peer_that_makes_up_ids_fills_no_memory(trial: Trial) -> None:
    for replica_id in range(1000):
        trial.fetch(11, replica_id)
        trial.fetch(12, replica_id + 500)

    assert (len(trial.ids._by_id), len(trial.ids._ids)) == (2, 2)
    trial.ids.on_disconnected(11)
    trial.ids.on_disconnected(12)
    assert (len(trial.ids._by_id), len(trial.ids._ids)) == (0, 0)
