"""RemoveRaftVoter: the leader removes a voter, perhaps itself (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.change_stages import (
    is_refused_here,
    refusal_before_change,
    reply,
    reserve,
    uncommitted_voters,
)
from raft.config import ReplicaKey
from raft.java_texts import key_text, keys_text
from raft.roles import Leader
from raft.voter_change import VoterChange
from records.errors import Error
from records.uuids import ZERO_UUID

if TYPE_CHECKING:
    from raft.inputs import Requested
    from raft.replica import Replica
    from records.messages.voters import RemoveRaftVoterRequest


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """RemoveRaftVoter: answered when a majority of the remaining voters holds the new set."""
    request: RemoveRaftVoterRequest = requested.request
    role = replica.role
    if is_refused_here(replica, requested):
        return
    assert isinstance(role, Leader), "others refuse"
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    if key.id < 0 or key.directory_id == ZERO_UUID:
        reply(replica, requested, Error.INVALID_REQUEST, "Remove voter request didn't include a valid voter")
        return
    refusal = refusal_before_change(replica, role)
    if refusal is None and replica.kraft_version < 1:
        text = f"Cluster doesn't support removing voter because the kraft.version feature is {replica.kraft_version}"
        refusal = Error.UNSUPPORTED_VERSION, text
    if refusal is not None:
        reply(replica, requested, *refusal)
        return
    uncommitted = uncommitted_voters(replica)
    if uncommitted is not None:
        reply(replica, requested, Error.REQUEST_TIMED_OUT, uncommitted)
        return
    voters = replica.voters.without(key)
    if voters is None:
        keys = keys_text(voter.key for voter in replica.voters)
        text = f"Cannot remove voter {key_text(key)} from the set of voters {keys}"
        reply(replica, requested, Error.VOTER_NOT_FOUND, text)
        return
    change = VoterChange(requested, now_ms + max(replica.config.request_timeout_ms, 1))
    reserve(replica, role, change, voters)
