"""What is done too early, needlessly, or more than asked is detected, and what is done in time is accepted."""

from typing import Any

import pytest

from records.batch import build_batch
from records.errors import Error
from records.frame import encode_record
from records.messages.brokers import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from records.messages.topics import CreatePartitionsRequest
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from records.schema import replace
from simulations.cluster.metadata.image import Image, Partition
from simulations.cluster.rules import nodes, partitions, topics
from simulations.cluster.rules.departures import Departures, stays
from simulations.cluster.rules.elections import Change
from simulations.cluster.rules.mirror import Mirror
from simulations.world.violation import Violation
from tests.simulations.cluster.test_rules import TOPIC, case, image, partition

BEAT = BrokerHeartbeatRequest(
    broker_id=101, broker_epoch=101, current_metadata_offset=50, want_fence=False, want_shut_down=False
)
ELECT = ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=1)
ALTER = AlterPartitionRequest(broker_id=101, broker_epoch=1, topics=())
ANSWER = BrokerHeartbeatResponse(
    throttle_time_ms=0, error_code=0, is_caught_up=True, is_fenced=False, should_shut_down=False
)


def changes(found: Partition, request: Any = None, after: Image | None = None, **fields: Any) -> None:
    before = image(found)
    record = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, **fields)
    Change(before, after or before, record, (), -1, 1, 3, {}, request).log_rules(1)


def test_only_a_preferred_election_moves_leadership_from_a_leader_that_could_go_on() -> None:
    led_by_second = partition(leader=102)

    changes(led_by_second, ELECT, leader=101)
    changes(led_by_second, None, leader=101)  # leaders are balanced
    for request in (BEAT, ALTER, replace(ELECT, election_type=1)):
        with pytest.raises(Violation, match="101 leads in place of 102, which could remain leader"):
            changes(led_by_second, request, leader=101)


def test_a_replica_that_can_serve_leaves_the_isr_by_its_leaders_request_alone() -> None:
    changes(partition(), ALTER, isr=(101,))

    with pytest.raises(Violation, match=r"\[102\] leave the ISR, and could stay"):
        changes(partition(), BEAT, isr=(101,))

    after = image(partition())
    after.brokers[102].fenced = True
    changes(partition(), BEAT, after, isr=(101,))


def test_a_move_does_not_end_before_its_new_replicas_are_in_sync() -> None:
    ends: Any = {"replicas": (101, 103), "adding_replicas": (), "removing_replicas": (), "leader": 101}
    moving = partition(adding=(103,), removing=(102,), isr=(101, 102, 103))

    changes(moving, ALTER, isr=(101, 103), **ends)

    with pytest.raises(Violation, match="the move ends, and could not be over"):
        changes(partition(adding=(103,), removing=(102,)), ALTER, isr=(101,), **ends)


def test_a_move_to_fewer_replicas_waits_for_all_that_stay() -> None:
    moving = partition(removing=(102,), isr=(101, 102))
    ends: Any = {"replicas": (101, 103), "removing_replicas": (), "leader": 101}

    with pytest.raises(Violation, match="the move ends, and could not be over"):
        changes(moving, ALTER, isr=(101,), **ends)


def test_a_move_whose_new_replica_is_taken_back_ends_by_being_cancelled_alone() -> None:
    moving = partition(adding=(102,), removing=(102,), isr=(101, 103))
    ends: Any = {"replicas": (101, 103), "adding_replicas": (), "removing_replicas": (), "leader": 101}
    cancel = AlterPartitionReassignmentsRequest(topics=(), timeout_ms=1_000)

    changes(moving, cancel, **ends)

    with pytest.raises(Violation, match="the move ends, and could not be over"):
        changes(moving, ALTER, **ends)


def test_an_operation_changes_a_partition_once() -> None:
    fenced = image(partition())
    mirror = Mirror(1, 1, fenced, {}, ("cluster", (1,), 0))
    records = [
        PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(101,)),
        PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=-1),
        BrokerRegistrationChangeRecord(broker_id=102, broker_epoch=102, fenced=1),
    ]
    data = build_batch([encode_record(each, 0) for each in records], base_offset=0, leader_epoch=1, timestamp_ms=0)

    with pytest.raises(Violation, match=r"writes two changes of \['here-0'\]"):
        mirror.wrote([data], request=BEAT)


def test_partitions_leave_a_broker_before_it_is_fenced_by_periodic_work_alone_and_only_if_another_leads() -> None:
    def wrote(elected: int, request: Any = None) -> None:
        record = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(101,), leader=elected)
        data = build_batch([encode_record(record, 0)], base_offset=0, leader_epoch=1, timestamp_ms=0)
        Mirror(1, 1, image(partition(leader=102, isr=(101, 102))), {}, ("cluster", (1,), 0)).wrote(
            [data], request=request
        )

    wrote(101)

    with pytest.raises(Violation, match=r"\[102\] leave the ISR, and could stay"):
        wrote(101, BEAT)
    with pytest.raises(Violation, match="takes leaders from partitions before it fences broker 102, of which 1 have"):
        wrote(-1)


def test_a_broker_in_controlled_shutdown_leaves_what_others_can_take_at_once_or_within_a_number_of_ticks() -> None:
    found = image(partition(leader=102, isr=(101, 102)))
    found.partitions[TOPIC, 1] = partition(leader=-1, isr=(101,))
    assert stays(found, 101) == [(TOPIC, 0)]
    found.partitions[TOPIC, 1].leader = 101
    assert stays(found, 101) == [(TOPIC, 0), (TOPIC, 1)]

    departures = Departures(at_once=1)
    departures.leave_at_once(1, found)
    departures.since[101] = 70
    departures.leave_at_once(1, found)
    for _ in range(28):
        departures.on_ticked(1, found)
    with pytest.raises(Violation, match="leaves brokers that shut down in ISRs for 28 ticks"):
        departures.on_ticked(1, found)
    departures.at_once = 2
    with pytest.raises(Violation, match="leaves broker 101, which shuts down, in the ISRs of"):
        departures.leave_at_once(1, found)

    found.partitions[TOPIC, 1].leader = -1
    found.partitions[TOPIC, 0].isr = (102,)
    departures.leave_at_once(1, found)
    departures.on_ticked(1, found)
    assert departures.ticks == {}


def test_a_broker_in_many_isrs_that_leads_nothing_has_to_leave_them_first() -> None:
    found = image(partition(leader=102, isr=(101, 102)))

    assert [Departures(at_once).has_to_leave(found, 101) for at_once in (0, 1)] == [True, False]
    assert Departures(at_once=1).has_to_leave(found, 102)


def test_a_new_partition_has_neither_eligible_replicas_nor_a_last_known_leader() -> None:
    growth = CreatePartitionsRequest.CreatePartitionsTopic(name="here", count=2, assignments=None)
    request = CreatePartitionsRequest(topics=(growth,), timeout_ms=1, validate_only=False)
    made = PartitionRecord(
        partition_id=1, topic_id=TOPIC, replicas=(101, 102, 103), isr=(101, 102, 103), removing_replicas=(),
        adding_replicas=(), leader=101, leader_epoch=0, partition_epoch=0,
    )  # fmt: skip

    topics.check_growth(case(request, [made]))
    for more in ({"eligible_leader_replicas": (101,)}, {"last_known_elr": (102,)}, {"removing_replicas": (103,)}):
        with pytest.raises(Violation, match="the epochs of partition 1"):
            topics.check_growth(case(request, [replace(made, **more)]))


def beats(request: Any, *records: Any, begin: int = 0, offset: int = 40, **state: Any) -> Any:
    """The check of the answer to a heartbeat of broker 101, which registered at an offset."""
    found = case(request, list(records))
    found.image.brokers[101].offset, found.begin = offset, begin
    for name, value in state.items():
        setattr(found.image.brokers[101], name, value)
    return nodes.heartbeat(found)


FENCE = BrokerRegistrationChangeRecord(broker_id=101, broker_epoch=101, fenced=1)
UNFENCE, LEAVE = replace(FENCE, fenced=-1), replace(FENCE, fenced=0, in_controlled_shutdown=1)


@pytest.mark.parametrize(
    ("request_fields", "records", "state", "answer"),
    [
        ({}, [], {}, {}),
        ({"want_fence": True}, [FENCE], {}, {"is_fenced": True}),
        ({"want_shut_down": True}, [LEAVE], {}, {}),
        ({}, [UNFENCE], {"fenced": True}, {}),
        ({"want_shut_down": True}, [], {"fenced": True}, {"is_fenced": True, "should_shut_down": True}),
        ({"current_metadata_offset": 39}, [], {"fenced": True}, {"is_fenced": True, "is_caught_up": False}),
    ],
)
def test_a_heartbeat_that_is_answered_by_the_rules_is_accepted(
    request_fields: dict[str, Any], records: list[Any], state: dict[str, Any], answer: dict[str, Any]
) -> None:
    beats(replace(BEAT, **request_fields), *records, **state)(replace(ANSWER, **answer))


@pytest.mark.parametrize(
    ("request_fields", "records", "state", "answer", "text"),
    [
        ({}, [FENCE], {}, {}, "is fenced"),
        ({"current_metadata_offset": 39}, [UNFENCE], {"fenced": True}, {}, "is fenced"),
        ({}, [], {"fenced": True}, {}, "is fenced"),
        ({"want_shut_down": True}, [FENCE], {}, {}, "is fenced"),  # it leads a partition
        ({"want_shut_down": True}, [], {}, {}, "controlled shutdown"),
        ({}, [LEAVE], {}, {}, "controlled shutdown"),
        ({"current_metadata_offset": 39}, [], {}, {}, "isCaughtUp"),
        ({}, [], {}, {"is_caught_up": False}, "isCaughtUp"),
        ({"want_shut_down": True}, [LEAVE], {}, {"should_shut_down": True}, "shouldShutDown"),
    ],
)
def test_a_heartbeat_that_is_answered_too_early_or_too_late_is_detected(
    request_fields: dict[str, Any], records: list[Any], state: dict[str, Any], answer: dict[str, Any], text: str
) -> None:
    with pytest.raises(Violation, match=text):
        beats(replace(BEAT, **request_fields), *records, **state)(replace(ANSWER, **answer))


def test_what_a_loaded_snapshot_hides_from_a_new_controller_is_left_open() -> None:
    beats(BEAT, begin=60)(ANSWER)
    beats(BEAT, begin=60)(replace(ANSWER, is_caught_up=False))
    beats(BEAT, fenced=True, begin=60)(replace(ANSWER, is_fenced=True))


def test_a_leaving_broker_is_let_go_when_all_that_serve_have_read_that_it_leaves() -> None:
    found = image(partition())
    departures = Departures()
    other = replace(BEAT, broker_id=102, broker_epoch=102)
    departures.on_heartbeat(found, replace(BEAT, want_shut_down=True), 70, is_done=True)
    departures.on_heartbeat(found, replace(other, current_metadata_offset=69), 71, is_done=True)
    found.brokers[103].fenced = True

    early = departures.have_read(found, 101)
    departures.on_heartbeat(found, replace(other, current_metadata_offset=70), 72, is_done=True)

    assert (early, departures.have_read(found, 101)) == (False, True)
    left = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(102, 103), leader=102)
    departures.left_isrs(found, left, 75)
    assert departures.since == {101: 75}
    departures.on_written([FENCE])
    assert departures.since == {}


def test_a_heartbeat_lets_a_leaving_broker_go_no_sooner() -> None:
    shut = replace(BEAT, want_shut_down=True)

    def at(read_by_others: int, isr: tuple[int, ...] = (102, 103)) -> set[str]:
        found = case(shut, [])
        found.image.partitions[TOPIC, 0] = partition(leader=102, isr=isr)
        found.departures.since[101] = 70
        found.departures.read = {(102, 102): read_by_others, (103, 103): 90}
        return nodes.next_states(found, found.image.brokers[101])

    assert at(69) == {nodes.LEAVING}
    assert nodes.GONE in at(70)
    assert at(70, isr=(101, 102)) == {nodes.LEAVING}


def eligible(**fields: Any) -> Image:
    """A partition without a leader, whose last known one has lost what it had; 102, which is fenced, is eligible."""
    found = image(partition(leader=-1, isr=(), elr=(102,), last_known=(101,), **fields))
    found.features["eligible.leader.replicas.version"] = 1
    found.brokers[102].fenced = True
    return found


def test_the_last_known_leader_does_not_lead_again_while_another_replica_is_eligible() -> None:
    def leads(found: Image, *lost: int, request: Any = None) -> None:
        record = PartitionChangeRecord(
            partition_id=0, topic_id=TOPIC, leader=101, isr=(101,), leader_recovery_state=1, last_known_elr=(),
            eligible_leader_replicas=(),
        )  # fmt: skip
        Change(found, found, record, lost, -1, 1, 3, {}, request).log_rules(1)

    with pytest.raises(Violation, match=r"101 leads uncleanly, and \[102\] have all records"):
        leads(eligible())

    leads(eligible(), 102)
    leads(eligible(), request=replace(ELECT, election_type=1))
    allowed = eligible()
    allowed.configs[2, "here"] = {"unclean.leader.election.enable": "true"}
    leads(allowed)


@pytest.mark.parametrize("allows_unclean", [True, False])
def test_a_cancelled_move_leaves_no_partition_without_a_leader_that_may_have_one(allows_unclean: bool) -> None:
    found = image(partition(leader=-1, isr=(102,), adding=(103,)))
    found.brokers[102].fenced = True
    found.configs[2, "here"] = {"unclean.leader.election.enable": str(allows_unclean).lower()}
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    cancelled = topic(name="here", partitions=(topic.ReassignablePartition(partition_index=0, replicas=None),))
    request = AlterPartitionReassignmentsRequest(topics=(cancelled,), timeout_ms=1)
    record = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, replicas=(101, 102), adding_replicas=())

    def cancel(asked: Any) -> str:
        change = Change(found, found, record, (), -1, 1, 3, {}, asked)
        return change._elects(found.partitions[TOPIC, 0], change._after_record(found.partitions[TOPIC, 0]))

    assert cancel(request) == ("no replica leads, but [101] could" if allows_unclean else "")
    moved = topic.ReassignablePartition(partition_index=0, replicas=(101, 102))
    assert cancel(replace(request, topics=(replace(cancelled, partitions=(moved,)),))) == ""


@pytest.mark.parametrize("heard_ms", [50, 51])
def test_a_registration_is_refused_as_a_duplicate_as_long_as_the_session_of_the_other_lasts(heard_ms: int) -> None:
    mirror = Mirror(1, 1, image(partition()), {}, ("cluster", (1,), 0))
    mirror.image.brokers[102].fenced = True
    mirror.begin_sessions(40)
    beat = replace(BEAT, broker_epoch=mirror.image.brokers[101].epoch)
    mirror.on_heartbeat(beat, [], heard_ms, is_done=True)
    request = BrokerRegistrationRequest(
        broker_id=101, cluster_id="cluster", incarnation_id=b"j" * 16, listeners=(), rack=None, log_dirs=(),
        features=(BrokerRegistrationRequest.Feature(
            name="metadata.version", min_supported_version=7, max_supported_version=30
        ),),
    )  # fmt: skip
    answer = BrokerRegistrationResponse(throttle_time_ms=0, error_code=0, broker_epoch=90)
    refusal = replace(answer, error_code=Error.DUPLICATE_BROKER_REGISTRATION)
    record = RegisterBrokerRecord(
        broker_id=101, incarnation_id=b"j" * 16, broker_epoch=90, end_points=(), features=(), rack=None, fenced=True,
    )  # fmt: skip
    assert mirror.brokers_since(40) == {101, 103}

    taken, refused = case(request, [record], mirror.image), case(request, [], mirror.image)
    taken.heard = refused.heard = mirror.brokers_since(51)

    if heard_ms == 51:
        nodes.check_registration(refused)(refusal)
        with pytest.raises(Violation, match="the acceptance of the registration"):
            nodes.check_registration(taken)
    else:
        with pytest.raises(Violation, match="DUPLICATE_BROKER_REGISTRATION"):
            nodes.check_registration(refused)(refusal)


def test_a_replica_that_is_reported_in_a_directory_that_is_offline_leaves_the_isr_also_if_it_was_there() -> None:
    gone, online = b"g" * 16, b"o" * 16
    found = image(partition(directories=(online, gone, online)))
    found.features["metadata.version"] = 20
    found.brokers[102].directories = (online,)
    data = AssignReplicasToDirsRequest.DirectoryData
    topic = data.TopicData(topic_id=TOPIC, partitions=(data.TopicData.PartitionData(partition_index=0),))
    request = AssignReplicasToDirsRequest(
        broker_id=102, broker_epoch=found.brokers[102].epoch, directories=(data(id=gone, topics=(topic,)),)
    )
    shrinks = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(101,))

    partitions.check_assignment(case(request, [shrinks], found))

    with pytest.raises(Violation, match="the directory of 102 is offline"):
        partitions.check_assignment(case(request, [], found))


def test_a_broker_whose_registration_has_changed_has_read_nothing_until_its_next_heartbeat() -> None:
    found = image(partition())
    departures = Departures()
    departures.on_heartbeat(found, replace(BEAT, want_shut_down=True), 70, is_done=True)
    for each in (102, 103):
        departures.on_heartbeat(found, replace(BEAT, broker_id=each, broker_epoch=each), 70, is_done=True)
        departures.read[each, each] = 70
    assert departures.have_read(found, 101)

    departures.on_written([BrokerRegistrationChangeRecord(broker_id=102, broker_epoch=102, cordoned_log_dirs=())])

    assert not departures.have_read(found, 101)


def test_a_leaving_broker_that_nothing_holds_is_let_go() -> None:
    found = case(replace(BEAT, want_shut_down=True), [])
    found.image.partitions[TOPIC, 0] = partition(leader=102, isr=(102, 103))
    found.departures.since[101] = 70
    found.departures.read = {(102, 102): 70, (103, 103): 70}

    assert nodes.next_states(found, found.image.brokers[101]) == {nodes.GONE}
