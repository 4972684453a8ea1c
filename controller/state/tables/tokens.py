"""Delegation tokens (KIP-48, KIP-900). Their secret is never in the metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.security import DelegationTokenRecord, RemoveDelegationTokenRecord


class DelegationToken(NamedTuple):
    """A token; principals as `Type:Name`, times in ms since 1970."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int

    def __repr__(self) -> str:
        return "DelegationToken([hidden])"


def replay_delegation_token(state: State, record: DelegationTokenRecord, _offset: int) -> None:
    token = DelegationToken(
        record.token_id,
        record.owner,
        record.requester,
        tuple(record.renewers),
        record.issue_timestamp,
        record.max_timestamp,
        record.expiration_timestamp,
    )
    state.tokens.put(record.token_id, token)


def replay_remove_delegation_token(state: State, record: RemoveDelegationTokenRecord, _offset: int) -> None:
    """Remove a token. A missing token is ignored, as Kafka's own nodes do."""
    if record.token_id in state.tokens:
        state.tokens.remove(record.token_id)
