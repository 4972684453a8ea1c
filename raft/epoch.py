"""BeginQuorumEpoch and EndQuorumEpoch: a leader notifies the voters of its election or resignation (KIP-595)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from raft.checks import (
    is_for_this_voter,
    is_our_cluster,
    leader_endpoint,
    leader_id_or_none,
    only_partition,
    refusal_of_voter_request,
)  # fmt: skip
from raft.discovery import learn, note_refusal, note_unexpected, report_of, take_answer
from raft.handover import on_peer_heard
from raft.interface.config import ReplicaKey
from raft.interface.effects import Reply
from raft.interface.voters import read_endpoints
from raft.state.roles import Follower, Leader, Resigned
from records.errors import Error
from records.messages.elections import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)  # fmt: skip
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raft.interface.inputs import Requested
    from raft.state.replica import Replica

Begin = BeginQuorumEpochRequest.TopicData
Response = TypeVar("Response", BeginQuorumEpochResponse, EndQuorumEpochResponse)


def on_begin_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """BeginQuorumEpoch: a leader was elected, and this replica follows it, also where it is not a voter (yet)."""
    request: BeginQuorumEpochRequest = requested.request
    partition = _take(replica, requested, BeginQuorumEpochResponse, now_ms)
    if partition is None:
        return
    error = Error.NONE
    if not is_for_this_voter(replica, request.voter_id, partition.voter_directory_id):
        replica.note("begin_for_other_key", voter_id=request.voter_id, leader_id=partition.leader_id)
        error = Error.INVALID_VOTER_KEY
    _reply(replica, requested, BeginQuorumEpochResponse, error)


def on_end_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """EndQuorumEpoch: the leader resigned. Its followers start elections one after the other, the longest log first."""
    partition = _take(replica, requested, EndQuorumEpochResponse, now_ms)
    if partition is None:
        return
    role = replica.role
    if isinstance(role, Follower) and role.leader_id == partition.leader_id:
        candidates = [
            ReplicaKey(candidate.candidate_id, candidate.candidate_directory_id)
            for candidate in partition.preferred_candidates
        ] or [ReplicaKey(successor) for successor in partition.preferred_successors]
        wait_ms = wait_before_election(candidates, replica.key, replica.config.election_backoff_max_ms)
        # From now on pre-votes are granted. (Kafka waits for its own election timeout first.)
        role.state.on_resigned(now_ms + wait_ms)
        replica.peers.quiet_until_ms = now_ms + replica.config.election_quiet_ms
    _reply(replica, requested, EndQuorumEpochResponse, Error.NONE)


def wait_before_election(candidates: Sequence[ReplicaKey], own: ReplicaKey, wait_max_ms: int) -> int:
    """How long to wait before an election, by our place among the resigned leader's preferred successors, in ms.

    The first successor does not wait; each next one waits twice as long as the one before; a voter that is not listed
    waits `wait_max_ms`. If the list is empty, no voter waits.
    """
    count = len(candidates)
    place = next((place for place, candidate in enumerate(candidates) if candidate.matches(own)), count)
    if place == 0:
        return 0
    if place == count:
        return wait_max_ms
    # The last waits half of the maximum, the one before it a quarter, and so on; a large shift yields 0.
    return min(wait_max_ms, (wait_max_ms >> min(count - 1, 64)) << min(place - 1, 64))


def send_begin_requests(replica: Replica, role: Leader, now_ms: int) -> None:
    """Send BeginQuorumEpoch to each voter that has not fetched for half of fetch_timeout_ms; repeat (KAFKA-16926)."""
    interval_ms = max(replica.config.fetch_timeout_ms // 2, 1)
    for voter in role.state.silent_voters(interval_ms, now_ms):
        endpoint = replica.endpoint_of(voter.id)
        if endpoint is not None and replica.peers.is_ready(voter.id, now_ms):
            replica.send(voter.id, endpoint, _begin_request(replica, role, voter), now_ms)
    role.state.begin_deadline_ms = now_ms + interval_ms


def on_begin_response(
    replica: Replica, peer: int, _request: BeginQuorumEpochRequest, response: BeginQuorumEpochResponse, now_ms: int
) -> bool:
    """A voter acknowledged our leadership, or knows a later leader. Returns whether the answer was a success."""
    return _take_answer(replica, peer, response, now_ms)


def on_end_response(
    replica: Replica, peer: int, _request: EndQuorumEpochRequest, response: EndQuorumEpochResponse, now_ms: int
) -> bool:
    """A voter acknowledged our resignation. Returns whether the answer was a success."""
    succeeded = _take_answer(replica, peer, response, now_ms)
    role = replica.role
    if (
        succeeded
        and isinstance(role, Resigned)
        and response.topics[0].partitions[0].error_code == Error.NONE
        and response.topics[0].partitions[0].leader_epoch == role.epoch
        and peer in role.unacked
    ):
        role.unacked.remove(peer)
    return succeeded


def _take(replica: Replica, requested: Requested, answer: type[Response], now_ms: int) -> Any:
    """Check a request and adopt the leader that it names. On an error, answer the request and return None."""
    request = requested.request
    if not is_our_cluster(replica, request.cluster_id):
        replica.emit(Reply(requested.source, answer(error_code=Error.INCONSISTENT_CLUSTER_ID, topics=())))
        return None
    partition = only_partition(request.topics)
    if partition is None:
        replica.emit(Reply(requested.source, answer(error_code=Error.INVALID_REQUEST, topics=())))
        return None
    on_peer_heard(replica, partition.leader_id)
    error = refusal_of_voter_request(replica, partition.leader_id, partition.leader_epoch)
    if error == Error.NONE:
        endpoints = read_endpoints(request.leader_endpoints)
        if learn(replica, partition.leader_id, partition.leader_epoch, endpoints, now_ms):
            return partition
        # INVALID_REQUEST would describe it better, but a Java node stops when it receives that answer.
        error = Error.INCONSISTENT_VOTER_SET
    _reply(replica, requested, answer, error)
    return None


def _take_answer(
    replica: Replica, peer: int, response: BeginQuorumEpochResponse | EndQuorumEpochResponse, now_ms: int
) -> bool:
    if response.error_code != Error.NONE:
        return note_refusal(replica, peer, response.error_code)
    partition = only_partition(response.topics)
    if partition is None:
        return False
    report = report_of(replica, partition.error_code, partition, response.node_endpoints)
    handled = take_answer(replica, peer, report, now_ms)
    if handled is not None:
        return handled
    return partition.error_code == Error.NONE or note_unexpected(replica, peer, partition.error_code)


def _reply(replica: Replica, requested: Requested, answer: type[Response], error: Error) -> None:
    leader_id = leader_id_or_none(replica)
    partition = answer.TopicData.PartitionData(
        partition_index=0, error_code=error, leader_id=leader_id, leader_epoch=replica.epoch
    )
    endpoint = leader_endpoint(replica, requested) if requested.version >= 1 else None
    nodes: tuple[Any, ...] = ()
    if endpoint is not None:
        nodes = (answer.NodeEndpoint(node_id=leader_id, host=endpoint.host, port=endpoint.port),)
    topic = answer.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
    replica.emit(Reply(requested.source, answer(error_code=Error.NONE, topics=(topic,), node_endpoints=nodes)))


def _begin_request(replica: Replica, role: Leader, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    partition = Begin.PartitionData(
        partition_index=0,
        voter_directory_id=voter.directory_id,
        leader_id=role.leader_id,
        leader_epoch=role.epoch,
    )
    return BeginQuorumEpochRequest(
        cluster_id=replica.config.cluster_id,
        voter_id=voter.id,
        topics=(Begin(topic_name=METADATA_TOPIC, partitions=(partition,)),),
        leader_endpoints=tuple(
            BeginQuorumEpochRequest.LeaderEndpoint(name=endpoint.listener, host=endpoint.host, port=endpoint.port)
            for endpoint in role.endpoints
        ),
    )
