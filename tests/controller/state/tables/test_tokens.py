from __future__ import annotations

from controller.state.tables.tokens import DelegationToken
from records.metadata.security import DelegationTokenRecord, RemoveDelegationTokenRecord
from tests.controller.state.tables.replaying import state_of

TOKEN = DelegationTokenRecord(
    owner="User:a",
    requester="User:b",
    renewers=("User:c", "User:d"),
    issue_timestamp=1,
    max_timestamp=2,
    expiration_timestamp=3,
    token_id="t",
)


def test_a_token_is_kept_by_its_id():
    state = state_of(TOKEN)

    assert state.tokens == {"t": DelegationToken("t", "User:a", "User:b", ("User:c", "User:d"), 1, 2, 3)}
    assert "User:a" not in repr(state.tokens["t"])


def test_a_token_can_be_removed_more_than_once():
    remove = RemoveDelegationTokenRecord(token_id="t")

    assert state_of(TOKEN, remove, remove).tokens == {}
