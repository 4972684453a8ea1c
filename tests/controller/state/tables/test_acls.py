from __future__ import annotations

import pytest

from controller.state.state import ReplayError
from controller.state.tables.acls import Acl
from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from tests.controller.state.tables.replaying import state_of

ID = b"a" * 16
ENTRY = AccessControlEntryRecord(
    id=ID,
    resource_type=2,
    resource_name="orders",
    pattern_type=3,
    principal="User:alice",
    host="*",
    operation=3,
    permission_type=2,
)
REMOVE = RemoveAccessControlEntryRecord(id=ID)


def test_an_acl_is_kept_by_its_id():
    assert state_of(ENTRY).acls == {ID: Acl(2, "orders", 3, "User:alice", "*", 3, 2)}
    assert state_of(ENTRY, REMOVE).acls == {}


def test_an_acl_that_is_not_there_cannot_be_removed():
    with pytest.raises(ReplayError, match="there is no ACL with id"):
        state_of(ENTRY, REMOVE, REMOVE)
