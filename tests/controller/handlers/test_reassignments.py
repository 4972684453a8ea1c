"""AlterPartitionReassignments and ListPartitionReassignments: ReplicationControlManagerTest's cases."""

import pytest

from records.errors import Error
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from records.metadata.topics import PartitionChangeRecord
from tests.controller.rig import Rig, directory, set_config

Topic = AlterPartitionReassignmentsRequest.ReassignableTopic
Ongoing = ListPartitionReassignmentsResponse.OngoingTopicReassignment


def reassign(rig, *targets, **fields):
    """Ask for (topic, partition, replicas or None); returns (error, text) for each, in the order of the answer."""
    version = 1 if fields else 0
    topics = tuple(
        Topic(name=name, partitions=(Topic.ReassignablePartition(partition_index=index, replicas=replicas),))
        for name, index, replicas in targets
    )
    response = rig.ask(AlterPartitionReassignmentsRequest(topics=topics, **fields), version)
    assert (response.error_code, response.error_message) == (0, None if topics else "")
    return [(p.error_code, p.error_message) for topic in response.responses for p in topic.partitions]


def ongoing(rig, *named):
    topics = None
    if named:
        cls = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
        topics = tuple(cls(name=name, partition_indexes=indexes) for name, indexes in named)
    response = rig.ask(ListPartitionReassignmentsRequest(topics=topics))
    assert (response.error_code, response.error_message) == (0, None)
    return {
        (topic.name, p.partition_index): (p.replicas, p.adding_replicas, p.removing_replicas)
        for topic in response.topics
        for p in topic.partitions
    }


def cluster():
    rig = Rig().lead().brokers(0, 1, 2, 3)
    rig.create("foo", (1, 2, 3), (3, 2, 1))
    rig.create("bar", (1, 2, 3))
    return rig


OK = (0, None)


def test_a_reassignment_starts_completes_and_is_cancelled_as_in_kafka():
    rig = cluster()
    assert ongoing(rig) == {}

    results = reassign(rig, ("foo", 0, (3, 2, 1)), ("foo", 1, (0, 2, 1)), ("foo", 2, (0, 2, 1)), ("bar", 0, (1, 2, 0)))

    assert results == [
        OK,
        OK,
        (Error.UNKNOWN_TOPIC_OR_PARTITION, "Unable to find partition foo:2."),
        OK,
    ]
    # A mere change of the order is done at once.
    assert (rig.partition("foo").replicas, rig.partition("foo").leader_epoch) == ((3, 2, 1), 0)
    assert rig.partition("foo", 1)[:4] == ((0, 2, 1, 3), (3, 2, 1), 3, 0)
    assert ongoing(rig) == {
        ("foo", 1): ((0, 2, 1, 3), (0,), (3,)),
        ("bar", 0): ((1, 2, 0, 3), (0,), (3,)),
    }
    assert ongoing(rig, ("bar", (0, 1, 2))) == {("bar", 0): ((1, 2, 0, 3), (0,), (3,))}
    assert ongoing(rig, ("foo", (0, 7)), ("nope", (0,))) == {}

    before = rig.end_offset
    assert reassign(rig, ("foo", 0, None), ("foo", 1, None), ("bar", 7, None)) == [
        (Error.NO_REASSIGNMENT_IN_PROGRESS, None),
        OK,
        (Error.UNKNOWN_TOPIC_OR_PARTITION, "Unable to find partition bar:7."),
    ]
    assert rig.records(before) == [
        (
            PartitionChangeRecord(
                partition_id=1,
                topic_id=rig.state.topic_ids["foo"],
                leader=3,
                replicas=(2, 1, 3),
                removing_replicas=(),
                adding_replicas=(),
                directories=(directory(2), directory(1), directory(3)),
            ),
            2,
        )
    ]

    assert rig.alter("bar", (1, 2, 3, 0)).error_code == 0
    assert rig.partition("bar").replicas == (1, 2, 0)
    assert ongoing(rig) == {}


def test_a_leader_outside_the_target_loses_leadership_when_the_reassignment_ends():
    rig = cluster()
    reassign(rig, ("foo", 1, (0, 2, 1)))

    result = rig.alter("foo", (3, 0, 2, 1), partition_id=1)

    assert result.error_code == Error.NEW_LEADER_ELECTED
    assert rig.partition("foo", 1)[:4] == ((0, 2, 1), (0, 2, 1), 0, 1)


def test_a_removal_without_additions_completes_at_once():
    rig = Rig().lead().brokers(1, 2, 3, 4)
    rig.create("foo", (1, 2, 3, 4))
    rig.fence(3)

    assert reassign(rig, ("foo", 0, (1, 2, 4))) == [OK]

    assert rig.partition("foo")[:5] == ((1, 2, 4), (1, 2, 4), 1, 1, 2)


def test_a_lower_replication_factor_waits_for_all_remaining_replicas():
    rig = Rig().lead().brokers(0, 1, 2, 3, 4, 5)
    rig.create("foo", (0, 1, 2, 3, 4))
    rig.fence(2, 3, 4)

    reassign(rig, ("foo", 0, (2, 3, 4, 5)))
    rig.alter("foo", (0, 1, 5))

    assert ongoing(rig) == {("foo", 0): ((2, 3, 4, 5, 0, 1), (5,), (0, 1))}


def test_added_replicas_complete_a_reassignment_though_others_are_out_of_sync():
    rig = Rig().lead().brokers(0, 1, 2, 3, 4)
    rig.create("bar", (4, 3, 2))
    rig.fence(3)

    assert reassign(rig, ("bar", 0, (1, 2, 3, 4, 0))) == [OK]
    assert rig.partition("bar")[:5] == ((1, 2, 3, 4, 0), (4, 2), 4, 0, 2)
    assert ongoing(rig) == {("bar", 0): ((1, 2, 3, 4, 0), (0, 1), ())}

    result = rig.alter("bar", (4, 1, 2, 0))

    assert (result.error_code, result.isr) == (0, (4, 1, 2, 0))
    assert ongoing(rig) == {}


def test_cancelling_removes_the_added_replicas():
    rig = Rig().lead().brokers(0, 1, 2, 3, 4)
    rig.create("bar", (4, 3, 2))
    rig.fence(3)
    reassign(rig, ("bar", 0, (1, 2, 3, 4, 0)))
    before = rig.end_offset

    assert reassign(rig, ("bar", 0, None)) == [OK]

    record = rig.records(before)[0][0]
    assert (record.replicas, record.leader, record.adding_replicas) == ((2, 3, 4), 4, ())
    assert (record.removing_replicas, record.isr) == (None, None)
    assert rig.partition("bar").isr == (4, 2)


def test_a_new_target_removes_what_the_former_one_was_adding():
    rig = Rig().lead().brokers(0, 1, 2, 3, 4, 5)
    rig.create("foo", (0, 1, 2))
    reassign(rig, ("foo", 0, (0, 1, 3)))
    assert ongoing(rig) == {("foo", 0): ((0, 1, 3, 2), (3,), (2,))}

    reassign(rig, ("foo", 0, (0, 2, 4)))

    assert ongoing(rig) == {("foo", 0): ((0, 2, 4, 1, 3), (4,), (1, 3))}
    # Cancelling removes the adding replicas; it does not restore those listed as removing.
    assert reassign(rig, ("foo", 0, None)) == [OK]
    assert rig.partition("foo").replicas == (0, 2, 1, 3)


def test_a_new_target_without_removals_keeps_those_of_the_former_one_as_in_kafka():
    rig = Rig().lead().brokers(0, 1, 2, 3, 4)
    rig.create("foo", (0, 1, 2))
    reassign(rig, ("foo", 0, (0, 1, 3)))

    reassign(rig, ("foo", 0, (0, 1, 2, 3, 4)))

    assert ongoing(rig) == {("foo", 0): ((0, 1, 2, 3, 4), (4,), (2,))}


def moving_topics(**unclean: str | None) -> Rig:
    """Topics that move from 0, 1 to 2, 3, with replica 2 alone in sync; unclean: the config of each, None for none."""
    rig = Rig().lead().brokers(0, 1, 2, 3)
    for topic, value in unclean.items():
        rig.create(topic, (0, 1), **({} if value is None else {"unclean_leader_election_enable": value}))
        reassign(rig, (topic, 0, (2, 3)))
        rig.alter(topic, (0, 1, 2))
    rig.fence(0, 1)
    assert [rig.partition(topic).isr for topic in unclean] == [(2,)] * len(unclean)
    return rig


def test_cancelling_may_need_an_unclean_election():
    rig = moving_topics(foo=None, bar="true")

    foo, bar = reassign(rig, ("foo", 0, None), ("bar", 0, None))

    assert foo == (
        Error.INVALID_REPLICA_ASSIGNMENT,
        "Unable to revert partition assignment for foo:0 because it would require an unclean leader election.",
    )
    assert bar == OK
    partition = rig.partition("bar")
    assert (partition.replicas, partition.isr, partition.leader) == ((0, 1), (0,), -1)


def test_a_refused_cancellation_waits_for_the_commit_of_the_config_that_it_rests_on():
    rig = moving_topics(foo="true")
    rig.auto = False

    set_config(rig, 2, "foo", "unclean.leader.election.enable", "false")
    partition = Topic.ReassignablePartition(partition_index=0, replicas=None)
    sent = rig.send(AlterPartitionReassignmentsRequest(topics=(Topic(name="foo", partitions=(partition,)),)), 0)
    before = dict(rig.replies)
    rig.commit()

    assert sent not in before
    assert rig.replies[sent].responses[0].partitions[0].error_code == Error.INVALID_REPLICA_ASSIGNMENT


def test_cancelling_elects_a_live_replica_uncleanly_where_the_topic_allows_it():
    rig = moving_topics(bar="true")
    rig.unfence(1)
    assert rig.partition("bar").isr == (2,)

    assert reassign(rig, ("bar", 0, None)) == [OK]

    partition = rig.partition("bar")
    assert (partition.replicas, partition.isr, partition.leader) == ((0, 1), (1,), 1)
    assert partition.recovery_state == 1


@pytest.mark.parametrize(
    ("topic", "replicas", "error", "text"),
    [
        ("nope", (1, 2), Error.UNKNOWN_TOPIC_OR_PARTITION, "Unable to find a topic named nope."),
        (
            "foo",
            (),
            Error.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            "foo",
            (1, 9, 2),
            Error.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            "foo",
            (1, 2, 1),
            Error.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
    ],
)
def test_an_invalid_target_is_refused_on_its_own(topic, replicas, error, text):
    rig = cluster()

    assert reassign(rig, (topic, 0, replicas), ("bar", 0, (2, 1, 3))) == [(error, text), OK]


def test_fenced_brokers_may_be_targets():
    rig = cluster().fence(0)

    assert reassign(rig, ("foo", 0, (0, 1, 2))) == [OK]


def test_a_change_of_the_replication_factor_can_be_forbidden():
    rig = cluster()
    held = {"allow_replication_factor_change": False}

    assert reassign(rig, ("foo", 0, (0, 1)), ("foo", 1, (0, 1, 2)), **held) == [
        (Error.INVALID_REPLICATION_FACTOR, "The replication factor is changed from 3 to 2"),
        OK,
    ]
    # While a reassignment runs, that which it leads to counts.
    assert reassign(rig, ("foo", 1, (0, 1, 2, 3)), **held) == [
        (Error.INVALID_REPLICATION_FACTOR, "The replication factor is changed from 3 to 4")
    ]
    assert reassign(rig, ("foo", 1, None), **held) == [OK]


def test_the_whole_is_one_batch():
    rig = cluster()
    before = len(rig.log)

    reassign(rig, ("foo", 0, (0, 1, 2)), ("bar", 0, (0, 1, 2)))

    assert len(rig.log) == before + 1


def test_requests_that_name_no_topic_are_answered_by_a_standby():
    rig = Rig()

    assert reassign(rig) == []
    assert rig.ask(ListPartitionReassignmentsRequest(topics=())).topics == ()


def test_a_standby_lists_what_is_committed_and_alters_nothing():
    rig = cluster()
    reassign(rig, ("foo", 0, (0, 1, 2)))
    rig.follow(leader_id=7)

    listed = ongoing(rig)
    response = rig.ask(
        AlterPartitionReassignmentsRequest(
            topics=(Topic(name="foo", partitions=(Topic.ReassignablePartition(partition_index=0, replicas=None),)),)
        )
    )

    assert listed == {("foo", 0): ((0, 1, 2, 3), (0,), (3,))}
    assert (response.error_code, response.error_message) == (
        Error.NOT_CONTROLLER,
        "The active controller appears to be node 7.",
    )
