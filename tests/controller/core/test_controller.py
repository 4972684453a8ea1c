"""The controller as a whole: activation, writes, waiting, lost leadership, standby; the rules that all APIs share."""

import pytest

from controller.interface.effects import (
    Append,
    ConfirmLeadership,
    Noted,
    OffsetsReserved,
    Reply,
    Resign,
    UpgradeKraftVersion,
)
from controller.interface.inputs import (
    AppendRefused,
    CaughtUp,
    Committed,
    Disconnected,
    HighWatermark,
    KraftVersion,
    KraftVersionSupport,
    LeaderChanged,
    LeadershipConfirmed,
    ReserveOffsets,
    ShutDown,
    Ticked,
    WallClock,
)
from records.batch import batches
from records.errors import Error
from records.messages.features import UpdateFeaturesRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ListPartitionReassignmentsRequest
from records.messages.topics import CreateTopicsRequest
from records.messages.versions import ApiVersionsRequest
from records.metadata.brokers import BrokerRegistrationChangeRecord
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.topics import PartitionChangeRecord
from records.metadata.transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from tests.controller.rig import Rig, levels, new_topic, registration


def create_request(*names):
    return CreateTopicsRequest(topics=tuple(new_topic(name, (0,)) for name in names))


def kinds(effects):
    return [type(effect) for effect in effects]


def test_an_empty_log_gets_the_bootstrap_records_in_one_transaction():
    rig = Rig(elr=True, min_insync_replicas=3).lead()

    assert rig.records() == [
        (BeginTransactionRecord(name="Bootstrap records"), 0),
        (FeatureLevelRecord(name="metadata.version", feature_level=30), 0),
        (FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1), 0),
        (ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="3"), 0),
        (EndTransactionRecord(), 0),
    ]
    assert len(rig.log) == 2


def test_a_non_empty_log_gets_no_bootstrap_records():
    rig = Rig().lead().follow().lead()

    assert [type(r) for r, _ in rig.records()] == [BeginTransactionRecord, FeatureLevelRecord, EndTransactionRecord]


def test_a_new_active_controller_aborts_an_open_transaction():
    rig = Rig().lead()
    rig.follow()
    batch = transaction_batch(rig, BeginTransactionRecord(), FeatureLevelRecord(name="group.version", feature_level=1))
    rig.step(Committed(batch))
    assert rig.state.features["group.version"] == 1

    rig.lead()

    assert rig.records()[-1] == (AbortTransactionRecord(reason="Controller failover"), 0)
    assert "group.version" not in rig.state.features
    assert rig.state.transaction_start == -1


def test_a_new_active_controller_has_sessions_of_the_registrations_after_the_abort():
    rig = Rig().lead().brokers(0)
    rig.follow()
    fence = BrokerRegistrationChangeRecord(broker_id=0, broker_epoch=rig.state.brokers[0].epoch, fenced=1)
    rig.step(Committed(transaction_batch(rig, BeginTransactionRecord(), fence)))
    assert rig.state.brokers[0].fenced

    rig.lead()

    assert [(s.broker_id, s.fenced) for s in rig.controller.env.sessions] == [(0, False)]
    assert rig.controller.env.sessions.next_expiry_ms() == rig.now_ms + 9001


def transaction_batch(rig, *records):
    from records.batch import build_batch
    from records.frame import encode_record

    data = build_batch(
        [encode_record(*(record if isinstance(record, tuple) else (record, 0))) for record in records],
        base_offset=rig.end_offset,
        leader_epoch=rig.epoch,
        timestamp_ms=0,
    )
    rig.log.append(data)
    rig.end_offset += len(records)
    return data


def test_a_request_is_appended_at_once_and_answered_when_committed():
    rig = Rig(auto=False).lead()
    rig.commit()

    first = rig.send(registration(0))
    second = rig.send(registration(1))

    assert rig.replies == {}
    rig.commit(rig.end_offset - 1)
    assert list(rig.replies) == [first]
    rig.commit()
    assert list(rig.replies) == [first, second]


def test_an_operation_is_one_batch_with_leader_epoch_and_wall_clock_time():
    rig = Rig().lead()
    rig.step(WallClock(1_700_000_000_000))
    rig.brokers(0)

    rig.auto = False
    rig.now_ms += 5
    base = rig.end_offset
    rig.send(create_request("foo", "bar"))
    (batch,) = batches(rig.log[-1])
    assert (batch.base_offset, batch.last_offset, batch.leader_epoch, batch.record_count) == (base, base + 3, 1, 4)
    assert batch.max_timestamp == 1_700_000_000_000 + rig.now_ms


def test_a_later_request_sees_uncommitted_changes():
    rig = Rig().lead().brokers(0)
    rig.auto = False

    first = rig.send(create_request("foo"))
    second = rig.send(create_request("foo"))

    assert rig.replies.get(second) is None
    rig.commit()
    assert [rig.replies[n].topics[0].error_code for n in (first, second)] == [0, Error.TOPIC_ALREADY_EXISTS]


def test_losing_leadership_undoes_uncommitted_changes_and_answers_waiting_requests():
    rig = Rig().lead().brokers(0)
    before = rig.state.contents()
    rig.auto = False
    waiting = rig.send(create_request("foo"))
    assert "foo" in rig.state.topic_ids

    rig.follow(leader_id=7)

    assert rig.state.contents() == before
    reply = rig.replies[waiting].topics[0]
    assert (reply.error_code, reply.error_message) == (Error.NOT_CONTROLLER, "No controller appears to be active.")
    assert (rig.controller.is_active, rig.controller.env.sessions, rig.controller.tasks) == (False, None, None)
    text = rig.ask(create_request("foo")).topics[0].error_message
    assert text == "The active controller appears to be node 7."


def test_after_the_undo_the_new_leaders_records_are_replayed():
    rig = Rig().lead().brokers(0)
    rig.auto = False
    rig.send(create_request("lost"))
    rig.follow()

    batch = transaction_batch(rig, FeatureLevelRecord(name="group.version", feature_level=1))
    rig.step(Committed(batch))

    assert (rig.state.features["group.version"], "lost" in rig.state.topic_ids) == (1, False)
    assert rig.state.end_offset == rig.state.committed_end_offset == rig.end_offset


def test_a_refused_append_makes_the_controller_resign():
    rig = Rig().lead().brokers(0)
    rig.auto = False
    waiting = rig.send(create_request("foo"))

    effects = rig.step(AppendRefused(rig.epoch))

    assert effects[0] == Resign(1, "the quorum refused an append")
    assert (rig.controller.is_active, "foo" in rig.state.topic_ids) == (False, False)
    assert rig.replies[waiting].topics[0].error_code == Error.NOT_CONTROLLER
    assert rig.step(AppendRefused(1)) == []


def test_a_controller_that_leads_the_next_epoch_too_keeps_its_records():
    rig = Rig().lead().brokers(0)
    rig.auto = False
    waiting = rig.send(create_request("foo"))
    assert waiting not in rig.replies

    rig.lead()

    assert rig.replies[waiting].topics[0].error_code == 0
    assert (rig.controller.env.epoch, rig.controller.env.next_offset) == (2, rig.end_offset)
    rig.auto = True
    assert rig.ask(create_request("bar")).topics[0].error_code == 0
    assert next(batches(rig.log[-1])).leader_epoch == 2


def test_a_standby_has_the_same_state_as_the_active_controller():
    active = Rig(elr=True).lead().brokers(0, 1, 2)
    active.create("foo", (0, 1, 2), (1, 2, 0), min_insync_replicas="2")
    active.fence(1)
    active.unfence(1)
    standby = Rig(node_id=3001)

    for data in active.log:
        standby.step(Committed(data))

    assert standby.state.contents() == active.state.contents()
    assert standby.state.registration_offsets == active.state.registration_offsets


def test_a_standby_that_becomes_active_gives_unfenced_brokers_a_full_session_timeout():
    active = Rig().lead().brokers(0, 1).fence(1)
    standby = Rig(node_id=3001, metadata_max_idle_interval_ms=0)
    standby.log, standby.end_offset, standby.epoch = list(active.log), active.end_offset, active.epoch
    standby.now_ms = 500_000

    standby.lead()

    sessions = standby.controller.env.sessions
    assert [(s.broker_id, s.fenced, s.metadata_offset) for s in sessions] == [(0, False, -1), (1, True, -1)]
    assert sessions.next_expiry_ms() == 509_001


def test_a_standby_that_becomes_active_lets_another_process_take_the_id_of_a_fenced_broker():
    rig = Rig().lead().brokers(1).fence(1)
    rig.follow()

    rig.lead()

    assert rig.controller.env.sessions.next_expiry_ms() is None
    assert rig.register(1, incarnation=2).error_code == Error.NONE


# Reads, and responses without records.


def test_a_read_waits_for_confirmed_leadership():
    rig = Rig().lead().brokers(0)
    rig.create("foo", (0,))
    rig.confirms = False

    waiting = rig.send(create_request("foo"))
    assert waiting not in rig.replies
    number = rig.others[-1].number
    rig.step(LeadershipConfirmed(number, rig.epoch))

    assert rig.replies[waiting].topics[0].error_code == Error.TOPIC_ALREADY_EXISTS


def test_one_confirmation_is_pending_at_a_time_and_later_reads_wait_for_the_next():
    rig = Rig().lead().brokers(0)
    rig.create("foo", (0,))
    rig.confirms = False

    first = rig.send(create_request("foo"))
    second = rig.send(ListPartitionReassignmentsRequest())
    third = rig.send(ListPartitionReassignmentsRequest())
    assert [e.number for e in rig.others if isinstance(e, ConfirmLeadership)][-1:] == [1]

    effects = rig.step(LeadershipConfirmed(1, rig.epoch))
    assert kinds(effects) == [Reply, ConfirmLeadership]
    assert list(rig.replies)[-1] == first
    rig.step(LeadershipConfirmed(2, rig.epoch))
    assert list(rig.replies)[-2:] == [second, third]


def test_a_confirmation_of_another_epoch_is_ignored():
    rig = Rig().lead().brokers(0)
    rig.confirms = False
    waiting = rig.send(ListPartitionReassignmentsRequest())

    rig.step(LeadershipConfirmed(1, rig.epoch + 1))

    assert waiting not in rig.replies


def test_a_deposed_leader_does_not_answer_reads_from_lost_records():
    rig = Rig().lead().brokers(0, 1)
    rig.create("foo", (0,))
    rig.auto = rig.confirms = False
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    move = topic(name="foo", partitions=(topic.ReassignablePartition(partition_index=0, replicas=(1,)),))
    rig.send(AlterPartitionReassignmentsRequest(topics=(move,)))
    listing = rig.send(ListPartitionReassignmentsRequest())
    creating = rig.send(create_request("foo"))

    rig.follow(leader_id=7)

    # Reassignments any controller lists, from what is committed; that a topic is there the active one alone can say.
    assert (rig.replies[listing].error_code, rig.replies[listing].topics) == (0, ())
    assert rig.replies[creating].topics[0].error_code == Error.NOT_CONTROLLER


def test_an_unchanged_heartbeat_is_answered_while_other_records_are_uncommitted():
    rig = Rig().lead().brokers(0, 1)
    rig.auto = rig.confirms = False
    rig.send(create_request("foo"))

    assert rig.heartbeat(1, current_metadata_offset=0).is_fenced is False


def test_a_heartbeat_waits_for_uncommitted_changes_of_its_own_broker():
    from records.messages.brokers import BrokerHeartbeatRequest
    from records.schema import default_of, replace

    rig = Rig().lead()
    rig.register(0)
    rig.auto = False
    broker = rig.state.brokers[0]
    beat = replace(
        default_of(BrokerHeartbeatRequest),
        broker_id=0,
        broker_epoch=broker.epoch,
        current_metadata_offset=rig.end_offset,
    )
    unfencing = rig.send(beat)
    again = rig.send(beat)

    assert (unfencing in rig.replies, again in rig.replies) == (False, False)
    rig.commit()
    assert [rig.replies[n].is_fenced for n in (unfencing, again)] == [False, False]


def test_a_response_waits_only_for_the_records_it_depends_on():
    rig = Rig().lead().brokers(0)
    rig.create("foo", (0,))
    rig.auto = False
    rig.send(create_request("bar"))

    foo = rig.send(create_request("foo"))
    bar = rig.send(create_request("bar"))

    assert rig.replies[foo].topics[0].error_code == Error.TOPIC_ALREADY_EXISTS
    assert bar not in rig.replies


def test_of_a_closed_connection_reads_are_dropped_and_writes_are_answered_for_the_audit_log():
    rig = Rig().lead().brokers(0)
    rig.auto = rig.confirms = False
    gone = rig.send(create_request("foo"), connection=5)
    read = rig.send(ListPartitionReassignmentsRequest(), connection=5)
    other = rig.send(create_request("bar"), connection=6)

    rig.step(Disconnected({5}))
    rig.commit()
    rig.step(LeadershipConfirmed(1, rig.epoch))

    assert (gone in rig.replies, read in rig.replies, other in rig.replies) == (True, False, True)
    assert sorted(rig.state.topic_ids) == ["bar", "foo"]


def test_a_request_older_than_its_timeout_is_not_handled():
    rig = Rig().lead().brokers(0)
    late = CreateTopicsRequest(topics=(new_topic("foo", (0,)),), timeout_ms=100)

    assert rig.ask(late, arrived_ms=rig.now_ms - 100).topics[0].error_code == Error.REQUEST_TIMED_OUT
    assert "foo" not in rig.state.topic_ids
    assert rig.ask(late, arrived_ms=rig.now_ms - 99).topics[0].error_code == 0
    assert rig.controller.metrics.operations_timed_out == 1


# Time.


def test_an_idle_active_controller_writes_no_op_records():
    rig = Rig(metadata_max_idle_interval_ms=500).lead()
    before = rig.end_offset

    rig.tick(1499)

    assert rig.records(before) == [(NoOpRecord(), 0)] * 2


def test_no_op_records_can_be_disabled_and_a_standby_writes_none():
    off = Rig(metadata_max_idle_interval_ms=0).lead()
    standby = Rig().lead().follow()
    before = off.end_offset, standby.end_offset

    off.tick(5000)
    standby.tick(5000)

    assert (off.end_offset, standby.end_offset) == before


def test_a_step_fences_one_broker_and_runs_one_task():
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0, 1)
    rig.now_ms += 60_000

    effects = rig.step(Ticked())

    assert kinds(effects).count(Append) == 1
    assert rig.deadline_ms <= rig.now_ms


def test_a_controller_that_shut_down_writes_nothing():
    rig = Rig().lead().brokers(0)
    rig.auto = False
    waiting = rig.send(create_request("foo"))
    end_offset = rig.end_offset

    effects = rig.step(ShutDown())
    rig.now_ms += 60_000
    rig.step(Ticked())
    rig.step(LeaderChanged(5, 3000, 99))

    assert kinds(effects) == [Noted, Reply]
    assert rig.replies[waiting].topics[0].error_code == Error.NOT_CONTROLLER
    assert (rig.end_offset, rig.controller.is_active, rig.deadline_ms) == (end_offset, False, None)


def test_the_kraft_version_is_that_of_the_log():
    rig = Rig()

    rig.step(KraftVersion(1, 17))

    assert (rig.controller.env.kraft_version, rig.controller.env.kraft_version_offset) == (1, 17)


def test_offsets_are_left_to_a_control_batch_behind_all_that_was_written():
    rig = Rig().lead().brokers(0)
    end_offset = rig.end_offset

    effects = rig.step(ReserveOffsets(rig.controller.env.epoch, 1))
    rig.send(create_request("t"))

    assert [each for each in effects if isinstance(each, OffsetsReserved)] == [
        OffsetsReserved(rig.controller.env.epoch, end_offset)
    ]
    assert next(batches(rig.log[-1])).base_offset == end_offset + 1


def test_offsets_that_were_asked_for_before_the_controller_is_active_are_left_then():
    rig = Rig()

    early = rig.step(ReserveOffsets(5, 1))
    claimed = rig.step(LeaderChanged(5, 3000, 0))

    assert early == []
    reserved = [each for each in claimed if isinstance(each, OffsetsReserved)]
    assert reserved == [OffsetsReserved(5, rig.controller.env.next_offset - 1)]


def test_offsets_for_an_earlier_epoch_are_not_left():
    rig = Rig().lead()

    assert rig.step(ReserveOffsets(rig.controller.env.epoch - 1, 1)) == []


def test_an_upgrade_of_the_kraft_version_leaves_two_offsets_before_its_records():
    rig = Rig().lead()
    epoch, end_offset = rig.controller.env.epoch, rig.end_offset
    rig.step(KraftVersionSupport(epoch, 1))
    key = UpdateFeaturesRequest.FeatureUpdateKey(feature="kraft.version", max_version_level=1, upgrade_type=1)

    rig.send(UpdateFeaturesRequest(feature_updates=(key,)))

    assert UpgradeKraftVersion(epoch, end_offset, 1) in rig.others
    assert next(batches(rig.log[-1])).base_offset == end_offset + 2


def test_a_high_watermark_is_no_input_of_a_standby():
    rig = Rig()

    with pytest.raises(AssertionError):
        rig.step(HighWatermark(5))


def test_committed_batches_are_no_input_of_the_active_controller():
    rig = Rig().lead()

    with pytest.raises(AssertionError):
        rig.step(Committed(rig.log[0]))


@pytest.mark.parametrize("bootstrap", [[], levels()[:0]])
def test_a_log_without_a_metadata_version_needs_bootstrap_records(bootstrap):
    from controller.core.activation import ActivationError

    with pytest.raises(ActivationError):
        Rig(bootstrap=bootstrap).lead()


# Metadata transactions, and which reads may show them.


def test_a_response_that_depends_on_a_transaction_waits_for_its_end():
    rig = Rig(metadata_max_batch_size_in_bytes=300).lead().brokers(0, 1)
    rig.create("foo", (0, 1), (1, 0), (0, 1), (1, 0))
    rig.auto = False
    fencing = rig.heartbeat_unanswered(0, want_fence=True)
    again = rig.heartbeat_unanswered(0, want_fence=True)

    rig.commit(rig.end_offset - 1)
    assert (fencing in rig.replies, again in rig.replies) == (False, False)
    rig.commit()

    assert [rig.replies[n].is_fenced for n in (fencing, again)] == [True, True]


@pytest.mark.parametrize("record", [EndTransactionRecord(), AbortTransactionRecord(reason="")])
def test_a_standby_does_not_answer_from_an_open_transaction(record):
    rig = Rig().lead().brokers(0, 1)
    topic_id = rig.create("foo", (0,))
    rig.follow()
    change = PartitionChangeRecord(
        partition_id=0, topic_id=topic_id, replicas=(0, 1), adding_replicas=(1,), directories=(bytes(16),) * 2
    )
    rig.step(Committed(transaction_batch(rig, BeginTransactionRecord(), (change, 2))))

    listing = rig.send(ListPartitionReassignmentsRequest())
    gone = rig.send(ListPartitionReassignmentsRequest(), connection=5)
    speaking = rig.ask(ApiVersionsRequest(client_software_name="x", client_software_version="1"))
    rig.step(Disconnected({5}))
    assert (listing in rig.replies, speaking.error_code) == (False, 0)
    rig.step(Committed(transaction_batch(rig, record)))

    assert gone not in rig.replies
    topics = rig.replies[listing].topics
    assert [topic.name for topic in topics] == (["foo"] if isinstance(record, EndTransactionRecord) else [])


def test_a_standby_answers_no_reads_before_it_has_caught_up_after_its_start():
    rig = Rig().follow()
    rig.controller.is_catching_up = True

    listing = rig.send(ListPartitionReassignmentsRequest())
    rig.tick(1000)
    assert listing not in rig.replies
    rig.step(CaughtUp())

    assert rig.replies[listing].error_code == 0


def test_an_active_controller_counts_as_caught_up():
    rig = Rig()
    rig.controller.is_catching_up = True
    listing = rig.send(ListPartitionReassignmentsRequest())

    rig.lead()

    assert rig.replies[listing].error_code == 0
    assert not rig.controller.is_catching_up


def test_every_input_class_has_a_step_function():
    from typing import get_args

    from controller.core.steps import STEPS
    from controller.interface.inputs import Input

    assert set(STEPS) == set(get_args(Input))
