"""Elections: asking for votes and pre-votes, and granting them (KIP-595, KIP-996; Raft 5.2, 5.4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.checks import (
    is_for_this_voter,
    is_our_cluster,
    leader_endpoint,
    leader_id_or_none,
    only_partition,
    refusal_of_voter_request,
)  # fmt: skip
from raft.discovery import note_refusal, note_unexpected, report_of, take_answer
from raft.handover import on_peer_heard
from raft.interface.config import ReplicaKey
from raft.interface.effects import Reply
from raft.interface.limits import NEVER
from raft.state.roles import Candidate, Follower, Leader, Prospective, Role, Unattached
from raft.state.tally import Tally
from raft.transitions import to_candidate, to_unattached
from raft.voter_search import VOTE_VERSION, search
from records.errors import Error
from records.messages.elections import VoteRequest, VoteResponse
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.replica import Replica

Partition = VoteRequest.TopicData.PartitionData
Answer = VoteResponse.TopicData


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """Vote: one vote an epoch, saved before it is answered. A pre-vote changes nothing here."""
    request: VoteRequest = requested.request
    if not is_our_cluster(replica, request.cluster_id):
        replica.emit(Reply(requested.source, VoteResponse(error_code=Error.INCONSISTENT_CLUSTER_ID, topics=())))
        return
    asked: Partition | None = only_partition(request.topics)
    if asked is None:
        replica.emit(Reply(requested.source, VoteResponse(error_code=Error.INVALID_REQUEST, topics=())))
        return
    error = _refusal(replica, asked)
    on_peer_heard(replica, asked.replica_id)
    if error == Error.NONE:
        if asked.replica_epoch > replica.epoch:
            to_unattached(replica, asked.replica_epoch, None, now_ms)
        if not is_for_this_voter(replica, request.voter_id, asked.voter_directory_id):
            replica.note("vote_for_other_key", voter_id=request.voter_id, candidate_id=asked.replica_id)
            error = Error.INVALID_VOTER_KEY
    granted = error == Error.NONE and _decide(replica, asked, now_ms)
    replica.emit(Reply(requested.source, _response(replica, requested, error, granted)))


def _refusal(replica: Replica, asked: Partition) -> Error:
    # The epoch of a candidate is above that of its log; a Prospective has not raised its epoch yet.
    limit = asked.replica_epoch if asked.pre_vote else asked.replica_epoch - 1
    if asked.last_offset < 0 or not 0 <= asked.last_offset_epoch <= limit:
        return Error.INVALID_REQUEST
    return refusal_of_voter_request(replica, asked.replica_id, asked.replica_epoch)


def _decide(replica: Replica, asked: Partition, now_ms: int) -> bool:
    key = ReplicaKey(asked.replica_id, asked.replica_directory_id)
    is_up_to_date = replica.log.is_up_to_date(asked.last_offset_epoch, asked.last_offset)
    granted = can_grant(replica.role, key, is_up_to_date=is_up_to_date, pre_vote=asked.pre_vote) or (
        asked.pre_vote and is_up_to_date and _has_lost_leader(replica, now_ms)
    )
    if key.id == replica.key.id:
        granted = False  # another node uses our id: this replica sends itself no Vote
    role = replica.role
    if asked.pre_vote:
        if isinstance(role, Prospective) and replica.voters.holds(key):
            _on_concurrent_pre_vote(replica, role, asked, granted, now_ms)
    elif granted and isinstance(role, (Unattached, Prospective)) and role.voted is None:
        _give_vote(replica, role, key, now_ms)
    replica.note(
        "vote_answered",
        candidate_id=asked.replica_id,
        epoch=asked.replica_epoch,
        pre_vote=asked.pre_vote,
        granted=granted,
    )
    return granted


def _has_lost_leader(replica: Replica, now_ms: int) -> bool:
    """Whether this is an observer whose leader was silent for a fetch timeout.

    A voter becomes Prospective then; an observer stays a follower. It may have been added to the voters by a record
    that it lacks: without its vote the others may not be able to elect anyone.
    """
    role = replica.role
    return (
        isinstance(role, Follower)
        and replica.config.observers_grant_pre_votes
        and not replica.may_stand
        and now_ms >= role.state.fetch_deadline_ms
    )


def can_grant(role: Role, key: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
    """One vote an epoch, and only to a log at least as up to date as ours (Raft 5.4.1).

    A pre-vote is granted to every such log, unless this replica is the leader, or fetches from a live one (KIP-996).
    """
    if pre_vote:
        if isinstance(role, Leader) or (isinstance(role, Follower) and role.state.has_fetched):
            return False
        return is_up_to_date
    if not isinstance(role, (Unattached, Prospective)):
        return False
    if role.voted is not None:
        return role.voted.matches(key)  # granted before, whatever the log: that answer may have been lost
    return role.leader_id is None and is_up_to_date


def _give_vote(replica: Replica, role: Unattached | Prospective, key: ReplicaKey, now_ms: int) -> None:
    # The candidate gets a full election timeout before this replica starts an election.
    deadline_ms = now_ms + replica.election_timeout()
    if isinstance(role, Unattached):
        replica.become(Unattached(role.epoch, role.leader_id, key, deadline_ms), keep_requests=True)
        # The candidate notifies its voters if it wins. To look for the leader meanwhile would only delay it.
        replica.peers.quiet_until_ms = now_ms + replica.config.election_quiet_ms
    else:
        tally = Tally(replica.voters, replica.key.id)
        replica.become(
            Prospective(role.epoch, role.leader_id, role.endpoints, key, deadline_ms, tally), keep_requests=True
        )


def _on_concurrent_pre_vote(replica: Replica, role: Prospective, asked: Partition, granted: bool, now_ms: int) -> None:
    """Two voters ask for pre-votes at the same time: say, both saw the connection to the leader break.

    Both would win, become candidates, and split the vote. So the one with the shorter log, or with equal logs the one
    with the higher id, waits for pre_vote_yield_ms. A replica that the other voter has refused, when that one still
    followed the leader, waits too: a Java node would not yield. That refusal is outdated, so the voter is asked again.
    """
    if not replica.config.pre_vote_yield_ms:
        return
    log, tally = replica.log, role.tally
    theirs = (asked.last_offset_epoch, asked.last_offset)
    ours = (log.last_epoch, log.end)
    was_refused = tally.answer_of(asked.replica_id) is False
    must_yield = was_refused or theirs > ours or asked.replica_id < replica.key.id
    if granted and must_yield and tally.held_until_ms is None:
        tally.held_until_ms = now_ms + replica.config.pre_vote_yield_ms
    if ours >= theirs:
        tally.ask_again(asked.replica_id)


def send_requests(replica: Replica, role: Prospective | Candidate, now_ms: int) -> int:
    """Send Vote to each voter that has not answered, as long as a majority is possible.

    Returns when voters are searched for at other addresses; NEVER where they already are, or never will be.
    """
    tally = role.tally
    if tally.is_lost:
        return NEVER
    for voter_id in tally.silent_voters:
        voter = replica.voters.get(voter_id)
        endpoint = replica.endpoint_of(voter_id)
        if voter is not None and endpoint is not None and replica.peers.is_ready(voter_id, now_ms):
            # At an address of its own, a peer of Vote v0 is the voter; at one that was found, it may be anyone.
            least_version = VOTE_VERSION if replica.addresses.of(voter) is not None else 0
            replica.send(voter_id, endpoint, _build(replica, role, voter.key), now_ms, least_version)
    return search(replica, tally, lambda key: _build(replica, role, key), now_ms)


def on_response(replica: Replica, peer: int, request: VoteRequest, response: VoteResponse, now_ms: int) -> bool:
    """A voter answered, or another node in its place. Returns whether the answer was a success.

    The answer counts for the voter that the request named. At another address than that of the voter set it named the
    directory id too, and another node has answered INVALID_VOTER_KEY.
    """
    if response.error_code != Error.NONE:
        return on_failure(replica, peer, request, response.error_code, now_ms)
    partition = only_partition(response.topics)
    if partition is None:
        return False
    report = report_of(replica, partition.error_code, partition, response.node_endpoints)
    handled = take_answer(replica, peer, report, now_ms)
    if handled is not None:
        return handled
    if partition.error_code != Error.NONE:
        return note_unexpected(replica, peer, partition.error_code)
    role = replica.role
    voter_id, asked = request.voter_id, request.topics[0].partitions[0]
    if peer != voter_id:
        _note_moved(replica, peer, ReplicaKey(voter_id, asked.voter_directory_id))
    pre_vote = asked.pre_vote
    if isinstance(role, Prospective if pre_vote else Candidate) and (
        pre_vote or role.tally.answer_of(voter_id) is None  # a vote that was granted is final
    ):
        role.tally.record(voter_id, partition.vote_granted)
    return True


def _note_moved(replica: Replica, peer: int, key: ReplicaKey) -> None:
    """A voter answered at another address than the voter set says: later requests to it go there."""
    voter = replica.voters.get(key.id)
    if voter is not None and voter.key == key:
        endpoint = replica.addresses.record(voter, peer)
        replica.note("voter_moved", voter_id=key.id, address=f"{endpoint.host}:{endpoint.port}")


def on_failure(replica: Replica, peer: int, request: VoteRequest, error: int, now_ms: int) -> bool:
    """No answer for the partition. If the voter does not support pre-votes, go on to the election without them."""
    role = replica.role
    if error == Error.UNSUPPORTED_VERSION and isinstance(role, Prospective) and peer == request.voter_id:
        if not replica.log.is_flushed:
            return False  # it cannot stand yet: ask again after the backoff
        replica.note("pre_vote_unsupported", voter_id=peer)
        to_candidate(replica, now_ms)
        return True
    return error != Error.BROKER_NOT_AVAILABLE and note_refusal(replica, peer, error)


def _build(replica: Replica, role: Prospective | Candidate, voter: ReplicaKey) -> VoteRequest:
    partition = Partition(
        partition_index=0,
        replica_epoch=role.epoch,
        replica_id=replica.key.id,
        replica_directory_id=replica.key.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=replica.log.last_epoch,
        last_offset=replica.log.end,
        pre_vote=isinstance(role, Prospective),
    )
    topic = VoteRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
    return VoteRequest(cluster_id=replica.config.cluster_id, voter_id=voter.id, topics=(topic,))


def _response(replica: Replica, requested: Requested, error: Error, granted: bool) -> VoteResponse:
    leader_id = leader_id_or_none(replica)
    partition = Answer.PartitionData(
        partition_index=0,
        error_code=error,
        leader_id=leader_id,
        leader_epoch=replica.epoch,
        vote_granted=granted,
    )
    endpoint = leader_endpoint(replica, requested) if requested.version >= 1 else None
    nodes: tuple[VoteResponse.NodeEndpoint, ...] = ()
    if endpoint is not None:
        nodes = (VoteResponse.NodeEndpoint(node_id=leader_id, host=endpoint.host, port=endpoint.port),)
    topic = Answer(topic_name=METADATA_TOPIC, partitions=(partition,))
    return VoteResponse(error_code=Error.NONE, topics=(topic,), node_endpoints=nodes)
