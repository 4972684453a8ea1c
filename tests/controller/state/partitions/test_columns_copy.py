"""A snapshot is of the moment at which it began, whatever changes while it is written."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from controller.rules.bulk_elections import leader_and_isr_changes
from controller.state.partitions import columns_copy
from controller.state.partitions.columns import Columns
from controller.state.partitions.columns_copy import ColumnsCopy
from controller.state.records_of import records_of
from controller.state.snapshots import steps
from controller.state.state import State
from controller.state.view import stable_view
from records.batch import seal
from records.metadata.topics import RemoveTopicRecord, TopicRecord
from tests.controller.lives import (
    BROKERS,
    bursts,
    changes,
    first_records,
    fresh,
    more_partitions,
    new_topic,
    next_record,
    partitions_of,
    remove_topic,
)
from tests.controller.rules.test_bulk_elections import env
from tests.controller.state.partitions.test_bulk_batches import replay
from tests.controller.state.partitions.test_columns import PARTITIONS, columns_of, partition
from tests.controller.state.test_snapshots import loaded

A, B = b"a" * 16, b"b" * 16
END = object()


@pytest.fixture(name="small_pieces", autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_copy, "PIECE_ROWS", 8)


def advance(random: Random, state: State) -> None:
    """Some committed change of the state, by columns or record by record."""
    kind = random.randrange(4)
    if kind == 0:
        rows = state.partitions.in_isr(random.choice(BROKERS))
        state.replay_changes(
            leader_and_isr_changes(state, env(), rows, removed=random.choice(BROKERS)), state.end_offset
        )
        state.commit(state.end_offset)
        return
    if kind == 1:
        records = [made] if (made := remove_topic(random, state)) and len(state.topics) > 3 else []
    else:
        records = random.choice((new_topic, more_partitions, changes))(random, state)
    if kind == 3 and records:
        replay(state, records)
    else:
        for record in records:
            state.replay(record, state.end_offset)
    state.commit(state.end_offset)


@pytest.mark.parametrize("seed", range(40))
def test_a_snapshot_is_of_the_moment_at_which_it_began(seed: int) -> None:
    random = Random(seed)
    state = State()
    bursts(random, 25, state)
    before, end_offset = state.contents(), state.end_offset
    view = stable_view(state)
    made = steps(view, records_max=random.choice((5, 40, 1024)))
    parts, count, later = [], 1, []

    for number in range(10_000):
        if random.random() < 0.3:
            advance(random, state)
        if number == 4:
            later = [(stable_view(state), state.contents())]
        body: Any = next(made, END)
        if body is END:
            break
        if body is not None:
            data, added = body
            parts.append(seal(data, added, count, 3, 7))
            count += added

    assert loaded(parts, end_offset).contents() == before
    for other, contents in later:
        assert fresh([record for record, _ in records_of(other)]).contents() == contents


@pytest.mark.parametrize("seed", range(20))
def test_a_view_without_what_is_not_committed_does_not_change_either(seed: int) -> None:
    random = Random(seed)
    state = State()
    bursts(random, 15, state)
    before = state.contents()
    for record in changes(random, state):
        state.replay(record, state.end_offset)
    state.replay(next_record(random, state, transactions=False), state.end_offset)

    view = stable_view(state)
    state.commit(state.end_offset)
    for _ in range(10):
        advance(random, state)

    assert fresh([record for record, _ in records_of(view)]).contents() == before


def test_rows_that_are_sorted_or_renumbered_are_copied_before() -> None:
    live = columns_of(PARTITIONS)
    for broker in range(10_000):
        live.set(1, partition(elr=(broker,)))
    live.set(9, PARTITIONS[9]._replace(elr=(77_777,)))
    live.set(1, PARTITIONS[1])
    before = [live.get(row) for row in range(len(PARTITIONS))]
    copies = [ColumnsCopy(live)]

    live.clear_out()
    copies.append(ColumnsCopy(live))
    now = [live.get(row) for row in range(len(PARTITIONS))]
    live.arrange(np.arange(len(PARTITIONS))[::-1])

    found = [[copy.source(row).get(row) for row in range(len(PARTITIONS))] for copy in copies]
    assert found == [before, now]


def test_rows_that_new_partitions_get_in_place_of_removed_ones_are_copied_before() -> None:
    state = State()
    random = Random(1)
    records: list[Any] = [*first_records(), TopicRecord(name="a", topic_id=A)]
    records += partitions_of(random, A, range(40))
    for record in records:
        state.replay(record, state.end_offset)
    state.commit(state.end_offset)
    state.replay(RemoveTopicRecord(topic_id=A), state.end_offset)
    state.commit(state.end_offset)
    view = stable_view(state)
    before = state.contents()
    replay(state, [TopicRecord(name="b", topic_id=B), *partitions_of(random, B, range(40))])
    state.commit(state.end_offset)

    assert state.partitions.columns.end == 40
    assert fresh([record for record, _ in records_of(view)]).contents() == before


def test_only_what_changes_is_copied_and_nothing_that_was_passed() -> None:
    live = columns_of(PARTITIONS)
    live.append(100)
    copy = ColumnsCopy(live)

    copy.pass_to(16)
    live.before_change(3)
    live.before_change(slice(40, 42))

    assert copy.source(slice(0, 8)) is copy.source(slice(16, 40)) is live
    assert copy.source(slice(40, 41)) is copy.source(slice(41, 48)) is copy
    assert copy.source(slice(48, 56)) is copy.source(np.array([39, 60, 90])) is live


def test_a_copy_that_nobody_has_costs_nothing() -> None:
    live = columns_of(PARTITIONS)
    for _ in range(3):
        ColumnsCopy(live)

    live.set(0, PARTITIONS[1])
    live.set(0, PARTITIONS[1])

    assert live._copies == []


@pytest.mark.parametrize("is_held", [False, True])
def test_columns_keep_their_values_when_they_grow(is_held: bool) -> None:
    """In place; as a copy where somebody holds one."""
    live = columns_of(PARTITIONS)
    held = [live.leader, live.isr[1]] if is_held else []
    capacity = live.capacity

    first = live.append(capacity * 3)
    live.set(first + capacity * 3 - 1, PARTITIONS[0])

    assert [live.get(row) for row in range(len(PARTITIONS))] == PARTITIONS
    assert live.get(live.end - 1) == PARTITIONS[0]
    assert live.capacity >= capacity * 3
    assert all(len(column) == capacity for column in held)
    assert isinstance(live, Columns)
