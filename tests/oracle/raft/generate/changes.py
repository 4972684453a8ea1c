"""Changes of the voter set: requests of clients and replicas, and answers to those that the replica sends itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.state.roles import Leader
from records.uuids import uuid_text
from tests.oracle.raft.commands import Fail, Request, Respond
from tests.oracle.raft.directory import LISTENER, endpoint
from tests.oracle.raft.generate.world import STRANGERS

if TYPE_CHECKING:
    from tests.oracle.raft.generate.world import World

API_VERSIONS, ADD, REMOVE, UPDATE = 18, 80, 81, 82
NONE, REQUEST_TIMED_OUT, NOT_LEADER, UNSUPPORTED_VERSION, INVALID_REQUEST = 0, 7, 6, 35, 42
FENCED, UNKNOWN_EPOCH, DUPLICATE_VOTER, VOTER_NOT_FOUND, BROKER_NOT_AVAILABLE = 74, 75, 126, 127, 8
UNKNOWN_SERVER_ERROR = -1


def any_change(world: World) -> Request:
    """A change of the voter set; mostly one that can be made."""
    makers = (add, remove, update)
    return world.rng.choices(makers, (4, 3, 2))[0](world)


def add(world: World) -> Request:
    """An observer becomes a voter: one that fetched, one that did not, or a voter."""
    rng = world.rng
    voter_id, directory = _observer(world)
    if world.maybe(0.08):
        voter_id = rng.choice((*world.voter_ids, -1))
        directory = world.directory(voter_id)
    body = {
        "clusterId": world.cluster_id(),
        "timeoutMs": rng.choice((0, 100, 30_000)),
        "voterId": voter_id,
        "voterDirectoryId": directory,
        "listeners": _listeners(world, voter_id),
        "ackWhenCommitted": world.maybe(0.6),
    }
    return Request(ADD, rng.choice((0, 1, 1)), body)


def _observer(world: World) -> tuple[int, str]:
    """The id and directory id of an observer: of one that the leader knows, mostly."""
    role = world.role
    if isinstance(role, Leader) and role.state.observers and world.maybe(0.9):
        key = world.rng.choice(list(role.state.observers))
        return key.id, uuid_text(key.directory_id)
    replica_id = world.rng.choice(STRANGERS)
    return replica_id, world.directory(replica_id)


def remove(world: World) -> Request:
    """A voter is removed: another, this replica, or one that is none."""
    rng = world.rng
    voter_id = rng.choice((*world.voter_ids, *world.peers))
    if world.maybe(0.1):
        voter_id = rng.choice((*STRANGERS, -1))
    body = {
        "clusterId": world.cluster_id(),
        "voterId": voter_id,
        "voterDirectoryId": world.directory(voter_id),
    }
    return Request(REMOVE, 0, body)


def update(world: World) -> Request:
    """A voter, or a replica that is none, tells the leader its endpoints and versions."""
    rng = world.rng
    voter_id = world.rng.choice(world.peers)
    if world.maybe(0.08):
        voter_id = rng.choice((*STRANGERS, -1, world.start.id if not world.calm else STRANGERS[0]))
    versions = rng.choice(((0, 1),) * 8 + ((0, 0), (1, 1), (0, 2), (1, 0), (-1, 1), (2, 3)))
    body = {
        "clusterId": world.cluster_id(),
        "currentLeaderEpoch": world.epoch(0.06),
        "voterId": voter_id,
        "voterDirectoryId": world.directory(voter_id),
        "listeners": _listeners(world, voter_id),
        "kRaftVersionFeature": {"minSupportedVersion": versions[0], "maxSupportedVersion": versions[1]},
    }
    return Request(UPDATE, 0, body)


def _listeners(world: World, replica_id: int) -> list[dict[str, Any]]:
    """The endpoints of a replica: as usual, elsewhere, with another listener too, or none that the quorum uses."""
    found = endpoint(max(replica_id, 0))
    own = {"name": LISTENER, "host": found.host, "port": found.port}
    if world.maybe(0.3):
        own |= {"host": f"moved{replica_id}", "port": world.rng.choice((found.port, 9900 + replica_id))}
    other = {"name": "SECOND", "host": f"other{replica_id}", "port": 9500}
    if world.maybe(0.08):
        return world.rng.choice(([], [other], [{**own, "name": LISTENER.lower()}], [own, own, other]))
    return [own, other] if world.maybe(0.1) else [own]


def api_versions(world: World, _peer: int) -> tuple[int, dict[str, Any]]:
    """What a replica that is to become a voter says of itself: mostly that it may."""
    rng = world.rng
    ranges: tuple[tuple[int, int] | None, ...] = ((0, 1),) * 10 + ((1, 1), (0, 0), (0, 2), None)
    versions = rng.choice(ranges)
    features = [] if versions is None else [
        {"name": "kraft.version", "minVersion": versions[0], "maxVersion": versions[1]}
    ]  # fmt: skip
    if world.maybe(0.3):
        features.append({"name": "metadata.version", "minVersion": 7, "maxVersion": 29})
    error = NONE if world.maybe(0.94) else rng.choice((UNSUPPORTED_VERSION, UNKNOWN_SERVER_ERROR))
    return rng.choice((3, 4)), {"errorCode": error, "supportedFeatures": features}


def added_or_removed(world: World, _peer: int) -> tuple[int, dict[str, Any]]:
    """The leader's answer to a replica that joins by itself."""
    errors = (REQUEST_TIMED_OUT, DUPLICATE_VOTER, VOTER_NOT_FOUND, NOT_LEADER, INVALID_REQUEST, UNKNOWN_SERVER_ERROR)
    error = NONE if world.maybe(0.6) else world.rng.choice(errors)
    return 0, {"errorCode": error, "errorMessage": world.rng.choice((None, "a text"))}


def updated(world: World, _peer: int) -> tuple[int, dict[str, Any]]:
    """The leader's answer to a voter's update."""
    rng = world.rng
    errors = (REQUEST_TIMED_OUT, NOT_LEADER, VOTER_NOT_FOUND, UNSUPPORTED_VERSION, FENCED, UNKNOWN_EPOCH)
    if not world.calm:
        errors += (INVALID_REQUEST,)
    error = NONE if world.maybe(0.65) else rng.choice((*errors, UNKNOWN_SERVER_ERROR, BROKER_NOT_AVAILABLE))
    epoch = "$epoch()+1" if error == FENCED else world.epoch(0.06)
    leader_id = world.claimed_leader(epoch)
    leader = {"leaderId": leader_id, "leaderEpoch": epoch, "host": "", "port": 0}
    if leader_id >= 0 and world.maybe(0.8):
        found = endpoint(leader_id)
        leader |= {"host": found.host, "port": found.port}
    return 0, {"errorCode": error, "currentLeader": leader}


def join(world: World) -> Request | Respond | Fail | None:
    """What takes the change that is under way one step on; None where that is not up to others."""
    role = world.role
    change = role.state.change if isinstance(role, Leader) else None
    if change is None or change.voter is None or not change.waits_for_versions:
        return None
    peer = change.voter.key.id
    if peer not in world.ours.sent:
        return None
    if world.maybe(0.05):
        return Fail(peer, world.rng.choice((BROKER_NOT_AVAILABLE, UNSUPPORTED_VERSION)))
    version, body = api_versions(world, peer)
    return Respond(peer, version, body)
