from __future__ import annotations

from random import Random

import pytest

from controller.state.partitions.partition import NO_LEADER
from controller.state.state import State
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from tests.controller.lives import BROKERS, live, own_directory


def lived(seed):
    state = State()
    live(Random(seed), 400, state)
    return state


def where(state, holds):
    """The rows of the partitions for which a condition holds, found by a scan."""
    return sorted(
        topic.row(partition_id)
        for topic in state.topics.values()
        for partition_id, partition in state.partitions.of_topic(topic)
        if holds(partition)
    )


@pytest.mark.parametrize("seed", range(15))
def test_queries_over_many_partitions_equal_a_scan_of_each(seed, monkeypatch):
    monkeypatch.setattr("controller.state.partitions.partitions._SEARCHED", 5)
    state = lived(seed)
    partitions = state.partitions

    for broker in (*BROKERS, 12, -7):
        check_broker(state, broker)
    assert partitions.leaderless().tolist() == where(state, lambda p: p.leader == NO_LEADER)
    assert partitions.imbalanced_rows().tolist() == where(state, lambda p: p.leader != p.preferred_leader)
    assert partitions.reassigning().tolist() == where(state, lambda p: p.is_reassigning)
    assert partitions.with_elr().tolist() == where(state, lambda p: p.elr or p.last_known_elr)
    assert partitions.counts() == (
        len(where(state, lambda p: True)),
        len(where(state, lambda p: p.leader == NO_LEADER)),
        len(where(state, lambda p: p.leader != p.preferred_leader)),
    )


def check_broker(state, broker):
    partitions = state.partitions
    directory = own_directory(broker & 0xFFFF)
    assert partitions.in_isr(broker).tolist() == where(state, lambda p: broker in p.isr)
    rows = partitions.in_isr(broker).tolist()
    for start in (1, 7, partitions.columns.end):
        assert partitions.next_in_isr(broker, start, 3).tolist() == [row for row in rows if row >= start][:3]
    assert partitions.in_elr(broker).tolist() == where(state, lambda p: broker in p.elr)
    assert partitions.with_replica(broker).tolist() == where(state, lambda p: broker in p.replicas)
    assert partitions.rows_led_by(broker).tolist() == where(state, lambda p: p.leader == broker)
    assert partitions.in_directory(directory).tolist() == where(state, lambda p: directory in p.directories)


@pytest.mark.parametrize("seed", range(5))
def test_the_topic_and_partition_id_of_a_row_are_known(seed):
    state = lived(seed)
    partitions = state.partitions

    rows = where(state, lambda p: True)

    for row in rows:
        topic, partition_id = partitions.topic_at(row), partitions.partition_id_at(row)
        assert topic.row(partition_id) == row
        assert partitions.find(topic, partition_id) == partitions.get(row)
    assert [bytes(id_) for id_ in partitions.topic_ids_at(rows)] == [partitions.topic_at(row).topic_id for row in rows]
    assert partitions.partition_ids_at(rows).tolist() == [partitions.partition_id_at(row) for row in rows]
    assert sorted((topic.name, id_) for topic, id_, _ in partitions) == sorted(
        (partitions.topic_at(row).name, partitions.partition_id_at(row)) for row in rows
    )


def test_a_missing_partition_has_no_row():
    state = State()
    state.replay(TopicRecord(name="a", topic_id=bytes(16)), 0)

    assert state.partitions.find(None, 0) is None
    assert state.partitions.find(state.topic("a"), 0) is None
    assert state.topic("b") is None
    assert state.partitions.in_directory(b"?" * 16).tolist() == []


def topic_of(name, count, topic_id):
    return [TopicRecord(name=name, topic_id=topic_id), *(partition(topic_id, number) for number in range(count))]


def partition(topic_id, partition_id):
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        replicas=(1, 2),
        isr=(1, 2),
        removing_replicas=(),
        adding_replicas=(),
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
        eligible_leader_replicas=(partition_id,),
    )


def replay(state, records, *, committed):
    for record in records:
        if committed:
            state.commit(state.end_offset + 1)
        state.replay(record, state.end_offset)


@pytest.mark.parametrize("committed", [True, False])
def test_rows_of_deleted_topics_are_used_again_once_the_deletion_is_committed(committed):
    state = State()
    ends = set()
    for number in range(30):
        topic_id = number.to_bytes(16, "big")
        replay(state, topic_of("a", 50, topic_id), committed=committed)
        assert isinstance(state.topics[topic_id].rows, range)
        replay(state, [RemoveTopicRecord(topic_id=topic_id)], committed=committed)
        state.commit(state.end_offset)
        ends.add(state.partitions.columns.end)

    assert ends == {50}
    assert state.partitions.counts() == (0, 0, 0)
    assert len(state.partitions.topics) == 1


def test_rows_of_a_deleted_topic_are_kept_while_the_deletion_can_be_undone():
    state = State()
    replay(state, topic_of("a", 3, b"a" * 16), committed=True)
    before = state.contents()

    replay(state, [RemoveTopicRecord(topic_id=b"a" * 16)], committed=False)
    replay(state, topic_of("b", 3, b"b" * 16), committed=False)
    change = PartitionChangeRecord(partition_id=1, topic_id=b"b" * 16, leader=2)
    replay(state, [change], committed=False)

    assert state.partitions.columns.end == 6
    state.revert()
    assert state.contents() == before


def test_the_metric_counts_follow_each_change():
    state = State()
    replay(state, topic_of("a", 4, b"a" * 16), committed=True)
    seen = [state.partitions.counts()]
    for leader in (-1, 2, 1):
        replay(state, [PartitionChangeRecord(partition_id=2, topic_id=b"a" * 16, leader=leader)], committed=False)
        seen.append(state.partitions.counts())

    assert seen == [(4, 0, 0), (4, 1, 1), (4, 0, 1), (4, 0, 0)]


def test_the_rows_of_very_many_removed_topics_are_freed_some_at_a_time():
    state = State()
    ids = [number.to_bytes(16, "big") for number in range(1, 2501)]
    for number, topic_id in enumerate(ids):
        state.replay(TopicRecord(name=f"topic-{number}", topic_id=topic_id), state.end_offset)
        state.replay(
            PartitionRecord(
                partition_id=0, topic_id=topic_id, replicas=(1,), isr=(1,), removing_replicas=(), adding_replicas=()
            ),
            state.end_offset,
        )
    state.commit(state.end_offset)
    for topic_id in ids:
        state.replay(RemoveTopicRecord(topic_id=topic_id), state.end_offset)

    freed = []
    for _ in range(4):
        state.commit(state.end_offset)
        freed.append(sum(topic is None for topic in state.partitions.topics))

    assert freed == [1000, 2000, 2500, 2500]
    assert sorted(state.partitions.take_rows(2500).tolist()) == list(range(2500))
