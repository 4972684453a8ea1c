"""SCRAM credentials (KIP-554, KIP-900)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.security import RemoveUserScramCredentialRecord, UserScramCredentialRecord

SCRAM_SHA_256 = 1
SCRAM_SHA_512 = 2
MECHANISMS = {SCRAM_SHA_256: "SCRAM-SHA-256", SCRAM_SHA_512: "SCRAM-SHA-512"}


class ScramCredential(NamedTuple):
    """The salted password of a user; its text hides the secrets."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations}, [hidden])"


def replay_user_scram_credential(state: State, record: UserScramCredentialRecord, _offset: int) -> None:
    """The table's key is user and mechanism."""
    credential = ScramCredential(record.salt, record.stored_key, record.server_key, record.iterations)
    state.scram.put((record.name, record.mechanism), credential)


def replay_remove_user_scram_credential(state: State, record: RemoveUserScramCredentialRecord, _offset: int) -> None:
    if (record.name, record.mechanism) not in state.scram:
        raise ValueError(f"user {record.name} has no credential of SCRAM mechanism {record.mechanism}")
    state.scram.remove((record.name, record.mechanism))
