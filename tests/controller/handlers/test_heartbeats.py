"""Heartbeats: the table of states, the records of each transition, directories, and expired sessions."""

import pytest

from controller.handlers.heartbeats import BrokerState, current_state, next_state
from controller.interface.inputs import Ticked
from controller.interface.sessions import Session
from records.errors import Error
from records.messages.brokers import BrokerHeartbeatRequest
from records.metadata.brokers import BrokerRegistrationChangeRecord
from records.metadata.topics import PartitionChangeRecord
from records.schema import default_of, replace
from tests.controller.rig import Rig, directory, feature

FENCED, UNFENCED = BrokerState.FENCED, BrokerState.UNFENCED
CONTROLLED_SHUTDOWN, SHUTDOWN_NOW = BrokerState.CONTROLLED_SHUTDOWN, BrokerState.SHUTDOWN_NOW

SESSIONS = {
    FENCED: Session(1, True),
    UNFENCED: Session(1, False),
    CONTROLLED_SHUTDOWN: Session(1, False, shutdown_offset=100),
}


@pytest.mark.parametrize(
    ("now", "want_fence", "want_shut_down", "caught_up", "leads", "lowest", "after"),
    [
        (FENCED, False, True, True, False, 0, SHUTDOWN_NOW),
        (FENCED, True, True, True, False, 0, SHUTDOWN_NOW),
        (FENCED, False, False, True, False, 0, UNFENCED),
        (FENCED, False, False, False, False, 0, FENCED),
        (FENCED, True, False, True, False, 0, FENCED),
        (UNFENCED, True, True, True, True, 0, SHUTDOWN_NOW),
        (UNFENCED, True, False, True, True, 0, FENCED),
        (UNFENCED, False, True, True, True, 0, CONTROLLED_SHUTDOWN),
        (UNFENCED, False, True, True, False, 0, SHUTDOWN_NOW),
        (UNFENCED, False, False, False, True, 0, UNFENCED),
        (CONTROLLED_SHUTDOWN, False, True, True, True, 1000, CONTROLLED_SHUTDOWN),
        (CONTROLLED_SHUTDOWN, False, True, True, False, 99, CONTROLLED_SHUTDOWN),
        (CONTROLLED_SHUTDOWN, False, True, True, False, 100, SHUTDOWN_NOW),
        (CONTROLLED_SHUTDOWN, False, False, True, False, 100, SHUTDOWN_NOW),
        (CONTROLLED_SHUTDOWN, True, False, True, False, 99, CONTROLLED_SHUTDOWN),
    ],
)
def test_a_heartbeat_changes_the_state_of_a_broker_by_the_table(
    now, want_fence, want_shut_down, caught_up, leads, lowest, after
):
    request = replace(
        default_of(BrokerHeartbeatRequest),
        want_fence=want_fence,
        want_shut_down=want_shut_down,
        current_metadata_offset=50 if caught_up else 49,
    )

    found = next_state(
        SESSIONS[now],
        request,
        registration_offset=50,
        leads=lambda: leads,
        lowest_active_offset=lambda: lowest,
    )

    assert (current_state(SESSIONS[now]), found) == (now, after)


def said(response):
    return (response.error_code, response.is_caught_up, response.is_fenced, response.should_shut_down)


def change(broker, **fields):
    return BrokerRegistrationChangeRecord(broker_id=broker.broker_id, broker_epoch=broker.epoch, **fields)


def test_a_broker_is_unfenced_once_it_has_seen_its_own_registration():
    rig = Rig().lead()
    rig.register(1)
    offset = rig.state.registration_offsets[1]
    before = rig.end_offset

    behind = rig.heartbeat(1, current_metadata_offset=offset - 1)
    there = rig.heartbeat(1, current_metadata_offset=offset)
    again = rig.heartbeat(1, current_metadata_offset=offset)

    assert [said(each) for each in (behind, there, again)] == [
        (0, False, True, False),
        (0, True, False, False),
        (0, True, False, False),
    ]
    assert rig.records(before) == [(change(rig.state.brokers[1], fenced=-1), 0)]


@pytest.mark.parametrize("fields", [{"broker_epoch": 99}, {"broker_epoch": -1}])
def test_a_heartbeat_of_another_epoch_is_stale(fields):
    rig = Rig().lead().brokers(1)

    assert said(rig.heartbeat(1, **fields)) == (Error.STALE_BROKER_EPOCH, False, True, False)


def test_a_heartbeat_of_an_unregistered_broker_is_stale_and_stores_nothing():
    rig = Rig().lead()
    request = replace(default_of(BrokerHeartbeatRequest), broker_id=5, broker_epoch=5)

    assert rig.ask(request).error_code == Error.STALE_BROKER_EPOCH
    assert rig.controller.env.sessions.next_expiry_ms() is None


def test_a_standby_takes_no_heartbeats():
    rig = Rig().lead().brokers(1)
    rig.follow(leader_id=7)

    assert rig.heartbeat(1).error_code == Error.NOT_CONTROLLER


def test_fencing_comes_after_the_changes_of_partitions_and_leaves_replicas_as_they_are():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2), (1, 2, 0))
    before = rig.end_offset

    response = rig.heartbeat(0, want_fence=True)

    assert said(response) == (0, True, True, False)
    records = rig.records(before)
    changes = {record.partition_id: record for record, _ in records[:-1]}
    assert [(c.isr, c.leader, c.replicas) for _, c in sorted(changes.items())] == [
        ((1, 2), 1, None),
        ((1, 2), -2, None),
    ]
    assert records[-1] == (change(rig.state.brokers[0], fenced=1), 0)


def test_unfencing_gives_only_leaderless_partitions_back():
    rig = Rig().lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    rig.create("bar", (0,))
    rig.fence(0)
    assert [rig.partition(topic).leader for topic in ("foo", "bar")] == [1, -1]
    before = rig.end_offset

    rig.unfence(0)

    records = [record for record, _ in rig.records(before)]
    assert records[0] == change(rig.state.brokers[0], fenced=-1)
    assert [(type(r), r.leader, r.isr) for r in records[1:]] == [(PartitionChangeRecord, 0, None)]
    assert [rig.partition(topic).isr for topic in ("foo", "bar")] == [(1,), (0,)]


def test_controlled_shutdown_waits_for_every_active_broker():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2))
    broker = rig.state.brokers[0]
    for other in (1, 2):
        rig.heartbeat(other)
    before = rig.end_offset

    started = rig.heartbeat(0, want_shut_down=True)

    records = rig.records(before)
    assert records[0] == (change(broker, in_controlled_shutdown=1), 1)
    assert [(r.isr, r.leader) for r, _ in records[1:]] == [((1, 2), 1)]
    assert said(started) == (0, True, False, False)
    shutdown_offset = rig.end_offset - 1

    rig.heartbeat(1, current_metadata_offset=shutdown_offset)
    rig.heartbeat(2, current_metadata_offset=shutdown_offset - 1)
    assert said(rig.heartbeat(0, want_shut_down=True)) == (0, True, False, False)

    rig.heartbeat(2, current_metadata_offset=shutdown_offset)
    before = rig.end_offset
    assert said(rig.heartbeat(0, want_shut_down=True)) == (0, True, True, True)
    assert rig.records(before) == [(change(broker, fenced=1), 0)]


def test_the_offset_of_a_controlled_shutdown_stays():
    rig = Rig().lead().brokers(0, 1)
    rig.create("foo", (0, 1))

    rig.heartbeat(0, want_shut_down=True)
    offset = rig.controller.env.sessions.get(0).shutdown_offset
    rig.create("other", (1,))
    rig.heartbeat(0, want_shut_down=True)

    assert rig.controller.env.sessions.get(0).shutdown_offset == offset


def test_a_broker_that_leads_nothing_may_stop_at_once():
    rig = Rig().lead().brokers(0, 1)

    assert said(rig.heartbeat(0, want_shut_down=True)) == (0, True, True, True)


def test_a_fenced_broker_that_wants_to_stop_may():
    rig = Rig().lead().brokers(0, 1).fence(0)

    assert said(rig.heartbeat(0, want_shut_down=True)) == (0, True, True, True)


def test_a_broker_in_controlled_shutdown_gets_no_new_replicas():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1))
    rig.heartbeat(0, want_shut_down=True)

    rig.create("bar", (0, 1, 2))

    assert rig.partition("bar").isr == (1, 2)


def two_directories(broker_id):
    return (directory(broker_id), directory(broker_id, 1))


def test_replicas_in_an_offline_directory_leave_their_isr():
    rig = Rig().lead().brokers(1)
    rig.brokers(0, log_dirs=two_directories(0))
    rig.create("foo", (0, 1), (0, 1))
    assign(rig, 0, directory(0), ("foo", 0))
    assign(rig, 0, directory(0, 1), ("foo", 1))
    broker = rig.state.brokers[0]
    before = rig.end_offset

    response = rig.heartbeat(0, offline_log_dirs=(directory(0, 1), directory(5)))

    assert said(response) == (0, True, False, False)
    records = rig.records(before)
    assert [(r.partition_id, r.isr, r.leader) for r, _ in records[:-1]] == [(1, (1,), 1)]
    assert records[-1] == (change(broker, log_dirs=(directory(0),)), 2)
    assert rig.state.brokers[0].directories == (directory(0),)
    assert rig.heartbeat(0, offline_log_dirs=(directory(0, 1),)).error_code == 0
    assert rig.records(before) == records


def assign(rig, broker_id, directory_id, *partitions):
    from tests.controller.handlers.test_directories import assignment

    return rig.ask(assignment(rig, broker_id, {directory_id: partitions}))


def test_a_broker_that_is_fenced_with_an_offline_directory_changes_each_partition_once():
    rig = Rig().lead().brokers(1)
    rig.brokers(0, log_dirs=two_directories(0))
    rig.create("foo", (0, 1))
    assign(rig, 0, directory(0, 1), ("foo", 0))
    before = rig.end_offset

    rig.heartbeat(0, want_fence=True, offline_log_dirs=(directory(0, 1),))

    kinds = [type(record).__name__ for record, _ in rig.records(before)]
    assert kinds == ["PartitionChangeRecord", "BrokerRegistrationChangeRecord", "BrokerRegistrationChangeRecord"]


def test_a_broker_that_is_unfenced_with_an_offline_directory_leads_nothing_in_it():
    rig = Rig(elr=True).lead()
    rig.brokers(0, log_dirs=two_directories(0))
    rig.create("foo", (0,), (0,))
    assign(rig, 0, directory(0), ("foo", 0))
    assign(rig, 0, directory(0, 1), ("foo", 1))
    rig.heartbeat(0, want_fence=True)
    assert [rig.partition("foo", index).leader for index in (0, 1)] == [-1, -1]

    rig.heartbeat(0, offline_log_dirs=(directory(0, 1),))

    assert [rig.partition("foo", index).leader for index in (0, 1)] == [0, -1]
    assert [rig.partition("foo", index).isr for index in (0, 1)] == [(0,), ()]


def with_three_directories():
    """A broker with one replica of `foo` in each of three directories; broker 1 has them too."""
    rig = Rig(elr=True).lead().brokers(1)
    places = (directory(0), directory(0, 1), directory(0, 2))
    rig.brokers(0, log_dirs=places)
    rig.create("foo", (0, 1), (0, 1), (0, 1))
    for index, place in enumerate(places):
        assign(rig, 0, place, ("foo", index))
    return rig, places


def test_all_directories_that_go_offline_with_one_heartbeat_lose_their_replicas():
    rig, places = with_three_directories()
    before = rig.end_offset

    rig.heartbeat(0, offline_log_dirs=places[:2])

    assert [(r.partition_id, r.isr, r.leader) for r, _ in rig.records(before)[:-1]] == [(0, (1,), 1), (1, (1,), 1)]
    assert rig.state.brokers[0].directories == places[2:]


def test_a_broker_that_is_unfenced_with_two_offline_directories_leads_nothing_in_either():
    rig, places = with_three_directories()
    rig.fence(1)
    rig.heartbeat(0, want_fence=True)
    assert [rig.partition("foo", index).leader for index in range(3)] == [-1, -1, -1]

    rig.heartbeat(0, offline_log_dirs=places[:2])

    assert [rig.partition("foo", index).leader for index in range(3)] == [-1, -1, 0]


def test_a_broker_that_loses_its_last_directory_keeps_it_in_its_registration():
    rig = Rig().lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    before = rig.end_offset

    rig.heartbeat(0, offline_log_dirs=(directory(0),))

    assert [(r.isr, r.leader) for r, _ in rig.records(before)[:-1]] == [((1,), 1)]
    assert rig.records(before)[-1] == (change(rig.state.brokers[0], log_dirs=()), 2)
    assert rig.state.brokers[0].directories == (directory(0),)


def test_cordoned_directories_are_written_when_they_change():
    rig = Rig().lead()
    rig.brokers(0, log_dirs=two_directories(0))
    broker = rig.state.brokers[0]
    before = rig.end_offset

    both = two_directories(0)
    for cordoned in (None, (), (), (directory(0, 1),), (directory(0, 1),), None, both, both[::-1], ()):
        rig.heartbeat(0, cordoned_log_dirs=cordoned)

    assert rig.records(before) == [
        (change(broker, cordoned_log_dirs=()), 3),
        (change(broker, cordoned_log_dirs=(directory(0, 1),)), 3),
        (change(broker, cordoned_log_dirs=both), 3),
        (change(broker, cordoned_log_dirs=()), 3),
    ]


@pytest.mark.parametrize("metadata_version", [17, 29])
def test_cordoned_directories_come_with_4_3(metadata_version):
    rig = Rig(metadata_version=metadata_version).lead().brokers(0)
    before = rig.end_offset

    rig.heartbeat(0, cordoned_log_dirs=(directory(0),))

    assert rig.records(before) == []


def test_a_broker_is_fenced_one_millisecond_after_the_session_timeout():
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    last_contact = rig.now_ms
    before = rig.end_offset

    rig.tick(9000)
    assert rig.records(before) == []
    rig.heartbeat(1)
    rig.tick(1)

    assert rig.now_ms == last_contact + 9001
    assert [type(record).__name__ for record, _ in rig.records(before)] == [
        "PartitionChangeRecord",
        "BrokerRegistrationChangeRecord",
    ]
    assert rig.noted("broker_session_expired") == [{"broker_id": 0, "epoch": rig.state.brokers[0].epoch}]


def test_brokers_whose_sessions_end_together_are_fenced_one_after_the_other():
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2))
    before = rig.end_offset

    rig.tick(9001)

    partition = rig.partition("foo")
    assert (partition.isr, partition.leader, partition.leader_epoch) == ((2,), -1, 3)
    assert [b.fenced for b in rig.state.brokers.values()] == [True, True, True]
    assert len(rig.noted("broker_session_expired")) == 3
    leaders = [r.leader for r, _ in rig.records(before) if isinstance(r, PartitionChangeRecord)]
    assert leaders == [1, 2, -1]


def in_parts(*assignments, at_once=3, fenced=()):
    """A cluster from which the partitions of broker 0, whose session has expired, are taken so many at a time."""
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0, 1, 2)
    rig.controller.env.partitions_at_once = at_once
    rig.create("foo", *assignments)
    rig.fence(*fenced)
    rig.now_ms += 9001
    for broker_id in {1, 2}.difference(fenced):
        rig.heartbeat(broker_id)
    return rig


def test_a_broker_in_very_many_isrs_leaves_some_of_them_in_each_step_and_is_fenced_in_the_last():
    rig = in_parts(*[(0, 1, 2)] * 8)
    before = rig.end_offset

    sizes, states = [], []
    while not rig.state.brokers[0].fenced:
        rig.step(Ticked())
        sizes.append(rig.end_offset - before - sum(sizes))
        states.append(rig.heartbeat(1).error_code)  # answered in between

    assert (sizes, states) == ([3, 3, 3], [0, 0, 0])
    kinds = [type(record) for record, _ in rig.records(before)]
    assert kinds == [PartitionChangeRecord] * 8 + [BrokerRegistrationChangeRecord]
    assert [rig.partition("foo", number)[1:] for number in range(8)] == [rig.partition("foo")[1:]] * 8
    assert (rig.partition("foo").isr, rig.partition("foo").leader) == ((1, 2), 1)
    assert len(rig.noted("broker_session_expired")) == 1
    whole = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0, 1, 2)
    whole.create("foo", *[(0, 1, 2)] * 8)
    whole.fence(0)
    assert [partition for *_, partition in whole.state.partitions] == [p for *_, p in rig.state.partitions]


def test_partitions_that_get_no_other_leader_stay_with_the_broker_until_it_is_fenced():
    rig = in_parts(*[(0, 2), (0, 1)] * 4, fenced=[2])

    rig.step(Ticked())
    assert [rig.partition("foo", number).leader for number in range(8)] == [0, 1, 0, 0, 0, 0, 0, 0]
    rig.step(Ticked())
    assert [rig.partition("foo", number).leader for number in range(8)] == [0, 1, 0, 1, 0, 1, 0, 0]
    rig.step(Ticked())

    assert rig.state.brokers[0].fenced
    assert [rig.partition("foo", number).leader for number in range(8)] == [-1, 1] * 4


def test_a_heartbeat_while_partitions_leave_the_broker_keeps_it_and_the_next_expiry_begins_anew():
    rig = in_parts(*[(0, 1)] * 8)
    rig.step(Ticked())
    rig.heartbeat(0)
    rig.step(Ticked())
    assert [rig.partition("foo", number).leader for number in range(8)] == [1] * 3 + [0] * 5
    assert not rig.state.brokers[0].fenced

    sessions = rig.controller.env.sessions
    epoch = rig.state.brokers[0].epoch
    assert sessions.left_below(0, epoch) == 0
    rig.now_ms += 9001
    for _ in range(3):
        rig.heartbeat(1)
        rig.step(Ticked())
    assert rig.state.brokers[0].fenced
    assert [rig.partition("foo", number).isr for number in range(8)] == [(1,)] * 8


def test_a_leader_that_follows_in_the_middle_fences_the_broker_with_the_rest():
    rig = in_parts(*[(0, 1)] * 8)
    rig.step(Ticked())

    rig.follow()
    rig.lead()
    rig.tick(8000)
    assert not rig.state.brokers[0].fenced
    rig.heartbeat(1)
    rig.heartbeat(2)
    rig.tick(2000)

    assert rig.state.brokers[0].fenced
    assert [rig.partition("foo", number).isr for number in range(8)] == [(1,)] * 8


def test_the_end_of_a_former_incarnations_session_changes_nothing():
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0)
    rig.now_ms += 9001
    rig.register(0, incarnation=2)
    rig.heartbeat(0)
    before = rig.end_offset

    rig.tick(5000)

    assert rig.records(before) == []


def test_the_end_of_a_fenced_brokers_session_fences_it_once_more_as_in_kafka():
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0).fence(0)
    before = rig.end_offset

    rig.tick(20_000)

    (record,) = [record for record, _ in rig.records(before)]
    assert (record.broker_id, record.fenced) == (0, 1)
    assert rig.controller.env.sessions.next_expiry_ms() is None


def test_a_timed_out_heartbeat_only_renews_the_session():
    rig = Rig(metadata_max_idle_interval_ms=0).lead()
    rig.register(0)
    arrived_ms = rig.now_ms
    rig.now_ms += 1001

    response = rig.heartbeat(0)
    late = rig.ask(
        replace(
            default_of(BrokerHeartbeatRequest),
            broker_id=0,
            broker_epoch=rig.state.brokers[0].epoch,
            current_metadata_offset=77,
            want_shut_down=True,
        ),
        arrived_ms=arrived_ms,
    )

    assert (response.error_code, late.error_code) == (0, Error.REQUEST_TIMED_OUT)
    assert rig.controller.metrics.timed_out_broker_heartbeats == 1
    assert rig.controller.env.sessions.get(0).metadata_offset == 77
    assert not rig.state.brokers[0].fenced


def test_a_heartbeat_that_timed_out_in_the_queue_still_counts_as_heard():
    """The broker was alive when it was sent, so it is not fenced because the controller was slow."""
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0)
    epoch = rig.state.brokers[0].epoch
    heard_ms = rig.now_ms
    rig.now_ms += 8_000
    late = replace(default_of(BrokerHeartbeatRequest), broker_id=0, broker_epoch=epoch, current_metadata_offset=3)

    answer = rig.ask(late, arrived_ms=rig.now_ms - 1001)

    assert answer.error_code == Error.REQUEST_TIMED_OUT
    assert rig.controller.env.sessions.contact_ms(0, epoch) == heard_ms + 8_000
    rig.tick(8_999)
    assert not rig.state.brokers[0].fenced
    rig.tick(2)
    assert rig.state.brokers[0].fenced


def test_a_late_heartbeat_of_a_former_incarnation_is_not_heard():
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0)
    epoch = rig.state.brokers[0].epoch
    heard_ms = rig.now_ms
    rig.now_ms += 1001
    late = replace(default_of(BrokerHeartbeatRequest), broker_id=0, broker_epoch=epoch - 1, current_metadata_offset=99)

    rig.ask(late, arrived_ms=heard_ms)

    sessions = rig.controller.env.sessions
    assert (sessions.contact_ms(0, epoch), sessions.contact_ms(0, epoch - 1)) == (heard_ms, None)
    assert sessions.get(0).metadata_offset != 99


def test_an_unfenced_broker_in_controlled_shutdown_starts_over_under_a_new_active_controller():
    rig = Rig().lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    rig.heartbeat(0, want_shut_down=True)
    assert rig.state.brokers[0].in_controlled_shutdown
    rig.follow()
    rig.lead()
    before = rig.end_offset

    response = rig.heartbeat(0, want_shut_down=True)

    assert said(response) == (0, True, True, True)
    assert [type(r).__name__ for r, _ in rig.records(before)] == ["BrokerRegistrationChangeRecord"]


def test_a_broker_may_register_unknown_features():
    rig = Rig().lead()

    rig.brokers(1, features=(feature("metadata.version", 7, 30), feature("no.such.feature", 0, 5)))

    assert rig.state.brokers[1].features["no.such.feature"] == (0, 5)
