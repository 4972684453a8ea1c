from __future__ import annotations

from random import Random

import pytest

from controller.state.partitions.bulk_batches import BatchReplay, load_batch, messages, replay_batch
from controller.state.state import ReplayError, State
from records.batch import CorruptBatch, batches, build_batch
from records.bulk.bulk_shapes import Columns
from records.bulk.rows import scan
from records.frame import encode_record
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, TopicRecord
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, NoOpRecord
from records.schema import replace
from records.wire import DecodeError
from tests.controller.lives import new_topic, partitions_of

TOPIC = TopicRecord(name="t", topic_id=b"t" * 16)


def batch_of(records, base_offset=0):
    values = [
        encode_record(record, 2 if type(record) in (PartitionRecord, PartitionChangeRecord) else 0)
        for record in records
    ]
    return build_batch(values, base_offset=base_offset, leader_epoch=1, timestamp_ms=1)


def replay(state, records):
    data = batch_of(records, state.end_offset)
    for batch in batches(data):
        replay_batch(state, data, batch)


def change(partition_id, topic_id=TOPIC.topic_id):
    return PartitionChangeRecord(partition_id=partition_id, topic_id=topic_id, leader=1)


def some_partitions(count=40):
    return partitions_of(Random(2), TOPIC.topic_id, range(count))


def test_partitions_of_an_unknown_topic_are_refused_with_the_offset_of_one_of_them():
    records = [NoOpRecord(), *some_partitions()]

    with pytest.raises(ReplayError, match="there is no topic with id") as caught:
        replay(State(), records)

    assert caught.value.record is PartitionRecord is type(records[caught.value.offset])


def test_changes_of_unknown_partitions_are_refused_at_the_offset_of_the_first():
    state = State()
    replay(state, [TOPIC, *some_partitions(30)])

    with pytest.raises(ReplayError, match=r"PartitionChangeRecord at offset 61 .* there is no partition t-30"):
        replay(state, [change(number) for number in range(40)])


def test_bytes_that_are_not_a_record_are_refused():
    data = build_batch([b"\x01\x03\x02nonsense"] * 3, base_offset=0, leader_epoch=1, timestamp_ms=1)
    (batch,) = batches(data)

    with pytest.raises(DecodeError):
        replay_batch(State(), data, batch)
    with pytest.raises(CorruptBatch):
        replay_batch(State(), data[:-1] + b"\x09", batch)


def test_a_transaction_within_a_batch_can_be_aborted_in_the_next():
    state = State()
    replay(state, [TOPIC, *some_partitions(20)])
    before = state.contents()
    other = new_topic(Random(5), state)

    replay(state, [BeginTransactionRecord(), *other, *(change(number) for number in range(20))])
    within = state.contents()
    replay(state, [AbortTransactionRecord()])

    assert within != before
    assert state.contents() == before
    assert state.stable_end_offset == state.end_offset


def test_new_partitions_of_an_older_topic_go_with_the_transaction_that_made_them():
    state = State()
    replay(state, [TOPIC, *some_partitions(20)])
    before = state.contents()
    of_one_shape = [replace(some_partitions(1)[0], partition_id=number) for number in range(20, 60)]

    replay(state, [BeginTransactionRecord()])
    replay(state, of_one_shape)
    within = state.contents()
    replay(state, [AbortTransactionRecord()])

    assert within != before
    assert state.contents() == before


def test_changes_in_an_open_transaction_are_replayed_by_columns_with_undo():
    state, plain = State(), State()
    records = [TOPIC, *some_partitions(40), BeginTransactionRecord()]
    replay(state, records[:-1])
    before = state.contents()
    replay(state, records[-1:])
    changes = [change(number) for number in range(40)]
    replay(state, changes)
    for offset, record in enumerate([*records, *changes]):
        plain.replay(record, offset)

    assert state.contents() == plain.contents() != before
    assert len(state.undo) < 10  # one by one each change would have an entry

    replay(state, [change(0), *changes[20:], AbortTransactionRecord()])
    assert state.contents() == before
    assert not len(state.undo)


def test_topics_and_their_partitions_may_be_in_any_order():
    state = State()
    other = TopicRecord(name="u", topic_id=b"u" * 16)
    of_other = partitions_of(Random(3), other.topic_id, range(50))
    mixed = [record for pair in zip(some_partitions(50), of_other, strict=True) for record in pair]

    replay(state, [TOPIC, other, *mixed])

    assert sorted(topic.name for topic, _, _ in state.partitions) == ["t"] * 50 + ["u"] * 50
    assert [topic.partition_count() for topic in state.topics.values()] == [50, 50]


def test_very_many_partitions_are_replayed_some_at_a_time():
    state, plain = State(), State()
    records = [TOPIC, *(replace(some_partitions(1)[0], partition_id=number) for number in range(2500))]
    data = batch_of(records)
    (batch,) = batches(data)

    part = BatchReplay(state, data, batch)
    counts = []
    while not part.is_at_end:
        part.go_on(1)
        counts.append(state.partitions.count)
    part.end()
    for offset, record in enumerate(records):
        plain.replay(record, offset)

    assert counts == [0, 1000, 2000, 2500, 2500]
    assert state.contents() == plain.contents()


def test_columns_can_be_read_as_the_records_they_were_made_from():
    records = [TOPIC, *some_partitions(30)]
    data = batch_of(records)
    (batch,) = batches(data)

    found = [
        message for part in scan(data, batch, rows_min=2) if isinstance(part, Columns) for message in messages(part)
    ]

    assert found
    assert all(record in records for record in found)


def test_a_snapshot_is_replayed_as_of_its_last_offset():
    state = State()
    state.begin_load(500)
    data = batch_of([TOPIC, *some_partitions()])
    for batch in batches(data):
        load_batch(state, data, batch)
    state.end_load()

    assert (state.end_offset, state.stable_end_offset) == (500, 500)
    assert state.partitions.counts().partitions == 40


def test_an_invalid_record_of_a_snapshot_is_reported_with_the_last_offset():
    state = State()
    state.begin_load(500)
    data = batch_of(some_partitions())
    (batch,) = batches(data)

    with pytest.raises(ReplayError, match="at offset 499"):
        load_batch(state, data, batch)
