from __future__ import annotations

from random import Random

import pytest

from controller.state.partitions.bulk_changes import PartitionChanges, group_changes
from controller.state.state import ReplayError, State
from tests.controller.lives import bursts, live

FIELDS = [
    {"leader": 1},
    {"isr": (2, 1)},
    {"isr": ()},
    {"isr": tuple(range(1, 12))},
    {"isr": (1, -4)},
    {"eligible_leader_replicas": (), "last_known_elr": (3,)},
    {"leader_recovery_state": 1, "isr": (2,), "leader": 2},
    {"adding_replicas": (1,), "removing_replicas": ()},
    {"replicas": (4, 5), "directories": (b"d" * 16, b"e" * 16)},
]


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_replayed_like_their_records_and_can_be_undone(seed):
    random = Random(seed)
    state, other = State(), State()
    make = live if seed % 2 else bursts
    make(Random(seed), 60, state)
    make(Random(seed), 60, other)
    before = state.contents()
    rows = state.partitions.with_replica(random.choice((1, 2, 3))).tolist()
    changes = PartitionChanges(group_changes((row, random.choice(FIELDS)) for row in rows))

    state.replay_changes(changes, state.end_offset)
    for record in changes.records(other.partitions):
        other.replay(record, other.end_offset)

    assert state.contents() == other.contents()
    assert state.partitions.counts() == other.partitions.counts()
    assert state.end_offset == other.end_offset
    state.revert()
    assert state.contents() == before


def test_a_committed_group_leaves_no_undo_entry():
    state = State()
    bursts(Random(1), 30, state)
    rows = state.partitions.in_isr(1).tolist()
    changes = PartitionChanges(group_changes((row, {"leader": 1}) for row in rows))

    state.replay_changes(changes, state.end_offset)
    uncommitted = [state.partitions.change_offset(row) for row in rows]
    state.commit(state.end_offset)

    assert set(uncommitted) == {state.end_offset - 1}
    assert {state.partitions.change_offset(row) for row in rows} == {-1}
    assert len(state.undo) == 0


def test_an_unknown_recovery_state_is_refused_with_its_offset():
    state = State()
    bursts(Random(1), 30, state)
    changes = PartitionChanges(group_changes([(0, {"leader_recovery_state": 7})]))

    with pytest.raises(
        ReplayError, match=rf"PartitionChangeRecord at offset {state.end_offset} .* recovery state is 7"
    ):
        state.replay_changes(changes, state.end_offset)
