"""AssignReplicasToDirs: the cases of Kafka's testHandleAssignReplicasToDirs and …FailsOnOlderMv."""

import pytest

from records.errors import Error
from records.messages.partitions import AssignReplicasToDirsRequest
from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from tests.controller.handlers.test_reassignments import reassign
from tests.controller.rig import Rig, directory, set_config

DirectoryData = AssignReplicasToDirsRequest.DirectoryData
NO_TOPIC = bytes([9]) * 16


def assignment(rig, broker_id, directories, **fields):
    """A request: directory id -> (topic name or id, partition id) each."""
    cls = DirectoryData.TopicData
    data = []
    for directory_id, partitions in directories.items():
        topics = []
        for topic, partition_id in partitions:
            topic_id = topic if isinstance(topic, bytes) else rig.state.topic_ids[topic]
            topics.append(cls(topic_id=topic_id, partitions=(cls.PartitionData(partition_index=partition_id),)))
        data.append(DirectoryData(id=directory_id, topics=tuple(topics)))
    given = {"broker_epoch": rig.state.brokers[broker_id].epoch, **fields}
    return AssignReplicasToDirsRequest(broker_id=broker_id, directories=tuple(data), **given)


def codes(response):
    """(directory, topic id, partition, error) of each replica."""
    return [
        (d.id, t.topic_id, p.partition_index, p.error_code)
        for d in response.directories
        for t in d.topics
        for p in t.partitions
    ]


def two_directories(broker_id):
    return (directory(broker_id), directory(broker_id, 1))


def cluster():
    rig = Rig().lead()
    rig.brokers(1, log_dirs=two_directories(1))
    rig.brokers(2, log_dirs=two_directories(2))
    rig.brokers(3)
    rig.create("foo", (1, 2), (2, 1), (2, 3))
    return rig


def test_each_replica_is_assigned_or_refused_on_its_own():
    rig = cluster()
    foo = rig.state.topic_ids["foo"]
    assert rig.partition("foo").directories == (UNASSIGNED_DIRECTORY, UNASSIGNED_DIRECTORY)
    request = assignment(
        rig,
        1,
        {
            directory(1): [("foo", 0), ("foo", 2), (NO_TOPIC, 0)],
            directory(1, 1): [("foo", 1), ("foo", 7)],
        },
    )

    response = rig.ask(request)

    assert response.error_code == 0
    assert codes(response) == [
        (directory(1), foo, 0, 0),
        (directory(1), foo, 2, Error.NOT_LEADER_OR_FOLLOWER),
        (directory(1), NO_TOPIC, 0, Error.UNKNOWN_TOPIC_ID),
        (directory(1, 1), foo, 1, 0),
        (directory(1, 1), foo, 7, Error.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert rig.partition("foo").directories == (directory(1), UNASSIGNED_DIRECTORY)
    assert rig.partition("foo", 1).directories == (UNASSIGNED_DIRECTORY, directory(1, 1))


def test_a_replica_that_is_not_in_sync_is_assigned_too():
    rig = cluster()
    rig.alter("foo", (1,))

    response = rig.ask(assignment(rig, 2, {directory(2, 1): [("foo", 0)]}))

    assert [code for *_, code in codes(response)] == [0]
    assert rig.partition("foo").directories == (UNASSIGNED_DIRECTORY, directory(2, 1))


def test_only_the_partition_epoch_rises():
    rig = cluster()

    rig.ask(assignment(rig, 1, {directory(1): [("foo", 0)]}))

    assert (rig.partition("foo").partition_epoch, rig.partition("foo").leader_epoch) == (1, 0)


def test_an_unchanged_assignment_writes_no_record():
    rig = cluster()
    rig.ask(assignment(rig, 1, {directory(1): [("foo", 0)]}))
    before = rig.end_offset

    response = rig.ask(assignment(rig, 1, {directory(1): [("foo", 0)]}))

    assert (codes(response)[0][3], rig.end_offset) == (0, before)


@pytest.mark.parametrize("gone", [LOST_DIRECTORY, directory(7)])
def test_a_replica_in_a_directory_that_is_not_online_leaves_the_isr_in_the_same_batch(gone):
    rig = cluster()
    before = rig.end_offset

    response = rig.ask(assignment(rig, 1, {gone: [("foo", 0), ("foo", 1)]}))

    assert [error for *_, error in codes(response)] == [0, 0]
    records = [record for record, _ in rig.records(before)]
    assert [(r.partition_id, r.directories is not None) for r in records[:2]] == [(0, True), (1, True)]
    assert [(r.partition_id, r.directories, r.isr) for r in records[2:]] == [(0, None, (2,)), (1, None, (2,))]
    for partition_id in (0, 1):
        partition = rig.partition("foo", partition_id)
        assert (partition.isr, partition.leader, gone in partition.directories) == ((2,), 2, True)


def test_a_replica_whose_directory_is_already_known_leaves_the_isr_when_that_is_not_online_any_more():
    rig = cluster()
    rig.ask(assignment(rig, 1, {directory(1, 1): [("foo", 1)]}))
    rig.register(1, log_dirs=(directory(1),))
    assert rig.partition("foo", 1)[1:3] == ((2, 1), 2)

    rig.ask(assignment(rig, 1, {directory(1, 1): [("foo", 1)]}))

    assert rig.partition("foo", 1)[1:3] == ((2,), 2)


def test_where_an_unfenced_broker_has_lost_the_directory_of_the_last_member_another_replica_may_lead():
    rig = cluster()
    rig.ask(assignment(rig, 1, {directory(1, 1): [("foo", 0)]}))
    rig.fence(2, 1).unfence(2)
    assert rig.partition("foo")[1:3] == ((1,), -1)
    set_config(rig, 2, "foo", "unclean.leader.election.enable", "true")

    rig.heartbeat(1, offline_log_dirs=(directory(1, 1),))

    assert rig.partition("foo")[1:3] == ((2,), 2)


def test_of_a_partition_named_twice_the_last_directory_counts():
    rig = cluster()

    rig.ask(assignment(rig, 1, {directory(1): [("foo", 0)], directory(1, 1): [("foo", 0)]}))

    assert rig.partition("foo").directories == (directory(1, 1), UNASSIGNED_DIRECTORY)


def test_a_replica_offline_at_the_end_of_a_reassignment_does_not_leave_a_leader_outside_the_replicas():
    rig = Rig().lead().brokers(0, 2)
    rig.brokers(1, log_dirs=two_directories(1))
    rig.create("foo", (0, 1, 2), unclean_leader_election_enable="true")
    rig.fence(1)
    reassign(rig, ("foo", 0, (1,)))
    rig.unfence(1)
    rig.fence(0, 2)
    rig.unfence(0, 2)
    assert rig.partition("foo")[:3] == ((1, 0, 2), (1,), 1)
    assert rig.partition("foo").removing == (0, 2)

    rig.ask(assignment(rig, 1, {LOST_DIRECTORY: [("foo", 0)]}))

    partition = rig.partition("foo")
    assert (partition.replicas, partition.isr, partition.leader) == ((1,), (1,), -1)


def test_the_elr_is_kept():
    rig = Rig(elr=True).lead().brokers(0, 2)
    rig.brokers(1, log_dirs=two_directories(1))
    rig.create("foo", (0, 1, 2), min_insync_replicas="3")
    rig.fence(2)

    rig.ask(assignment(rig, 1, {directory(1): [("foo", 0)]}))

    assert (rig.partition("foo").elr, rig.partition("foo").directories[1]) == ((2,), directory(1))


def test_another_epoch_of_the_broker_is_stale():
    rig = cluster()

    assert rig.ask(assignment(rig, 1, {}, broker_epoch=3)).error_code == Error.STALE_BROKER_EPOCH


def test_there_are_no_directories_before_3_7():
    rig = Rig(metadata_version=16).lead().brokers(1)
    rig.create("foo", (1,))

    response = rig.ask(assignment(rig, 1, {directory(1): [("foo", 0)]}))

    assert response.error_code == Error.UNSUPPORTED_VERSION
    assert rig.partition("foo").directories == (MIGRATING_DIRECTORY,)
