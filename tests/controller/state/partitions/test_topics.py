from __future__ import annotations

from random import Random

import pytest

from controller.state.partitions.topics import NO_ROW, Topic, has_similar, similar_name
from controller.state.state import ReplayError
from records.metadata.configs import ConfigRecord
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from tests.controller.state.tables.replaying import state_of

A, B = b"a" * 16, b"b" * 16


def partition(topic_id=A, partition_id=0, **fields):
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        replicas=(1, 2, 3),
        isr=(1, 2),
        removing_replicas=(),
        adding_replicas=(),
        leader=1,
        leader_epoch=4,
        partition_epoch=7,
        **fields,
    )


TOPIC_A = TopicRecord(name="a.x", topic_id=A)
TOPIC_B = TopicRecord(name="a_x", topic_id=B)


def test_names_whose_metrics_would_collide_have_the_same_similar_name():
    state = state_of(TOPIC_A, TOPIC_B, TopicRecord(name="plain", topic_id=b"p" * 16))

    assert similar_name("a.x") == similar_name("a_x") == "a_x"
    assert [has_similar(name) for name in ("a.x", "a_x", "plain")] == [True, True, False]
    assert state.similar_names == {"a_x": ("a.x", "a_x")}
    state.replay(RemoveTopicRecord(topic_id=A), state.end_offset)
    assert state.similar_names == {"a_x": ("a_x",)}
    state.replay(RemoveTopicRecord(topic_id=B), state.end_offset)
    assert state.similar_names == {}


def test_deleting_a_topic_removes_its_partitions_and_configs():
    config = ConfigRecord(resource_type=2, resource_name="a.x", name="retention.ms", value="1")
    state = state_of(TOPIC_A, partition(), partition(partition_id=1), config, RemoveTopicRecord(topic_id=A))

    assert (state.topics, state.topic_ids, state.configs) == ({}, {}, {})
    assert state.partitions.counts() == (0, 0, 0)
    assert state.partitions.in_isr(1).tolist() == []


def test_a_deleted_topic_can_be_created_again():
    state = state_of(TOPIC_A, partition(), RemoveTopicRecord(topic_id=A), TopicRecord(name="a.x", topic_id=B))

    assert state.topic("a.x").topic_id == B
    assert state.topic("a.x").partition_count() == 0


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([TOPIC_A, TOPIC_A], "is there already"),
        ([TOPIC_A, TopicRecord(name="a.x", topic_id=B)], "is there already"),
        ([TOPIC_A, TopicRecord(name="other", topic_id=A)], "is that of a.x"),
        ([partition()], "there is no topic with id"),
        ([RemoveTopicRecord(topic_id=A)], "there is no topic with id"),
        ([PartitionChangeRecord(partition_id=0, topic_id=A)], "there is no topic with id"),
        ([TOPIC_A, PartitionChangeRecord(partition_id=3, topic_id=A)], "there is no partition a.x-3"),
        ([TOPIC_A, partition(directories=(A,))], "1 directories for 3 replicas"),
        ([TOPIC_A, partition(), PartitionChangeRecord(partition_id=0, topic_id=A, directories=(A,))], "1 directories"),
        ([ClearElrRecord(topic_name="a.x")], "there is no topic a.x"),
    ],
)
def test_a_record_that_contradicts_the_state_is_refused(records, reason):
    with pytest.raises(ReplayError, match=reason):
        state_of(*records)


def test_a_partition_record_replaces_an_existing_partition():
    state = state_of(TOPIC_A, partition(), partition(eligible_leader_replicas=(3,)))

    assert state.partitions.find(state.topics[A], 0).elr == (3,)
    assert state.partitions.count == 1


def test_clearing_the_elr_raises_the_epoch_of_those_partitions_that_had_one():
    has_elr = {"eligible_leader_replicas": (3,)}
    state = state_of(
        TOPIC_A,
        TOPIC_B,
        partition(**has_elr),
        partition(partition_id=1, last_known_elr=(1,)),
        partition(partition_id=2),
        partition(B, **has_elr),
    )

    def seen():
        found = [state.partitions.find(state.topics[A], number) for number in range(3)]
        found.append(state.partitions.find(state.topics[B], 0))
        return [(each.elr, each.last_known_elr, each.partition_epoch, each.leader_epoch) for each in found]

    assert seen() == [((3,), (), 7, 4), ((), (1,), 7, 4), ((), (), 7, 4), ((3,), (), 7, 4)]
    state.replay(ClearElrRecord(topic_name="a.x"), state.end_offset)
    assert seen() == [((), (), 8, 4), ((), (), 8, 4), ((), (), 7, 4), ((3,), (), 7, 4)]
    state.replay(ClearElrRecord(topic_name=""), state.end_offset)
    assert seen() == [((), (), 8, 4), ((), (), 8, 4), ((), (), 7, 4), ((), (), 8, 4)]
    assert state.partitions.in_elr(3).tolist() == []


@pytest.mark.parametrize("seed", range(20))
def test_a_topic_knows_the_row_of_each_partition_for_any_order_of_creation(seed):
    random = Random(seed)
    topic, expected = Topic("t", A), {}
    row = random.randrange(100)

    for _ in range(200):
        if expected and random.random() < 0.2:
            partition_id = random.choice(list(expected))
            topic.discard(partition_id)
            del expected[partition_id]
        else:
            gap = random.choice((0, 0, 0, 0, 0, 1, 5)) if seed % 2 else 0
            partition_id = max(expected, default=-1) + 1 + gap
            if seed % 5 == 4 and random.random() < 0.01:
                partition_id = random.choice((-5, 10**6, 2**31 - 1))
            if partition_id not in expected:
                topic.add(partition_id, row)
                expected[partition_id] = row
                row += random.choice((1, 1, 1, 1, 40))

        assert list(topic.partition_ids()) == sorted(expected)
        assert topic.partition_count() == len(expected)
    for partition_id in (*expected, -1, 0, 10**6 + 1):
        assert topic.row(partition_id) == expected.get(partition_id, NO_ROW)


def test_contiguous_ids_and_rows_are_stored_as_a_range():
    topic = Topic("t", A)
    for partition_id in range(1000):
        topic.add(partition_id, 500 + partition_id)

    assert topic.rows == range(500, 1500)


def test_a_huge_partition_id_allocates_nothing_for_smaller_ids():
    topic = Topic("t", A)
    topic.add(0, 7)
    topic.add(2**31 - 1, 8)

    assert topic.rows == {0: 7, 2**31 - 1: 8}
