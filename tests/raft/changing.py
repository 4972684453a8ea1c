"""Values for the tests of changing voter sets: requests, answers, and a leader with kraft.version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.effects import Reply, ReserveOffsets
from raft.interface.inputs import Answered, OffsetsReserved, Requested, Source
from raft.interface.recovered import Recovered
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.messages.voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from tests.raft.building import CLUSTER, Bench, active, dynamic_voters, endpoint, fetch_request, key, latest

if TYPE_CHECKING:
    from raft.interface.config import Endpoint, ReplicaKey

ADMIN = Source(900, 0)


def with_voters(*ids: int) -> Recovered:
    """A directory that was formatted with kraft.version 1 and these voters."""
    return Recovered(voter_sets=((-1, dynamic_voters(*ids)),), kraft_versions=((-1, 1),))


def leading(*ids: int, **options: Any) -> Bench:
    """Voter 1 of these leads epoch 2, and its first batch is committed: it ends at offset 3."""
    return active(1, recovered=with_voters(*ids), **options)


def add(voter: ReplicaKey, at: Endpoint | None = None, **fields: Any) -> AddRaftVoterRequest:
    at = endpoint(voter.id) if at is None else at
    listener = AddRaftVoterRequest.Listener(name=at.listener, host=at.host, port=at.port)
    given = {
        "cluster_id": CLUSTER, "timeout_ms": 1000, "voter_id": voter.id, "voter_directory_id": voter.directory_id,
        "listeners": (listener,), **fields,
    }  # fmt: skip
    return AddRaftVoterRequest(**given)


def remove(voter: ReplicaKey, cluster_id: str | None = CLUSTER) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=voter.id, voter_directory_id=voter.directory_id)


def update(
    voter: ReplicaKey,
    at: Endpoint,
    *,
    epoch: int = 2,
    versions: tuple[int, int] = (0, 1),
    cluster_id: str | None = CLUSTER,
) -> UpdateRaftVoterRequest:
    return UpdateRaftVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=epoch,
        voter_id=voter.id,
        voter_directory_id=voter.directory_id,
        listeners=(UpdateRaftVoterRequest.Listener(name=at.listener, host=at.host, port=at.port),),
        kraft_version_feature=UpdateRaftVoterRequest.KRaftVersionFeature(
            min_supported_version=versions[0], max_supported_version=versions[1]
        ),
    )


def added(error: int, text: str | None = None) -> AddRaftVoterResponse:
    return AddRaftVoterResponse(throttle_time_ms=0, error_code=error, error_message=text)


def removed(error: int, text: str | None = None) -> RemoveRaftVoterResponse:
    return RemoveRaftVoterResponse(throttle_time_ms=0, error_code=error, error_message=text)


def updated(error: int, leader: int = 1, epoch: int = 2) -> UpdateRaftVoterResponse:
    """The answer of a leader, or of a node that knows it."""
    at = endpoint(leader)
    current = UpdateRaftVoterResponse.CurrentLeader(leader_id=leader, leader_epoch=epoch, host=at.host, port=at.port)
    return UpdateRaftVoterResponse(throttle_time_ms=0, error_code=error, current_leader=current)


def versions(least: int = 0, greatest: int = 1, error: int = 0, name: str = "kraft.version") -> ApiVersionsResponse:
    feature = ApiVersionsResponse.SupportedFeatureKey(name=name, min_version=least, max_version=greatest)
    return ApiVersionsResponse(error_code=error, api_keys=(), supported_features=(feature,))


def ask(bench: Bench, request: Any) -> list[Any]:
    """A request of an administrator; the effects."""
    return bench.tell(Requested(ADMIN, request, latest(request), "CONTROLLER"))


def answers(effects: list[Any]) -> list[Any]:
    """The answers to the administrator."""
    return [each.response for each in effects if isinstance(each, Reply) and each.source == ADMIN]


def leave_offsets(bench: Bench) -> list[Any]:
    """The state machine leaves the offsets that the leader asked for last; the effects."""
    wanted = [each for each in bench.seen if isinstance(each, ReserveOffsets)][-1]
    return bench.tell(OffsetsReserved(wanted.epoch, bench.role.state.proposals.next_offset))


def catch_up(bench: Bench, replica: int, *, directory_id: bytes | None = None, missing: int = 0) -> list[Any]:
    """A replica that lacks so many records at the leader's log end fetches; the effects."""
    request = fetch_request(
        bench.replica.epoch, replica, bench.replica.log.end - missing, bench.replica.epoch,
        high_watermark=bench.replica.high_watermark or 0, directory_id=directory_id,
    )  # fmt: skip
    return bench.tell(Requested(Source(replica, 0), request, latest(request), "CONTROLLER"))


def answer_versions(bench: Bench, response: Any) -> list[Any]:
    """The replica that is to be a voter answers the leader's ApiVersions; the effects."""
    sent = bench.last_send(ApiVersionsRequest)
    return bench.tell(Answered(sent.peer, sent.number, response))


def adding(bench: Bench, voter: int, **fields: Any) -> list[Any]:
    """A replica is added up to where its record is in the log; the effects of the last step."""
    catch_up(bench, voter)
    ask(bench, add(key(voter), **fields))
    answer_versions(bench, versions())
    return leave_offsets(bench)
