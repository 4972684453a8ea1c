"""Odd answers of a peer: wrong errors, other topics, leaders left out.

The peer never lies about its log, its votes or what is committed: Raft does not tolerate Byzantine nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.codec import decode, encode
from records.errors import Error
from records.messages.fetch import FetchResponse
from records.messages.versions import ApiVersionsResponse
from records.messages.voters import AddRaftVoterResponse, RemoveRaftVoterResponse, UpdateRaftVoterResponse
from records.schema import replace
from simulations.world.messages import ANSWERS, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.faults.interfaces import StruckRun
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process

Args = dict[str, Any]

CHECKED_FROM = 21
"""The byte of a batch from which on its checksum covers it."""

WITHOUT_TOPICS = (ApiVersionsResponse, UpdateRaftVoterResponse, AddRaftVoterResponse, RemoveRaftVoterResponse)
_ERRORS = (
    Error.INVALID_REQUEST, Error.UNKNOWN_SERVER_ERROR, Error.BROKER_NOT_AVAILABLE, Error.NOT_LEADER_OR_FOLLOWER,
    Error.FENCED_LEADER_EPOCH, Error.UNKNOWN_LEADER_EPOCH, Error.INVALID_VOTER_KEY, Error.SNAPSHOT_NOT_FOUND,
    Error.POSITION_OUT_OF_RANGE, Error.INCONSISTENT_CLUSTER_ID, Error.INCONSISTENT_VOTER_SET,
)  # fmt: skip


def odd_answers(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """For a while, of_100 of 100 answers are odd. whom: id of the node that answers, 0 for all."""
    network = run.network
    rng = run.stream("odd answers", run.world.now)

    def rule(connection: Connection, frame: Frame, is_answer: bool) -> bool:
        server = connection.server
        if not is_answer or server is None or (args["whom"] and server.node.id != args["whom"]):
            return False
        if rng.random() * 100 >= args["of_100"]:
            return False
        payload = frame.payload
        response = decode(ANSWERS[connection.asked_class], frame.version, payload) if frame.is_bytes else payload
        response = confuse(rng, response)
        frame.payload = encode(response, frame.version) if frame.is_bytes else response
        frame.gist = KINDS[type(response)].gist(response)
        return False

    network.rules.append(rule)

    def forget() -> None:
        if rule in network.rules:
            network.rules.remove(rule)

    run.later(args["for_ms"], forget)
    return True


def confuse(rng: Random, response: Any) -> Any:
    """The answer, with one thing wrong in it."""
    error = _ERRORS[int(rng.random() * len(_ERRORS))]
    is_fetch = isinstance(response, FetchResponse)
    topics = "responses" if is_fetch else "topics"
    if isinstance(response, WITHOUT_TOPICS):
        return replace(response, error_code=error)
    answers = getattr(response, topics)
    if not answers or rng.random() < 0.15:
        # Of the whole answer, the error of a voter set is that of a peer that lets this node take no part.
        whole = Error.CLUSTER_AUTHORIZATION_FAILED if error == Error.INCONSISTENT_VOTER_SET else error
        return replace(response, error_code=whole, **{topics: ()})
    part = answers[0].partitions[0]
    makers: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: _refuse(part, error),
        lambda: _refuse(part, error),
        lambda: _elsewhere(rng, part),
        lambda: _leaderless(part),
        lambda: _cut_short(part),
        lambda: _rotten(rng, part),
    )
    choice = rng.random() * (len(makers) + 2)
    if choice >= len(makers) + 1:
        return replace(response, node_endpoints=())
    if choice >= len(makers):
        name = {"topic_id": bytes(15) + b"\7"} if is_fetch else {_name_field(answers[0]): "other"}
        return replace(response, **{topics: (replace(answers[0], **name),)})
    changed = replace(part, **makers[int(choice)]())
    return replace(response, **{topics: (replace(answers[0], partitions=(changed,)),)})


def _rotten(rng: Random, part: Any) -> dict[str, Any]:
    """One bit of the first batch is flipped, among those that its checksum covers."""
    data = bytearray(getattr(part, "records", None) or b"")
    if len(data) <= CHECKED_FROM:
        return {}
    data[CHECKED_FROM] ^= 1 << int(rng.random() * 8)
    return {"records": bytes(data)}


def _name_field(topic: Any) -> str:
    return "topic_name" if hasattr(topic, "topic_name") else "name"


def _refuse(part: Any, error: Error) -> dict[str, Any]:
    """The request is refused with an error."""
    given: dict[str, Any] = {"vote_granted": False, "records": b"", "unaligned_records": b""}
    return {"error_code": error} | {name: value for name, value in given.items() if hasattr(part, name)}


def _elsewhere(rng: Random, part: Any) -> dict[str, Any]:
    """The answer is for another partition, or for an impossible offset."""
    if hasattr(part, "diverging_epoch") and rng.random() < 0.6:
        if rng.random() < 0.5:
            return {"diverging_epoch": replace(part.diverging_epoch, epoch=0, end_offset=-5), "records": b""}
        return {"snapshot_id": replace(part.snapshot_id, epoch=1 << 30, end_offset=3), "records": b""}
    if hasattr(part, "unaligned_records") and rng.random() < 0.6:
        return {"position": part.position + 1} if rng.random() < 0.5 else {"size": part.size + 7}
    return {"index" if hasattr(part, "index") else "partition_index": 1}


def _leaderless(part: Any) -> dict[str, Any]:
    """The answer names no leader, though the peer may know one."""
    if hasattr(part, "current_leader"):
        return {"current_leader": replace(part.current_leader, leader_id=-1)}
    return {"leader_id": -1}


def _cut_short(part: Any) -> dict[str, Any]:
    """The last bytes are missing, as if a size limit was reached."""
    for name in ("records", "unaligned_records"):
        if getattr(part, name, None):
            return {name: bytes(getattr(part, name))[:-1]}
    return {}
