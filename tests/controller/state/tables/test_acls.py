from __future__ import annotations

from random import Random

import pytest

from controller.state.state import ReplayError, State
from controller.state.tables import acls
from controller.state.tables.acl import Acl
from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from records.schema import replace
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


def test_removing_a_missing_acl_is_refused():
    with pytest.raises(ReplayError, match="there is no ACL with id"):
        state_of(ENTRY, REMOVE, REMOVE)


def committed_names(state: State) -> list[str]:
    index = state.acls.index()
    assert index is not None
    return sorted(
        acl.principal for of_pattern in index.patterns(2, "orders") for acls in of_pattern.values() for acl in acls
    )


def test_the_index_has_only_committed_acls():
    state = state_of(ENTRY)
    before = committed_names(state)
    state.commit(1)
    between = committed_names(state)
    state.replay(REMOVE, 1)
    removed = committed_names(state)
    state.commit(2)

    assert (before, between, removed, committed_names(state)) == ([], ["User:alice"], ["User:alice"], [])


def test_an_acl_counts_until_its_removal_is_committed():
    state = state_of(ENTRY)
    before = committed_names(state)
    state.replay(REMOVE, 1)
    uncommitted = committed_names(state)
    state.commit(1)
    between = committed_names(state)
    state.commit(2)

    assert (before, uncommitted, between, committed_names(state)) == ([], [], ["User:alice"], [])


def test_reverted_acls_were_never_in_the_index():
    state = state_of(ENTRY)
    state.commit(1)
    committed_names(state)
    state.replay(replace(ENTRY, id=b"b" * 16, principal="User:bob"), 1)
    state.replay(REMOVE, 2)
    state.revert()

    assert committed_names(state) == ["User:alice"]
    assert state.acls.has(Acl(2, "orders", 3, "User:alice", "*", 3, 2))
    assert not state.acls.has(Acl(2, "orders", 3, "User:bob", "*", 3, 2))


def test_while_a_snapshot_is_loaded_the_index_is_unchanged():
    state = state_of(ENTRY)
    state.commit(1)
    before = committed_names(state)
    state.begin_load(5)
    during = committed_names(state)
    state.replay(replace(ENTRY, principal="User:bob"), 4)
    still = committed_names(state)
    state.end_load()

    assert (before, during, still, committed_names(state)) == (
        ["User:alice"], ["User:alice"], ["User:alice"], ["User:bob"],
    )  # fmt: skip


def test_there_is_no_index_while_the_first_snapshot_is_loaded():
    state = State()
    state.begin_load(5)
    state.replay(ENTRY, 4)
    during = state.acls.index()
    state.end_load()

    assert during is None
    assert committed_names(state) == ["User:alice"]


def replay_any_change(rng: Random, state: State) -> None:
    """Put one of a few ids, or remove one that is there."""
    ids = sorted(state.acls)
    if rng.random() < 0.6 or not ids:
        id_ = bytes([rng.randrange(6)]) * 16
        state.replay(replace(ENTRY, id=id_, principal=f"User:{rng.randrange(9)}"), state.end_offset)
    else:
        state.replay(RemoveAccessControlEntryRecord(id=rng.choice(ids)), state.end_offset)


@pytest.mark.parametrize("seed", range(60))
def test_the_index_has_what_is_committed_after_any_changes(seed, monkeypatch):
    monkeypatch.setattr(acls, "STAGED_MIN", 1 + seed % 4)
    rng = Random(seed)
    state = State()
    state.acls.index()
    # What is committed as of each end offset.
    as_of = [{}]
    frozen = None
    for _ in range(400):
        replay_any_change(rng, state)
        as_of.append({id_: acl.principal for id_, acl in state.acls.items()})
        if frozen is None and rng.random() < 0.1:
            state.acls.freeze()
            frozen = committed_names(state)
        elif frozen is not None and rng.random() < 0.3:
            state.acls.prepare()
            assert committed_names(state) == frozen
            state.acls.thaw()
            frozen = None
        if rng.random() < 0.3:
            state.commit(rng.randint(state.committed_end_offset, state.end_offset))
        if rng.random() < 0.1:
            state.revert(rng.randint(state.committed_end_offset, state.end_offset))
            del as_of[state.end_offset + 1 :]
        if rng.random() < 0.5:
            expected = sorted(as_of[state.stable_end_offset].values())
            assert committed_names(state) == (expected if frozen is None else frozen)


@pytest.mark.parametrize("seed", range(30))
def test_a_batch_that_is_replayed_in_parts_shows_when_it_is_whole(seed):
    rng = Random(seed)
    state = State()
    state.acls.index()
    for _ in range(60):
        before = committed_names(state)
        count = rng.randrange(1, 9)
        state.acls.freeze()
        # As of a standby: the batch is committed, so nothing of it can be undone.
        state.commit(state.end_offset + count)
        for _ in range(count):
            replay_any_change(rng, state)
            if rng.random() < 0.4:
                state.acls.prepare()
            assert committed_names(state) == before
        state.acls.thaw()
        state.commit(state.end_offset)
        assert committed_names(state) == sorted(acl.principal for acl in state.acls.values())
