"""AlterPartition: each error, the effect of a change, the ELR, and the completion of reassignments."""

import pytest

from records.errors import Error
from records.messages.partitions import AlterPartitionRequest
from records.metadata.topics import PartitionChangeRecord
from tests.controller.handlers.test_reassignments import reassign
from tests.controller.rig import Rig

TopicData = AlterPartitionRequest.TopicData


def cluster(**fields):
    rig = Rig(**fields).lead().brokers(0, 1, 2, 3)
    rig.create("foo", (0, 1, 2), **({"min_insync_replicas": "2"} if fields.get("elr") else {}))
    return rig


def answered(result):
    return (
        result.error_code,
        result.leader_id,
        result.leader_epoch,
        result.isr,
        result.partition_epoch,
        result.leader_recovery_state,
    )


@pytest.mark.parametrize("version", [2, 3])
def test_the_leader_shrinks_and_expands_the_isr(version):
    rig = cluster()

    shrunk = rig.alter("foo", (0, 2), version=version)
    grown = rig.alter("foo", (0, 2, 1), version=version)

    assert answered(shrunk) == (0, 0, 0, (0, 2), 1, 0)
    assert answered(grown) == (0, 0, 0, (0, 2, 1), 2, 0)
    assert rig.partition("foo").isr == (0, 2, 1)


def test_before_3_6_a_smaller_isr_raises_the_epoch_of_the_same_leader():
    rig = cluster(metadata_version=11)

    shrunk = rig.alter("foo", (0, 2))

    assert answered(shrunk) == (0, 0, 1, (0, 2), 1, 0)


def test_an_unchanged_isr_writes_no_record():
    rig = cluster()
    before = rig.end_offset

    result = rig.alter("foo", (0, 1, 2))

    assert (answered(result), rig.end_offset) == ((0, 0, 0, (0, 1, 2), 0, 0), before)


@pytest.mark.parametrize(
    ("isr", "fields", "error"),
    [
        ((0, 1), {"partition_index": 9}, Error.UNKNOWN_TOPIC_OR_PARTITION),
        ((0, 1), {"leader_epoch": 1, "leader": 1}, Error.NOT_CONTROLLER),
        ((0, 1), {"partition_epoch": 1, "leader": 1}, Error.NOT_CONTROLLER),
        ((0, 1), {"leader_epoch": -1, "leader": 1}, Error.FENCED_LEADER_EPOCH),
        ((0, 1), {"leader": 1, "partition_epoch": -1}, Error.INVALID_REQUEST),
        ((0, 5), {"partition_epoch": -1}, Error.INVALID_UPDATE_VERSION),
        ((0, 3), {}, Error.INVALID_REQUEST),
        ((0, 1, 1), {}, Error.INVALID_REQUEST),
        ((0, 1, 2, 3), {}, Error.INVALID_REQUEST),
        ((0, -1), {}, Error.INVALID_REQUEST),
        ((1, 2), {}, Error.INVALID_REQUEST),
        ((), {}, Error.INVALID_REQUEST),
        ((0, 1), {"leader_recovery_state": 1}, Error.INVALID_REQUEST),
        ((0,), {"leader_recovery_state": 1}, Error.INVALID_REQUEST),
        ((0,), {"leader_recovery_state": 7}, Error.INVALID_REQUEST),
        ((0, 1), {"epochs": {1: 99999}}, Error.INELIGIBLE_REPLICA),
        ((0, 1), {"epochs": {1: 0}}, Error.INELIGIBLE_REPLICA),
    ],
)
def test_an_invalid_partition_is_refused_on_its_own(isr, fields, error):
    rig = cluster()
    before = rig.end_offset

    result = rig.alter("foo", isr, **fields)

    assert (result.error_code, rig.end_offset) == (error, before)


def test_a_member_may_come_with_its_epoch_or_without():
    rig = cluster()
    rig.alter("foo", (0,))

    result = rig.alter("foo", (0, 1, 2), epochs={1: rig.state.brokers[1].epoch})

    assert answered(result) == (0, 0, 0, (0, 1, 2), 2, 0)


@pytest.mark.parametrize("how", [{"want_fence": True}, {"want_shut_down": True}])
@pytest.mark.parametrize("version", [2, 3])
def test_an_inactive_broker_cannot_join_an_isr(how, version):
    rig = cluster()
    rig.create("bar", (1, 0))
    rig.heartbeat(1, **how)
    before = rig.end_offset

    result = rig.alter("foo", (0, 1, 2), version=version)

    assert (result.error_code, rig.end_offset) == (Error.INELIGIBLE_REPLICA, before)


def test_an_unknown_topic_is_answered_for_each_partition_asked():
    rig = cluster()
    partition = {"leader_epoch": 0, "partition_epoch": 0}
    data = TopicData(
        topic_id=bytes([7]) * 16,
        partitions=tuple(TopicData.PartitionData(partition_index=index, **partition) for index in (0, 4)),
    )
    request = AlterPartitionRequest(broker_id=0, broker_epoch=rig.state.brokers[0].epoch, topics=(data,))

    response = rig.ask(request)

    assert [(p.partition_index, p.error_code) for p in response.topics[0].partitions] == [
        (0, Error.UNKNOWN_TOPIC_ID),
        (4, Error.UNKNOWN_TOPIC_ID),
    ]


def test_another_epoch_of_the_leader_is_stale_for_the_whole_request():
    rig = cluster()
    data = TopicData(topic_id=rig.state.topic_ids["foo"], partitions=())

    response = rig.ask(AlterPartitionRequest(broker_id=0, broker_epoch=1, topics=(data,)))

    assert (response.error_code, response.topics) == (Error.STALE_BROKER_EPOCH, ())


def test_an_empty_request_is_answered_by_a_standby_too():
    rig = Rig()

    response = rig.ask(AlterPartitionRequest(broker_id=0, broker_epoch=1, topics=()))

    assert (response.error_code, response.topics) == (Error.NONE, ())


def test_the_leader_ends_its_recovery():
    rig = cluster()
    rig.create("baz", (1, 3), unclean_leader_election_enable="true")
    rig.fence(3, 1)
    rig.unfence(3)
    assert (rig.partition("baz").leader, rig.partition("baz").recovery_state) == (3, 1)

    still = rig.alter("baz", (3,))
    grown = rig.alter("baz", (3, 1))
    done = rig.alter("baz", (3,), leader_recovery_state=0)

    assert answered(still) == (0, 3, still.leader_epoch, (3,), 3, 1)
    assert grown.error_code == Error.INVALID_REQUEST
    assert answered(done) == (0, 3, still.leader_epoch, (3,), 4, 0)


def test_a_replica_that_leaves_an_isr_below_min_isr_is_eligible_until_the_isr_reaches_it():
    rig = cluster(elr=True)

    rig.alter("foo", (0,))
    assert (rig.partition("foo").elr, rig.partition("foo").last_known_elr) == ((1, 2), ())
    rig.alter("foo", (0, 1))
    assert (rig.partition("foo").elr, rig.partition("foo").last_known_elr) == ((), ())


def test_each_fence_of_brokers_finds_the_isr_that_the_one_before_it_left():
    rig = Rig(elr=True).lead().brokers(0, 1, 2, 3)
    rig.create("foo", (0, 1, 2, 3), min_insync_replicas="3")

    rig.fence(2, 3)
    assert rig.partition("foo").elr == (3,)
    rig.fence(1)
    assert rig.partition("foo").elr == (1, 3)
    rig.unfence(1, 2, 3)
    assert (rig.partition("foo").isr, rig.partition("foo").elr) == ((0,), (1, 3))


def test_an_eligible_replica_is_elected_cleanly_when_the_last_leader_goes():
    rig = Rig(elr=True).lead().brokers(0, 1, 2, 3)
    rig.create("foo", (0, 1, 2, 3), min_insync_replicas="3")
    rig.fence(1, 2, 3)
    assert (rig.partition("foo").isr, rig.partition("foo").elr) == ((0,), (2, 3))

    rig.unfence(2)
    rig.fence(0)

    partition = rig.partition("foo")
    assert (partition.leader, partition.isr, partition.elr) == (2, (2,), (0, 3))
    assert (partition.last_known_elr, partition.recovery_state) == ((), 0)


def test_min_isr_is_at_most_what_partition_0_has():
    rig = Rig(elr=True).lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2), min_insync_replicas="5")

    rig.fence(2)

    assert rig.partition("foo").elr == (2,)


def test_the_end_of_a_reassignment_may_elect_another_leader_than_the_requester():
    rig = cluster()
    reassign(rig, ("foo", 0, (3, 1, 2)))
    assert rig.partition("foo").replicas == (3, 1, 2, 0)
    before = rig.end_offset

    result = rig.alter("foo", (0, 1, 2, 3))

    assert (result.error_code, result.leader_id, result.isr) == (Error.NEW_LEADER_ELECTED, 0, ())
    assert [type(record) for record, _ in rig.records(before)] == [PartitionChangeRecord]
    partition = rig.partition("foo")
    assert (partition.replicas, partition.isr, partition.leader) == ((3, 1, 2), (1, 2, 3), 3)
    assert (partition.adding, partition.removing, partition.leader_epoch) == ((), (), 1)


def test_the_second_change_of_a_partition_builds_on_the_first():
    rig = cluster()
    partition = {"partition_index": 0, "leader_epoch": 0, "partition_epoch": 0}
    data = TopicData(
        topic_id=rig.state.topic_ids["foo"],
        partitions=(
            TopicData.PartitionData(new_isr=(0, 1), **partition),
            TopicData.PartitionData(new_isr=(0, 2), **partition),
        ),
    )
    request = AlterPartitionRequest(broker_id=0, broker_epoch=rig.state.brokers[0].epoch, topics=(data,))

    response = rig.ask(request, 2)

    assert [p.error_code for p in response.topics[0].partitions] == [0, Error.INVALID_UPDATE_VERSION]
    assert rig.partition("foo").isr == (0, 1)


def test_each_topic_of_a_request_has_its_own_min_isr():
    rig = Rig(elr=True).lead().brokers(0, 1, 2)
    item = TopicData.PartitionData
    leader = item.BrokerState(broker_id=0, broker_epoch=-1)
    topics = tuple(
        TopicData(
            topic_id=rig.create(name, (0, 1, 2), min_insync_replicas=least),
            partitions=(
                item(
                    partition_index=0,
                    leader_epoch=0,
                    new_isr_with_epochs=(leader,),
                    leader_recovery_state=0,
                    partition_epoch=0,
                ),
            ),
        )
        for name, least in (("foo", "1"), ("bar", "2"))
    )

    rig.ask(AlterPartitionRequest(broker_id=0, broker_epoch=rig.state.brokers[0].epoch, topics=topics))

    assert (rig.partition("foo").elr, rig.partition("bar").elr) == ((), (1, 2))
