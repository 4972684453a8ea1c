"""From records to batches: one batch, or a metadata transaction; the bulk path and the scalar one write the same."""

from itertools import pairwise

import pytest

from controller.core.log_writer import PART_BYTES, write
from controller.interface.inputs import Committed, HighWatermark, Ticked
from records.batch import HEADER_BYTES, batches, records_of
from records.errors import ApiError, Error
from records.frame import decode_record
from records.messages.topics import CreateTopicsRequest
from records.metadata.configs import ConfigRecord
from records.metadata.topics import PartitionChangeRecord
from records.metadata.transactions import BeginTransactionRecord, EndTransactionRecord
from tests.controller.rig import Rig, new_topic, replayed


def config(number, size=100):
    key = f"key{number:05}"
    return ConfigRecord(resource_type=4, resource_name="", name=key, value="v" * size), 0


def decoded(data):
    (batch,) = batches(data)
    return [decode_record(record.value)[0] for record in records_of(data, batch)]


def test_records_that_fit_are_one_batch():
    rig = Rig(metadata_max_batch_size_in_bytes=10_000).lead()
    records = [config(number) for number in range(50)]

    (batch,) = write(rig.state, rig.controller.env, records)

    assert decoded(batch.data) == [record for record, _ in records]
    assert len(batch.data) <= 10_000
    assert (batch.base_offset, batch.last_offset) == (rig.end_offset, rig.end_offset + 49)


def test_records_that_do_not_fit_are_a_transaction_of_smaller_batches():
    rig = Rig(metadata_max_batch_size_in_bytes=1000).lead()
    records = [config(number) for number in range(50)]

    written = write(rig.state, rig.controller.env, records)

    inside = [decoded(batch.data) for batch in written]
    assert (inside[0], inside[-1]) == ([BeginTransactionRecord()], [EndTransactionRecord()])
    assert [record for each in inside[1:-1] for record in each] == [record for record, _ in records]
    assert all(len(batch.data) <= 1000 for batch in written)
    offsets = [(batch.base_offset, batch.last_offset) for batch in written]
    assert all(after[0] == before[1] + 1 for before, after in pairwise(offsets))
    assert rig.state.end_offset == rig.controller.env.next_offset == written[-1].last_offset + 1


def test_the_batches_of_a_transaction_are_small_unless_a_record_is_larger(monkeypatch):
    rig = Rig().lead()
    records = [config(number, 30_000) for number in range(300)]

    sizes = [len(batch.data) for batch in write(rig.state, rig.controller.env, records)[1:-1]]
    assert PART_BYTES - 30_200 < min(sizes[:-1]) <= max(sizes) <= PART_BYTES

    monkeypatch.setattr("controller.core.log_writer.PART_BYTES", 20_000)
    rig = Rig().lead()
    sizes = [len(batch.data) for batch in write(rig.state, rig.controller.env, records)[1:-1]]
    assert (len(sizes), max(sizes) < 30_200) == (300, True)


def test_without_transactions_too_many_atomic_records_are_refused():
    rig = Rig(metadata_version=12, metadata_max_batch_size_in_bytes=1000).lead()
    before = rig.state.contents()

    with pytest.raises(ApiError) as refusal:
        write(rig.state, rig.controller.env, [config(number) for number in range(50)])

    assert refusal.value.code == Error.POLICY_VIOLATION
    assert (rig.state.contents(), rig.controller.env.next_offset) == (before, rig.end_offset)


def test_without_transactions_records_that_need_not_be_atomic_are_split():
    rig = Rig(metadata_version=12, metadata_max_batch_size_in_bytes=1000).lead()
    records = [config(number) for number in range(50)]

    written = write(rig.state, rig.controller.env, records, atomic=False)

    assert [record for batch in written for record in decoded(batch.data)] == [record for record, _ in records]


@pytest.mark.parametrize("atomic", [True, False])
def test_a_record_larger_than_a_batch_is_refused(atomic):
    rig = Rig(metadata_max_batch_size_in_bytes=1000).lead()

    with pytest.raises(ApiError):
        write(rig.state, rig.controller.env, [config(0), config(1, size=1000 - HEADER_BYTES)], atomic=atomic)


def large_cluster(**settings):
    rig = Rig(metadata_max_idle_interval_ms=0, **settings).lead().brokers(0, 1, 2)
    for number in range(4):
        topic = new_topic(f"t{number}", *[(n % 3, (n + 1) % 3, (n + 2) % 3) for n in range(300)])
        rig.ask(CreateTopicsRequest(topics=(topic,)))
    return rig


def test_fencing_with_many_changes_is_one_transaction():
    rig = large_cluster(metadata_max_batch_size_in_bytes=20_000)
    before = rig.state.contents()
    base = rig.end_offset
    rig.auto = False

    rig.heartbeat_unanswered(0, want_fence=True)

    records = [record for record, _ in rig.records(base)]
    assert (type(records[0]), type(records[-1])) == (BeginTransactionRecord, EndTransactionRecord)
    assert sum(isinstance(record, PartitionChangeRecord) for record in records) == 1200
    assert all(len(data) <= 20_000 for data in rig.log)
    # Half of it is committed: nothing of it is stable, and another leader takes it all back.
    half = [next(batches(data)).last_offset + 1 for data in rig.log if next(batches(data)).base_offset >= base][2]
    rig.commit(half)
    assert rig.state.stable_end_offset == base
    rig.log = [data for data in rig.log if next(batches(data)).last_offset < half]
    rig.end_offset = half
    rig.follow()
    rig.auto = True
    rig.lead()
    assert rig.state.contents() == before


def test_a_half_committed_transaction_continues_under_another_leader():
    rig = large_cluster(metadata_max_batch_size_in_bytes=20_000)
    base = rig.end_offset
    rig.auto = False
    rig.heartbeat_unanswered(0, want_fence=True)
    after = rig.state.contents()
    log = [data for data in rig.log if next(batches(data)).base_offset >= base]
    half = next(batches(log[2])).last_offset + 1
    rig.commit(half)

    rig.follow()
    for data in log[3:]:
        rig.step(Committed(data))

    assert rig.state.contents() == after


def test_a_standby_that_replays_a_large_fencing_has_the_same_state():
    rig = large_cluster(metadata_max_batch_size_in_bytes=20_000)
    rig.fence(0)
    standby = Rig(node_id=7)

    for data in rig.log:
        standby.step(Committed(data))

    assert standby.state.contents() == rig.state.contents()


def test_other_requests_are_served_while_many_sessions_expire():
    rig = large_cluster()
    rig.now_ms += 9001

    steps = []
    while rig.deadline_ms is not None and rig.deadline_ms <= rig.now_ms:
        steps.append([type(effect).__name__ for effect in rig.step(Ticked())])

    assert steps == [["Append", "Noted"]] * 3
    assert all(broker.fenced for broker in rig.state.brokers.values())


def test_records_one_by_one_and_in_bulk_make_the_same_state_at_the_same_offsets():
    rig = large_cluster()
    rig.fence(0)

    one_by_one = replayed(rig.log)
    rig.step(HighWatermark(rig.end_offset))

    assert one_by_one.contents() == rig.state.contents()
    assert one_by_one.registration_offsets == rig.state.registration_offsets
