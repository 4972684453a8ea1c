"""Records of users that the log may begin with, as from a stock cluster: quotas, tokens, credentials and ACLs."""

from __future__ import annotations

from typing import Any

from records.metadata.configs import ClientQuotaRecord
from records.metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from records.metadata.transactions import ZkMigrationStateRecord

# Of metadata.version, below which there are none.
SCRAM_SINCE, TOKENS_SINCE = 11, 14


def inherited_records(level: int) -> list[tuple[Any, int]]:
    """The records, with their versions, as of a metadata.version: some are set again or removed."""
    records: list[Any] = [*_quotas(), *_acls()]
    if level >= SCRAM_SINCE:
        records += _credentials()
    if level >= TOKENS_SINCE:
        records += _tokens()
    if level < TOKENS_SINCE:
        records.append(ZkMigrationStateRecord(zk_migration_state=0))
    return [(record, 0) for record in records]


def _quotas() -> list[Any]:
    def quota(key: str, value: float, *entity: tuple[str, str | None], remove: bool = False) -> Any:
        parts = tuple(ClientQuotaRecord.EntityData(entity_type=kind, entity_name=name) for kind, name in entity)
        return ClientQuotaRecord(entity=parts, key=key, value=value, remove=remove)

    alice, anybody, app = ("user", "alice"), ("user", None), ("client-id", "app")
    return [
        quota("producer_byte_rate", 1024.0, alice),
        quota("consumer_byte_rate", 2048.0, alice),
        quota("request_percentage", 12.5, anybody, app),
        quota("request_percentage", 50.0, app, anybody),
        quota("producer_byte_rate", 10.0, app),
        quota("producer_byte_rate", 0.0, alice, remove=True),
        quota("producer_byte_rate", 0.0, app, remove=True),
        quota("producer_byte_rate", 0.0, ("ip", "10.0.0.1"), remove=True),
    ]


def _acls() -> list[Any]:
    def acl(number: int, operation: int) -> Any:
        return AccessControlEntryRecord(
            id=bytes(15) + bytes([number]), resource_type=2, resource_name="ledger", pattern_type=3,
            principal="User:alice", host="*", operation=operation, permission_type=3,
        )  # fmt: skip

    return [acl(101, 3), acl(102, 4), acl(103, 8), RemoveAccessControlEntryRecord(id=bytes(15) + bytes([102]))]


def _credentials() -> list[Any]:
    def credential(name: str, mechanism: int, iterations: int) -> Any:
        return UserScramCredentialRecord(
            name=name, mechanism=mechanism, salt=b"salt", stored_key=b"stored", server_key=b"server",
            iterations=iterations,
        )  # fmt: skip

    return [
        credential("alice", 1, 4096), credential("alice", 2, 8192), credential("bob", 1, 4096),
        credential("alice", 1, 16384), RemoveUserScramCredentialRecord(name="bob", mechanism=1),
    ]  # fmt: skip


def _tokens() -> list[Any]:
    def token(name: str, expires: int) -> Any:
        return DelegationTokenRecord(
            owner="User:alice", requester="User:bob", renewers=("User:carol",), issue_timestamp=1_700_000_000_000,
            max_timestamp=1_800_000_000_000, expiration_timestamp=expires, token_id=name,
        )  # fmt: skip

    def removal(name: str) -> Any:
        return RemoveDelegationTokenRecord(token_id=name)

    return [
        token("one", 1_750_000_000_000), token("two", 1_750_000_000_000), token("one", 1_760_000_000_000),
        removal("two"), removal("three"),
    ]  # fmt: skip
