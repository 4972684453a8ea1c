"""quorum-state is, to the letter, what Kafka's own class writes, and what it wrote is read."""

from __future__ import annotations

import errno
import json
from random import Random
from typing import TYPE_CHECKING

import pytest

from raft.interface.config import ReplicaKey
from raft.interface.recovered import Election
from raft.storage.errors import StorageError
from raft.storage.files import OsFiles
from raft.storage.quorum_state import (
    last_election,
    newer,
    parse_quorum_state,
    quorum_state_text,
    read_quorum_state,
    write_quorum_state,
)
from records.uuids import parse_uuid
from tests.raft.storage.disk import Crashed, Disk, Inode
from tests.raft.storage.golden import DIRECTORIES, partition, vectors

if TYPE_CHECKING:
    from pathlib import Path

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


# The second name.

VOTED, LED = Election(5, None, ReplicaKey(2)), Election(5, 3, None)


def text_of(election: Election) -> bytes:
    return quorum_state_text(election.epoch, election.leader_id, election.voted, 0, (1, 2, 3))


def disk_with(**elections: Election | None) -> Disk:
    disk = Disk()
    disk.directories.add("node")
    for name, election in elections.items():
        if election is not None:
            data = text_of(election)
            inode = Inode(bytearray(data), data)
            disk.files[f"node/{name}"] = disk.durable[f"node/{name}"] = inode
    return disk


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (None, None, None),
        (VOTED, None, VOTED),
        (None, VOTED, VOTED),
        (Election(4, 3, None), VOTED, VOTED),
        (Election(5, None, None), VOTED, VOTED),
        (VOTED, LED, LED),
        (Election(6, None, None), LED, Election(6, None, None)),
    ],
)
def test_the_newer_of_the_two_counts(one: Election | None, other: Election | None, expected: Election | None) -> None:
    assert newer(one, other) == newer(other, one) == expected
    assert last_election(disk_with(**{"quorum-state": one, "quorum-state-kept": other}), "node") == expected


def test_both_names_are_written_with_one_fsync_of_the_file_and_one_of_the_directory() -> None:
    disk = disk_with(**{"quorum-state": VOTED, "quorum-state-kept": VOTED})

    write_quorum_state(disk, "node", text_of(LED))

    assert disk.operations == [
        ("create", "node/quorum-state.tmp"), ("write", "node/quorum-state.tmp"), ("sync", "node/quorum-state.tmp"),
        ("rename", "node/quorum-state"), ("link", "node/quorum-state-kept.tmp"), ("rename", "node/quorum-state-kept"),
        ("sync directory", "node"),
    ]  # fmt: skip
    assert disk.tree() == {"node/quorum-state": text_of(LED), "node/quorum-state-kept": text_of(LED)}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("removed", [False, True])
def test_after_any_crash_the_old_or_the_new_vote_is_there_even_if_quorum_state_is_removed(
    seed: int, *, removed: bool
) -> None:
    for crash_at in range(1, 9):
        disk = disk_with(**{"quorum-state": VOTED, "quorum-state-kept": VOTED})
        disk.crash_at = crash_at
        is_written = True
        try:
            write_quorum_state(disk, "node", text_of(Election(6, None, ReplicaKey(1))))
        except Crashed:
            is_written = False

        after = disk.after_crash(Random(seed))
        if removed:
            after.files.pop("node/quorum-state")

        expected = [Election(6, None, ReplicaKey(1))] if is_written else [VOTED, Election(6, None, ReplicaKey(1))]
        assert last_election(after, "node") in expected


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_a_file_system_without_hard_links_gets_a_second_file(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = disk_with(**{"quorum-state": VOTED})

    def refuse(_path: str, other: str) -> None:
        raise OSError(code, "no links here", other)

    monkeypatch.setattr(disk, "link", refuse)
    write_quorum_state(disk, "node", text_of(LED))

    disk.crash_at = 0
    assert disk.after_crash(Random(0)).tree() == {
        "node/quorum-state": text_of(LED), "node/quorum-state-kept": text_of(LED),
    }  # fmt: skip


def test_another_failure_of_the_link_is_the_disks_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = disk_with(**{"quorum-state": VOTED})

    def fail(_path: str, other: str) -> None:
        raise OSError(errno.EIO, "input/output error", other)

    monkeypatch.setattr(disk, "link", fail)

    with pytest.raises(OSError, match="input/output error"):
        write_quorum_state(disk, "node", text_of(LED))


def test_on_a_real_disk_both_names_are_those_of_one_file(tmp_path: Path) -> None:
    for election in (VOTED, LED):
        write_quorum_state(OsFiles(), str(tmp_path), text_of(election))

    assert sorted(path.name for path in tmp_path.iterdir()) == ["quorum-state", "quorum-state-kept"]
    assert (tmp_path / "quorum-state").samefile(tmp_path / "quorum-state-kept")
    assert last_election(OsFiles(), str(tmp_path)) == LED
