"""RemoveRaftVoter: the leader removes a voter, perhaps itself (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.change_stages import (
    is_refused_here,
    refusal_of_change,
    reply,
    requested_key,
    reserve,
)
from raft.state.java_texts import key_text, keys_text
from raft.state.roles import Leader
from raft.state.voter_change import VoterChange
from records.errors import Error

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.replica import Replica


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """RemoveRaftVoter: answered when a majority of the remaining voters holds the new set."""
    role = replica.role
    if is_refused_here(replica, requested):
        return
    assert isinstance(role, Leader), "others refuse"
    key = requested_key(replica, requested, "Remove")
    if key is None:
        return
    refusal = refusal_of_change(replica, role, "removing")
    if refusal is not None:
        reply(replica, requested, *refusal)
        return
    voters = replica.voters.without(key)
    if voters is None:
        keys = keys_text(voter.key for voter in replica.voters)
        text = f"Cannot remove voter {key_text(key)} from the set of voters {keys}"
        reply(replica, requested, Error.VOTER_NOT_FOUND, text)
        return
    change = VoterChange(requested, now_ms + max(replica.config.request_timeout_ms, 1))
    reserve(replica, role, change, voters)
