"""Access control lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.uuids import uuid_text

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord


class Acl(NamedTuple):
    """One rule; its numbers are those of Kafka's protocol."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


def replay_access_control_entry(state: State, record: AccessControlEntryRecord, _offset: int) -> None:
    acl = Acl(
        record.resource_type,
        record.resource_name,
        record.pattern_type,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )
    state.acls.put(record.id, acl)


def replay_remove_access_control_entry(state: State, record: RemoveAccessControlEntryRecord, _offset: int) -> None:
    if record.id not in state.acls:
        raise ValueError(f"there is no ACL with id {uuid_text(record.id)}")
    state.acls.remove(record.id)
