"""A replica starts from a directory that stock Kafka wrote (4.0.2, 4.1.1, 4.3.1), with its voters."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from raft.append import leader_change
from raft.interface.config import Endpoint, RaftConfig, ReplicaKey
from raft.interface.effects import LoadSnapshot, SaveElection
from raft.interface.voters import VoterSet
from raft.state.leader_state import LeaderState
from raft.state.replica import Replica
from raft.step import start
from raft.storage.files import OsFiles
from raft.storage.log import LogLimits
from raft.storage.opening import open_partition
from records.batch import batches, build_control_batch
from records.control_batch import LEADER_CHANGE, control_records_of, encode_control
from records.uuids import parse_uuid
from tests.raft.building import static_voters
from tests.raft.storage.golden import GOLDEN, LOG, copied, partition

if TYPE_CHECKING:
    from pathlib import Path


def replica(quorum: str, node: int, folder: Path) -> Replica:
    """A node of a stock quorum, as it starts here from its own directory."""
    lines = (GOLDEN / quorum / f"node-{node}" / "meta.properties").read_text().splitlines()
    meta = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    recovered = open_partition(OsFiles(), str(copied(quorum, f"node-{node}", folder / quorum)), LogLimits()).recovered
    is_static = quorum.endswith("static")
    config = RaftConfig(
        meta["cluster.id"],
        endpoints=(Endpoint("CONTROLLER", "127.0.0.1", 1),),
        bootstrap_servers=() if is_static else (Endpoint("", "127.0.0.1", 2),),
    )
    ids = (1,) if quorum == "4.1-static" else (1, 2, 3)
    voters = static_voters(*ids) if is_static else VoterSet()
    return Replica(config, ReplicaKey(node, parse_uuid(meta["directory.id"])), voters, recovered, Random(1))


@pytest.mark.parametrize(
    ("quorum", "node", "role", "epoch", "leader", "is_voter", "kraft_version"),
    [
        ("4.0-static", 1, "Resigned", 4, 1, True, 0),
        ("4.0-static", 2, "Follower", 4, 1, True, 0),
        ("4.0-static", 3, "Follower", 3, 2, True, 0),
        ("4.1-static", 1, "Leader", 2, 1, True, 0),
        ("4.3-static", 1, "Follower", 2, 2, True, 0),
        ("4.3-static", 2, "Resigned", 2, 2, True, 0),
        ("4.3-dynamic", 1, "Follower", 2, 3, True, 1),
        ("4.3-dynamic", 2, "Follower", 2, 3, False, 1),  # it was removed
        ("4.3-dynamic", 3, "Resigned", 2, 3, True, 1),
    ],
)
def test_a_replica_starts_with_the_state_of_stock_kafka(
    quorum: str, node: int, role: str, epoch: int, leader: int, is_voter: bool, kraft_version: int, tmp_path: Path
) -> None:
    ours = replica(quorum, node, tmp_path)

    start(ours, 0)

    found = type(ours.role).__name__, ours.epoch, ours.leader_id, ours.is_voter, ours.kraft_version
    assert found == (role, epoch, leader, is_voter, kraft_version)


def test_the_voters_of_a_dynamic_quorum_are_those_of_its_log(tmp_path: Path) -> None:
    ours = replica("4.3-dynamic", 1, tmp_path)

    history = [(offset, voters.ids) for offset, voters in ours.voter_sets.entries]

    assert history == [(-1, (1,)), (2, (1,)), (30, (1, 2)), (36, (1, 2, 3)), (46, (1, 3))]
    assert ours.voters.ids == (1, 3)
    assert [voter.kraft_versions for voter in ours.voters] == [(0, 1), (0, 1)]


def test_the_state_machine_starts_from_the_newest_snapshot(tmp_path: Path) -> None:
    ours = replica("4.3-static", 2, tmp_path)

    start(ours, 0)
    ours.on_saved(1)

    assert LoadSnapshot(ours.log.snapshots[-1].id) in ours.take_effects()
    assert ours.log.snapshots[-1].id == (1036, 2)


def test_quorum_state_has_the_version_for_the_kraft_version_of_the_log(tmp_path: Path) -> None:
    static = start(replica("4.3-static", 1, tmp_path / "static"), 0)
    dynamic = start(replica("4.3-dynamic", 1, tmp_path / "dynamic"), 0)

    saved = [(each.kraft_version, each.voter_ids) for each in static + dynamic if isinstance(each, SaveElection)]
    assert saved == [(0, (1, 2, 3)), (1, (1, 3))]


@pytest.mark.parametrize("quorum", ["4.0-static", "4.3-static"])
def test_the_batch_of_a_new_leader_is_stock_kafkas_to_the_byte(quorum: str) -> None:
    """Each control record in its log, rebuilt by our rules; only the order of voters, random in Java, may differ."""
    data = (partition(quorum, "node-1") / LOG).read_bytes()
    seen = 0
    for batch in batches(data):
        if not batch.is_control:
            continue
        for _, kind, message in control_records_of(data, batch):
            assert kind == LEADER_CHANGE
            granting = tuple(sorted(voter.voter_id for voter in message.granting_voters))
            state = LeaderState(message.leader_id, static_voters(1, 2, 3), granting, batch.base_offset)
            ours = leader_change(state)
            assert [voter.voter_id for voter in ours.granting_voters] == list(granting)
            ours.granting_voters = message.granting_voters
            made = build_control_batch(
                [encode_control(ours)],
                base_offset=batch.base_offset,
                leader_epoch=batch.leader_epoch,
                timestamp_ms=batch.base_timestamp,
            )
            assert made == data[batch.position : batch.position + batch.size]
            seen += 1

    assert seen >= 2
