from __future__ import annotations

from random import Random

import pytest

from controller.state.partitions.bulk_batches import load_batch, replay_batch
from controller.state.records_of import records_of
from controller.state.snapshots import BATCH_BYTES, STEP_RECORDS, batches, steps
from controller.state.state import State
from controller.state.view import stable_view
from records.batch import batches as batches_in
from records.batch import build_batch, seal
from records.batch import records_of as records_in
from records.frame import encode_record
from records.metadata.configs import ConfigRecord
from records.metadata.topics import TopicRecord
from tests.controller.lives import bursts, first_records, live, partitions_of


def loaded(parts, end_offset):
    state = State()
    state.begin_load(end_offset)
    for data in parts:
        for batch in batches_in(data):
            load_batch(state, data, batch)
    state.end_load()
    return state


def lived(seed, count=400, metadata_version=30):
    state = State()
    log = live(Random(seed), count, state, metadata_version)
    return state, log


@pytest.mark.parametrize("seed", range(60))
def test_a_loaded_snapshot_equals_the_state(seed):
    state, _ = lived(seed, metadata_version=(30, 30, 17, 11)[seed % 4])
    view = stable_view(state)

    parts = list(batches(view, base_offset=1, leader_epoch=3, timestamp_ms=7, records_max=(1024, 10, 1)[seed % 3]))

    again = loaded(parts, state.end_offset)
    assert again.contents() == state.contents()
    assert again.partitions.counts() == state.partitions.counts()
    assert again.end_offset == again.stable_end_offset == state.end_offset
    assert set(again.registration_offsets.values()) <= {state.end_offset - 1}


@pytest.mark.parametrize("seed", range(20))
def test_a_snapshot_made_by_columns_has_the_records_of_the_view(seed):
    view = stable_view(lived(seed)[0])

    found = []
    offset = 1
    for data in batches(view, base_offset=1, leader_epoch=3, timestamp_ms=7, records_max=50):
        (batch,) = batches_in(data)
        assert (batch.base_offset, batch.leader_epoch, batch.max_timestamp) == (offset, 3, 7)
        found += [record.value for record in records_in(data, batch)]
        offset = batch.last_offset + 1

    assert sorted(found) == sorted(encode_record(record, version) for record, version in records_of(view))


def test_a_batch_has_the_records_of_several_steps_up_to_a_size():
    """More than 4,096 partitions, and configs of which a few fill a batch."""
    state = State()
    records = first_records()
    for topic in (b"A" * 16, b"B" * 16):
        records += [TopicRecord(name=topic.hex(), topic_id=topic), *partitions_of(Random(1), topic, range(3_000))]
    records += [
        ConfigRecord(resource_type=2, resource_name=name, name="large", value="v" * 20_000)
        for name in map(str, range(100))
    ]
    for record in records:
        state.replay(record, state.end_offset)
    state.commit(state.end_offset)

    made = list(steps(stable_view(state)))

    found = [body for body in made if body is not None]
    sizes = [len(body) for body, _ in found]
    of_partitions = [(body, count) for body, count in found if count > STEP_RECORDS]
    assert made.count(None) >= len(found)
    assert sum(count for _, count in of_partitions) == 6_000
    assert len(of_partitions) == 2
    # One step more than the size at most, and no batch far below it but the last of its kind.
    assert max(sizes) < BATCH_BYTES + STEP_RECORDS * 21_000
    assert sum(size < BATCH_BYTES for size in sizes) <= 4
    offset = 1
    data = []
    for body, count in found:
        data.append(seal(body, count, offset, 1, 1))
        offset += count
    assert loaded(data, state.end_offset).contents() == state.contents()


def bursting(seed):
    state = State()
    return state, bursts(Random(seed), 30, state)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("life", [lived, bursting])
def test_replaying_batches_equals_replaying_their_records(life, seed):
    random = Random(seed)
    expected, log = life(seed)
    values = [encode_record(record, version_of(record)) for record in log]

    state = State()
    offset = 0
    while offset < len(values):
        count = random.choice((1, 30, 1000))
        data = build_batch(values[offset : offset + count], base_offset=offset, leader_epoch=1, timestamp_ms=1)
        for batch in batches_in(data):
            replay_batch(state, data, batch)
            offset = batch.last_offset + 1

    assert state.contents() == expected.contents()
    assert state.partitions.counts() == expected.partitions.counts()
    assert state.end_offset == state.stable_end_offset == len(log)
    assert not len(state.undo)


@pytest.mark.parametrize("seed", range(25))
def test_a_snapshot_with_bulk_changes_equals_the_state_and_rows_are_ranges(seed):
    state, _ = bursting(seed)

    again = loaded(batches(stable_view(state), base_offset=1, leader_epoch=3, timestamp_ms=7), state.end_offset)

    assert again.contents() == state.contents()
    assert again.partitions.counts() == state.partitions.counts()
    for topic in again.topics.values():
        if list(topic.partition_ids()) == list(range(topic.partition_count())):
            assert isinstance(topic.rows, range)


@pytest.mark.parametrize("seed", range(10))
def test_a_log_with_repeated_records_can_be_loaded_as_a_snapshot(seed):
    expected, log = bursting(seed)
    values = [encode_record(record, version_of(record)) for record in log]

    again = loaded([build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=1)], len(log))

    assert again.contents() == expected.contents()


def version_of(record):
    return {"PartitionRecord": 2, "PartitionChangeRecord": 2, "RegisterBrokerRecord": 4}.get(
        type(record).__name__, 3 if type(record).__name__ == "BrokerRegistrationChangeRecord" else 0
    )
