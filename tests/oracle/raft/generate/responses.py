"""Answers of peers to what the replica has sent, and failures of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.state.log_view import EpochEnd
from raft.state.roles import Follower
from records.schema import schema_of
from tests.oracle.raft.commands import Fail, Respond
from tests.oracle.raft.generate.changes import (
    ADD,
    API_VERSIONS,
    REMOVE,
    UPDATE,
    added_or_removed,
    api_versions,
    updated,
)
from tests.oracle.raft.generate.requests import BEGIN, END, FETCH, FETCH_SNAPSHOT, VOTE

if TYPE_CHECKING:
    from tests.oracle.raft.generate.world import World

NONE = 0
NOT_LEADER, BROKER_NOT_AVAILABLE, NETWORK_EXCEPTION, UNSUPPORTED_VERSION = 6, 8, 13, 35
FENCED, UNKNOWN_EPOCH, SNAPSHOT_NOT_FOUND, POSITION_OUT_OF_RANGE = 74, 75, 98, 99
UNKNOWN_SERVER_ERROR, INCONSISTENT_CLUSTER, INVALID_VOTER_KEY, INVALID_REQUEST = -1, 104, 125, 42
BATCHES = ("0:1", "0:1", "0:3", "0:2,0:1", "-1:2", "-1:1,0:2", "0:1,0:1,0:1")

# Answers that have an error as a whole beside the one of the partition.
WITH_OWN_ERROR = {FETCH, VOTE, BEGIN, END, FETCH_SNAPSHOT}


def waiting(world: World) -> list[int]:
    """Peers to which this process has sent a request."""
    return sorted(world.ours.sent)


def fail(world: World) -> Fail:
    """No answer: the connection is lost, the peer is of another version or not authenticated."""
    rng = world.rng
    peer = _peer(world)
    errors = (BROKER_NOT_AVAILABLE, BROKER_NOT_AVAILABLE, NETWORK_EXCEPTION, UNSUPPORTED_VERSION)
    return Fail(peer, rng.choice(errors), _back(world))


def _peer(world: World) -> int:
    """Mostly the peer of the last request."""
    sent = world.ours.sent
    newest = max(sent, key=lambda peer: sent[peer][-1][0])
    return newest if world.maybe(0.5) else world.rng.choice(sorted(sent))


def _back(world: World) -> int:
    return 1 if world.maybe(0.04) else 0


def respond(world: World) -> Respond | Fail:
    """A response to the last request to one of the peers."""
    peer = _peer(world)
    back = _back(world)
    sent = world.ours.sent[peer]
    back = back if back < len(sent) else 0
    request = sent[-1 - back][1]
    api_key = schema_of(type(request)).api_key
    assert api_key is not None
    version, body = MAKERS[api_key](world, peer)
    if world.maybe(0.03) and api_key in WITH_OWN_ERROR:
        errors = (UNKNOWN_SERVER_ERROR, INCONSISTENT_CLUSTER, INVALID_REQUEST, BROKER_NOT_AVAILABLE)
        body = {**body, "errorCode": world.rng.choice(errors)}
    return Respond(peer, version, body, back)


def _common(world: World, errors: tuple[int, ...]) -> tuple[int, int, Any]:
    """The error, leader and epoch of a response, mostly consistent."""
    rng = world.rng
    if world.maybe(0.72):
        epoch = "$epoch()"
        return NONE, world.claimed_leader(epoch), epoch
    error = rng.choice(errors)
    epoch = rng.choice(("$epoch()", "$epoch()", "$epoch()+1", world.epoch(0.6)))
    if error == FENCED:
        epoch = rng.choice(("$epoch()+1", "$epoch()+2"))
    if error == UNKNOWN_EPOCH:
        epoch = "$epoch()-1"
    return error, world.claimed_leader(epoch), epoch


def _errors(world: World, *more: int) -> tuple[int, ...]:
    usual = (
        NONE,
        NONE,
        FENCED,
        NOT_LEADER,
        NOT_LEADER,
        UNKNOWN_EPOCH,
        UNKNOWN_SERVER_ERROR,
        BROKER_NOT_AVAILABLE,
        *more,
    )
    return usual if world.calm or world.maybe(0.9) else (INVALID_REQUEST,)


def _vote(world: World, _peer_id: int) -> tuple[int, dict[str, Any]]:
    error, leader_id, epoch = _common(world, _errors(world, INVALID_VOTER_KEY))
    partition = {
        "errorCode": error,
        "leaderId": leader_id if world.maybe(0.3) else -1,
        "leaderEpoch": epoch,
        "voteGranted": error == NONE and world.maybe(0.65),
    }
    nodes = world.nodes(partition["leaderId"])
    return world.rng.choice((1, 2)), {"topics": world.topics(partition), "nodeEndpoints": nodes}


def _begin_or_end(world: World, _peer_id: int) -> tuple[int, dict[str, Any]]:
    error, leader_id, epoch = _common(world, _errors(world, INVALID_VOTER_KEY))
    partition = {"errorCode": error, "leaderId": leader_id, "leaderEpoch": epoch}
    return world.rng.choice((0, 1, 1)), {"topics": world.topics(partition), "nodeEndpoints": world.nodes(leader_id)}


def _fetch(world: World, peer: int) -> tuple[int, dict[str, Any]]:
    rng = world.rng
    error, leader_id, epoch = _common(world, _errors(world))
    if error == NONE and leader_id < 0 and world.role.leader_id is None and (world.calm or world.maybe(0.7)):
        leader_id = rng.choice(world.peers) if peer < 0 else peer
    partition: dict[str, Any] = {
        "errorCode": error,
        "highWatermark": -1,
        "logStartOffset": 0,
        "currentLeader": {"leaderId": leader_id, "leaderEpoch": epoch},
        "records": None if world.maybe(0.02) else "$batches(ok)",
    }
    if error == NONE:
        _fill(world, partition)
    topics = world.topics(partition, "topicId")
    return rng.choice((17, 18, 18)), {"responses": topics, "nodeEndpoints": world.nodes(leader_id)}


def _fill(world: World, partition: dict[str, Any]) -> None:
    """Records, a diverging epoch, or a snapshot id."""
    rng = world.rng
    log = world.ours.replica.log
    kind = rng.random()
    if kind < 0.55:
        forms = ("torn", "head") if world.calm or world.maybe(0.8) else ("crc", "gap", "falling")
        form = "ok" if world.maybe(0.9) else rng.choice(forms)
        parts = rng.choice(BATCHES)
        if world.maybe(0.12):
            # A voter set, and with static voters the level that it needs: mostly one that this replica is in.
            # A Java hash map has these ids in ascending order, so stock writes them so.
            ids = sorted(rng.choice((rng.sample((1, 2, 3), rng.randint(1, 3)), rng.sample((1, 2, 3, 4, 5), 4))))
            parts = f"{parts},0:{'v' if world.ours.replica.kraft_version else 'u'}{''.join(map(str, ids))}"
        partition["records"] = f"$batches({form},{parts})"
        partition["highWatermark"] = rng.choice(("$hw()", "$reached(0)", "$reached(1)", "$reached(9)", -1))
    elif kind < 0.75:
        partition["highWatermark"] = rng.choice(("$hw()", "$reached(0)", "$reached(-1)", "$reached(2)", -1))
    elif kind < 0.88:
        end_offset, epoch = rng.choice(world.ours.batch_ends() or [(log.end, log.last_epoch)])
        ends = [EpochEnd(end_offset, epoch), EpochEnd(end_offset, max(epoch - 1, 0))]
        ends = [end for end in ends if not world.calm or log.truncation(end) >= log.committed]
        chosen = rng.choice(ends or [EpochEnd(log.end, log.last_epoch)])
        partition["divergingEpoch"] = {"epoch": chosen.epoch, "endOffset": chosen.end_offset}
    else:
        end_offset, of_epoch = rng.choice((("$end()+4", "$epoch()"), ("$end()+1", "$last_epoch()")))
        offered: dict[str, Any] = {"endOffset": end_offset, "epoch": of_epoch}
        if not world.calm and world.maybe(0.2):
            offered[rng.choice(("endOffset", "epoch"))] = -1
        partition["snapshotId"] = offered


def _fetch_snapshot(world: World, _peer_id: int) -> tuple[int, dict[str, Any]]:
    rng = world.rng
    error, leader_id, epoch = _common(world, _errors(world, SNAPSHOT_NOT_FOUND, POSITION_OUT_OF_RANGE))
    leader_id = leader_id if leader_id >= 0 or world.role.leader_id is None else world.role.leader_id
    partition: dict[str, Any] = {
        "errorCode": error,
        "currentLeader": {"leaderId": leader_id, "leaderEpoch": epoch},
        "snapshotId": {"endOffset": "$part_end()", "epoch": "$part_epoch()"},
        "size": "$part_size()",
        "position": "$part_position()",
        "unalignedRecords": f"$part({rng.choice((40, 100, 5000, 5000))})" if error == NONE else "$batches(ok)",
    }
    if not isinstance(world.role, Follower) or world.role.state.download is None:
        partition |= {"snapshotId": {"endOffset": 4, "epoch": 1}, "size": 10, "position": 0}
        partition["unalignedRecords"] = "$batches(ok)"
    topics = world.topics(partition, "name", "index")
    return rng.choice((0, 1, 1)), {"topics": topics, "nodeEndpoints": world.nodes(leader_id)}


MAKERS = {
    FETCH: _fetch, VOTE: _vote, BEGIN: _begin_or_end, END: _begin_or_end, FETCH_SNAPSHOT: _fetch_snapshot,
    API_VERSIONS: api_versions, ADD: added_or_removed, REMOVE: added_or_removed, UPDATE: updated,
}  # fmt: skip
