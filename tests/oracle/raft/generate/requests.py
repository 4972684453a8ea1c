"""Requests that peers, brokers and clients send to the replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.state.roles import Leader
from tests.oracle.raft.commands import Request
from tests.oracle.raft.generate.changes import any_change
from tests.oracle.raft.generate.world import STRANGERS

if TYPE_CHECKING:
    from tests.oracle.raft.generate.world import World

FETCH, VOTE, BEGIN, END, DESCRIBE, FETCH_SNAPSHOT = 1, 52, 53, 54, 55, 59


def vote(world: World) -> Request:
    """A Vote or pre-vote, in this epoch or another; the candidate's log is behind, equal, or ahead."""
    rng = world.rng
    version = rng.choice((0, 1, 2, 2, 2))
    pre_vote = version == 2 and world.maybe(0.5)
    candidate = world.peer()
    epoch = world.epoch(0.1) if pre_vote else rng.choice(("$epoch()", "$epoch()+1", "$epoch()+1", world.epoch(0.5)))
    voter = world.start.id if world.maybe(0.92) else rng.choice((-1, *world.peers))
    partition = {
        "replicaEpoch": epoch,
        "replicaId": candidate if world.maybe(0.98) else -1,
        "replicaDirectoryId": world.directory(candidate),
        "voterDirectoryId": world.directory(world.start.id),
        "lastOffsetEpoch": rng.choice(("$last_epoch()",) * 3 + ("$last_epoch()-1", "$epoch()")),
        "lastOffset": rng.choice(("$end()", "$end()", "$end()+1", "$end()-1", "$end()+5", 0)),
        "preVote": pre_vote,
    }
    body = {"clusterId": world.cluster_id(), "voterId": voter, "topics": world.topics(partition)}
    return Request(VOTE, version, body)


def begin(world: World) -> Request:
    """A BeginQuorumEpoch."""
    rng = world.rng
    epoch = rng.choice(("$epoch()", "$epoch()", "$epoch()+1", world.epoch(0.5)))
    leader_id = world.claimed_leader(epoch)
    if leader_id < 0 and world.maybe(0.8):
        known = world.role.leader_id
        leader_id = rng.choice(world.peers) if known is None or epoch != "$epoch()" else known
    partition = {
        "voterDirectoryId": world.directory(world.start.id),
        "leaderId": leader_id,
        "leaderEpoch": epoch,
    }
    body = {
        "clusterId": world.cluster_id(),
        "voterId": world.start.id if world.maybe(0.94) else rng.choice((-1, *world.peers)),
        "topics": world.topics(partition),
        "leaderEndpoints": world.endpoints(max(leader_id, 1)),
    }
    return Request(BEGIN, rng.choice((0, 1, 1)), body)


def end(world: World) -> Request:
    """An EndQuorumEpoch."""
    rng = world.rng
    epoch = rng.choice(("$epoch()", "$epoch()", "$epoch()", world.epoch(0.5)))
    leader_id = world.claimed_leader(epoch)
    voters = [*world.voter_ids, *STRANGERS[:1]]
    rng.shuffle(voters)
    voters = voters[: rng.randint(0, len(voters))]
    partition = {
        "leaderId": leader_id,
        "leaderEpoch": epoch,
        "preferredSuccessors": voters,
        "preferredCandidates": [
            {"candidateId": voter_id, "candidateDirectoryId": world.directory(voter_id)} for voter_id in voters
        ],
    }
    body = {"clusterId": world.cluster_id(), "topics": world.topics(partition), "leaderEndpoints": []}
    return Request(END, rng.choice((0, 1, 1)), body)


def fetch(world: World) -> Request:
    """A Fetch of a replica, a broker or a consumer."""
    rng = world.rng
    version = rng.choice((13, 15, 16, 17, 18, 18, 18))
    sender = world.peer() if world.maybe(0.8) else rng.choice((*STRANGERS, -1))
    offset: Any = rng.choice(("$end()", "$end()", "$end()", "$start()", 0, "$end()+3"))
    if world.maybe(0.4):
        ends = world.ours.batch_ends()
        offset = rng.choice(ends)[0] if ends else 0
    partition = {
        "currentLeaderEpoch": world.epoch(0.06),
        "fetchOffset": offset,
        "lastFetchedEpoch": _epoch_of(world, offset),
        "logStartOffset": -1,
        "partitionMaxBytes": 0,
        "replicaDirectoryId": world.directory(sender),
        "highWatermark": rng.choice(("$hw()", "$hw()", "$hw()-1", -1, 9223372036854775807)),
    }
    topics = world.topics(partition, "topicId", "partition")
    body = {
        "clusterId": world.cluster_id(),
        "maxWaitMs": rng.choice((0, 500, 500, 500, 100, -1 if world.maybe(0.1) else 50)),
        "minBytes": 0,
        "maxBytes": rng.choice((1 << 20, 1 << 20, 1 << 20, 200, 1)),
        "replicaId": sender if version < 15 else -1,
        "replicaState": {"replicaId": sender},
        "topics": topics,
    }
    return Request(FETCH, version, body)


def _epoch_of(world: World, offset: Any) -> Any:
    """The epoch of the record before an offset, mostly."""
    rng = world.rng
    if world.maybe(0.08):
        return rng.choice(("$last_epoch()", "$last_epoch()-1", "$epoch()", 0, -1))
    log = world.ours.replica.log
    if isinstance(offset, str):
        offset = log.end if offset.startswith("$end") else log.start
    if offset <= 0:
        return 0
    found = [epoch for epoch, start in log.epochs if start < offset]
    if found:
        return found[-1]
    return log.snapshots[0].id.epoch if log.snapshots else 0


def fetch_snapshot(world: World) -> Request:
    """A FetchSnapshot."""
    rng = world.rng
    snapshots = world.ours.replica.log.snapshots
    sender = world.peer()
    known = rng.choice(snapshots) if snapshots else None
    end_offset, epoch = known.id if known is not None and world.maybe(0.9) else (5, 1)
    size = known.size if known is not None else 100
    partition = {
        "currentLeaderEpoch": world.epoch(0.08),
        "snapshotId": {"endOffset": end_offset, "epoch": epoch},
        "position": rng.choice((0, 0, 50, size - 1, size, rng.randrange(size), -1)),
        "replicaDirectoryId": world.directory(sender),
    }
    body = {
        "clusterId": world.cluster_id(),
        "replicaId": sender if world.maybe(0.95) else -1,
        "maxBytes": rng.choice((2147483647, 60, 1, 0)),
        "topics": world.topics(partition, "name", "partition"),
    }
    return Request(FETCH_SNAPSHOT, rng.choice((0, 1, 1)), body)


def describe(world: World) -> Request:
    """A DescribeQuorum."""
    return Request(DESCRIBE, world.rng.choice((0, 1, 2)), {"topics": world.topics({})})


def any_request(world: World) -> Request:
    """A request; those for a leader mostly while our replica leads."""
    leads = isinstance(world.role, Leader)
    makers = (vote, begin, end, fetch, fetch_snapshot, describe, any_change)
    weights = (2, 1, 1, 14, 2, 1, 4) if leads else (6, 5, 2, 2, 1, 0.5, 0.5)
    return world.rng.choices(makers, weights)[0](world)
