"""quorum-state is, to the letter, what Kafka's own class writes, and what it wrote is read."""

from __future__ import annotations

import json

import pytest

from raft.config import ReplicaKey
from raft.recovered import Election
from raft.storage.errors import StorageError
from raft.storage.files import OsFiles
from raft.storage.quorum_state import parse_quorum_state, quorum_state_text, read_quorum_state
from records.uuids import parse_uuid
from tests.raft.storage.disk import Disk, Inode
from tests.raft.storage.golden import DIRECTORIES, partition, vectors

DIR_1 = parse_uuid("J8aAPcfLQt2bqs1JT_rMgQ")
DIR_2 = parse_uuid("MvDxzVmcRsaTz33bUuRU6A")


@pytest.mark.parametrize(
    ("name", "election", "kraft_version"),
    [
        ("quorum-state v0 leader", Election(5, 1, None), 0),
        ("quorum-state v1 voted", Election(5, None, ReplicaKey(1, DIR_1)), 1),
        ("quorum-state v1 leader+voted", Election(6, 2, ReplicaKey(2, DIR_2)), 1),
        ("quorum-state v0 unknown", Election(0, None, None), 0),
    ],
)
def test_the_text_is_that_of_kafka(name: str, election: Election, kraft_version: int) -> None:
    text = quorum_state_text(election.epoch, election.leader_id, election.voted, kraft_version, (1,))

    assert text.decode() == vectors()[name]
    assert parse_quorum_state(text) == election


@pytest.mark.parametrize(("quorum", "node"), DIRECTORIES)
def test_quorum_state_of_stock_nodes_is_read_and_written_again(quorum: str, node: str) -> None:
    directory = partition(quorum, node)
    text = (directory / "quorum-state").read_bytes()

    found = read_quorum_state(OsFiles(), str(directory))

    assert found is not None
    kraft_version = json.loads(text)["data_version"]
    voters = tuple(voter["voterId"] for voter in json.loads(text).get("currentVoters", ()))
    assert quorum_state_text(found.epoch, found.leader_id, found.voted, kraft_version, voters) == text


def test_version_0_drops_the_directory_id_of_the_vote() -> None:
    text = quorum_state_text(3, None, ReplicaKey(2, DIR_2), 0, (1, 2))

    assert parse_quorum_state(text) == Election(3, None, ReplicaKey(2))


def test_without_a_file_there_is_no_election_state() -> None:
    assert read_quorum_state(OsFiles(), "/nonexistent") is None


def test_only_the_first_line_counts() -> None:
    text = quorum_state_text(3, 1, None, 1, ())

    assert parse_quorum_state(text + b"\nrubbish") == Election(3, 1, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "is not a JSON object"),
        (b"{}", "data_version is None"),
        (b'{"data_version":2,"leaderEpoch":1,"leaderId":1,"votedId":1}', "data_version is 2, only 0 and 1 are read"),
        (b'{"data_version":0,"leaderEpoch":-1,"leaderId":1,"votedId":1}', "leaderEpoch is -1"),
        (b'{"data_version":0,"leaderEpoch":4294967296,"leaderId":1,"votedId":1}', "leaderEpoch is 4294967296"),
        (b'{"data_version":0,"leaderEpoch":true,"leaderId":1,"votedId":1}', "leaderEpoch is True"),
        (b'{"data_version":0,"leaderEpoch":1,"leaderId":"1","votedId":1}', "leaderId is '1'"),
        (b'{"data_version":0,"leaderEpoch":1,"leaderId":1}', "votedId is None"),
        (b'{"data_version":1,"leaderEpoch":1,"leaderId":1,"votedId":1}', "votedDirectoryId is missing"),
        (
            b'{"data_version":1,"leaderEpoch":1,"leaderId":1,"votedId":1,"votedDirectoryId":"x"}',
            "votedDirectoryId is 'x'",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(text: bytes, reason: str) -> None:
    disk = Disk()
    disk.files["node/quorum-state"] = Inode(bytearray(text))

    with pytest.raises(StorageError, match=r"^node/quorum-state: ") as error:
        read_quorum_state(disk, "node")

    assert reason in str(error.value)


def test_a_huge_file_is_not_read() -> None:
    disk = Disk()
    disk.files["node/quorum-state"] = Inode(bytearray(2 << 20))

    with pytest.raises(StorageError, match="2097152 bytes"):
        read_quorum_state(disk, "node")
