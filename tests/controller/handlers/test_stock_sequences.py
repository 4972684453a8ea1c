"""Sequences in which ours once differed from stock 4.3.1, each with what stock answers or writes."""

from __future__ import annotations

import pytest

from controller.state.partitions.partition import NO_LEADER
from records.errors import Error
from records.features.levels import KAFKA_4_3
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.schema import replace
from tests.controller.rig import Rig, directory, new_topic, registration

Reassignable = AlterPartitionReassignmentsRequest.ReassignableTopic
Growing = CreatePartitionsRequest.CreatePartitionsTopic
Assignment = Growing.CreatePartitionsAssignment


def reassign(rig: Rig, name: str, *targets: tuple[int, ...] | None):
    """Reassign the first partitions of a topic; returns the errors."""
    partitions = tuple(
        Reassignable.ReassignablePartition(partition_index=index, replicas=replicas)
        for index, replicas in enumerate(targets)
    )
    response = rig.ask(AlterPartitionReassignmentsRequest(topics=(Reassignable(name=name, partitions=partitions),)))
    return [(each.error_code, each.error_message) for each in response.responses[0].partitions]


def grow(rig: Rig, name: str, count: int, *assignments: tuple[int, ...], timeout_ms: int = 1000):
    given = tuple(Assignment(broker_ids=replicas) for replicas in assignments) or None
    topic = Growing(name=name, count=count, assignments=given)
    (result,) = rig.ask(CreatePartitionsRequest(topics=(topic,), timeout_ms=timeout_ms, validate_only=False)).results
    return result.error_code, result.error_message


def test_a_manual_assignment_may_name_a_broker_whose_directories_are_all_cordoned():
    """Until 4.4 refused it (KAFKA-20832)."""
    rig = Rig(metadata_version=30, release=KAFKA_4_3).lead().brokers(0, 1, 2, 3)
    rig.heartbeat(0, cordoned_log_dirs=(directory(0),))
    rig.create("x", (1, 2))

    rig.create("y", (0, 1))

    assert grow(rig, "x", 2, (0, 1)) == (Error.NONE, None)
    assert reassign(rig, "x", (0, 1)) == [(Error.NONE, None)]


def test_a_manual_assignment_of_4_4_does_not_name_a_broker_whose_directories_are_all_cordoned():
    rig = Rig().lead().brokers(0, 1, 2, 3)
    rig.heartbeat(0, cordoned_log_dirs=(directory(0),))
    rig.create("x", (1, 2))
    text = "The manual partition assignment includes broker 0, but all its log directories are cordoned."
    refused = Error.INVALID_REPLICA_ASSIGNMENT, text

    (created,) = rig.ask(CreateTopicsRequest(topics=(new_topic("y", (0, 1)),))).topics
    assert (created.error_code, created.error_message) == refused
    assert grow(rig, "x", 2, (0, 1)) == refused
    # Of two mistakes the first, by ascending id of a broker, and a cordoned one before one that is named twice.
    assert grow(rig, "x", 2, (0, 0)) == refused
    assert reassign(rig, "x", (0, 1)) == [refused]
    rig.heartbeat(0, cordoned_log_dirs=())
    assert grow(rig, "x", 2, (0, 1)) == (Error.NONE, None)


@pytest.mark.parametrize(("count", "factor"), [(1, 3), (2, 3), (3, 2), (4, 2), (5, 3), (10, 3), (16, 2)])
def test_new_partitions_take_the_replication_factor_of_the_first_in_kafkas_table(count: int, factor: int):
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("x", *[(0, 1)] * count)
    assert reassign(rig, "x", (0, 1, 2)) == [(Error.NONE, None)]

    error, text = grow(rig, "x", count + 1, (0, 1))

    inconsistent = (
        "The manual partition assignment includes a partition with 2 replica(s), but this is not consistent with "
        "previous partitions, which have 3 replica(s)."
    )
    assert (error, text) == ((Error.NONE, None) if factor == 2 else (Error.INVALID_REPLICA_ASSIGNMENT, inconsistent))


def test_unclean_election_is_enabled_by_the_word_true_alone():
    rig = Rig().lead().brokers(0, 1)
    rig.create("x", (0, 1), unclean_leader_election_enable=" true")

    rig.fence(1).unfence(1).fence(0)

    assert rig.partition("x").leader == NO_LEADER
    assert rig.partition("x").isr == (0,)


def test_a_changed_registration_makes_a_metadata_offset_unknown_until_the_next_heartbeat():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("x", (0, 1))
    rig.fence(2)
    assert not rig.heartbeat(0, want_shut_down=True).should_shut_down
    rig.heartbeat(1)
    rig.heartbeat(2)

    assert not rig.heartbeat(0, want_shut_down=True).should_shut_down

    rig.heartbeat(2)
    assert rig.heartbeat(0, want_shut_down=True).should_shut_down


def test_the_first_10_000_reassignments_of_a_request_are_done_and_the_others_refused():
    rig = Rig().lead().brokers(0, 1)
    rig.create("x", *[(0,)] * 9_000)
    assert grow(rig, "x", 10_002, *[(0,)] * 1_002) == (Error.NONE, None)

    answers = reassign(rig, "x", *[(1,)] * 10_002)

    assert answers == [(Error.NONE, None)] * 10_000 + [(Error.UNKNOWN_SERVER_ERROR, None)] * 2
    assert rig.partition("x", 9_999).adding == (1,)
    assert rig.partition("x", 10_000).adding == ()


def test_a_timeout_of_0_has_passed_when_the_request_comes():
    rig = Rig().lead().brokers(0)
    rig.create("x", (0,))

    created = rig.ask(CreateTopicsRequest(topics=(new_topic("y", (0,)),), timeout_ms=0)).topics[0]
    deleted = rig.ask(DeleteTopicsRequest(topics=(DeleteTopicsRequest.DeleteTopicState(name="x"),), timeout_ms=0))
    elected = rig.ask(ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=0))

    assert created.error_code == Error.REQUEST_TIMED_OUT
    assert deleted.responses[0].error_code == Error.REQUEST_TIMED_OUT
    assert grow(rig, "x", 2, (0,), timeout_ms=0)[0] == Error.REQUEST_TIMED_OUT
    assert elected.error_code == Error.REQUEST_TIMED_OUT
    assert sorted(rig.state.topic_ids) == ["x"]


def test_a_topic_that_is_named_by_its_name_and_twice_by_its_id_is_not_deleted():
    rig = Rig().lead().brokers(0)
    topic_id = rig.create("x", (0,))
    state = DeleteTopicsRequest.DeleteTopicState
    by_id = state(name=None, topic_id=topic_id)

    response = rig.ask(DeleteTopicsRequest(topics=(by_id, by_id, state(name="x")), timeout_ms=1000))

    assert sorted((each.error_code, each.error_message) for each in response.responses) == [
        (Error.INVALID_REQUEST, "Duplicate topic id."),
        (Error.INVALID_REQUEST, "The provided topic name maps to an ID that was already supplied."),
    ]
    assert sorted(rig.state.topic_ids) == ["x"]


def test_some_successes_have_an_empty_message_in_place_of_none():
    rig = Rig().lead().brokers(0)

    unregistered = rig.ask(UnregisterBrokerRequest(broker_id=0))
    empty = rig.ask(AlterPartitionReassignmentsRequest(topics=()))

    assert (unregistered.error_code, unregistered.error_message) == (Error.NONE, "")
    assert (empty.error_code, empty.error_message) == (Error.NONE, "")


def test_a_topic_that_is_listed_twice_has_an_entry_each():
    rig = Rig().lead().brokers(0, 1)
    rig.create("x", (0,))
    reassign(rig, "x", (1,))
    named = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics(name="x", partition_indexes=(0,))

    response = rig.ask(ListPartitionReassignmentsRequest(topics=(named, named)))

    assert [topic.name for topic in response.topics] == ["x", "x"]


def test_of_two_bad_features_the_first_in_kafkas_map_is_named():
    rig = Rig().lead()
    update = UpdateFeaturesRequest.FeatureUpdateKey
    updates = tuple(update(feature=name, max_version_level=99, upgrade_type=1) for name in ("bad", "aa"))

    response = rig.ask(UpdateFeaturesRequest(feature_updates=updates))

    assert "feature aa" in response.error_message


@pytest.mark.parametrize(("previous_epoch", "is_clean"), [(-2, True), (-1, False)])
def test_an_unregistered_broker_that_names_the_epoch_minus_2_keeps_its_place_in_an_elr(previous_epoch, is_clean):
    rig = Rig(elr=True).lead().brokers(0, 1)
    rig.create("x", (0, 1), min_insync_replicas="2")
    rig.fence(1)
    assert rig.partition("x").elr == (1,)
    rig.ask(replace(registration(0), broker_id=0))  # nothing changes: the incarnation is the same
    rig.state.brokers.remove(1)
    rig.state.registration_offsets.remove(1)
    rig.state.directory_owners.remove(directory(1))

    rig.register(1, incarnation=2, previous_broker_epoch=previous_epoch)

    assert rig.partition("x").elr == ((1,) if is_clean else ())


def test_a_broker_that_left_by_a_controlled_shutdown_is_usable_for_placement():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("x", (0, 1))
    rig.heartbeat(0, want_shut_down=True)
    rig.heartbeat(1)
    rig.heartbeat(2)
    assert rig.heartbeat(0, want_shut_down=True).should_shut_down
    spread = replace(new_topic("y"), num_partitions=1, replication_factor=3)

    (fenced,) = rig.ask(CreateTopicsRequest(topics=(spread,), timeout_ms=1000)).topics

    assert fenced.error_code == Error.NONE
    assert sorted(rig.partition("y").replicas) == [0, 1, 2]
    assert 0 not in rig.partition("y").isr


def test_a_broker_that_is_unfenced_after_a_controlled_shutdown_is_in_no_isr():
    rig = Rig().lead().brokers(0, 1)
    rig.create("x", (0, 1))
    rig.heartbeat(0, want_shut_down=True)
    rig.heartbeat(1)
    assert rig.heartbeat(0, want_shut_down=True).should_shut_down
    rig.heartbeat(0)
    rig.fence(1)
    alone = replace(new_topic("y"), num_partitions=1, replication_factor=1)

    (refused,) = rig.ask(CreateTopicsRequest(topics=(alone,), timeout_ms=1000)).topics

    text = "Unable to replicate the partition 1 time(s): All brokers are currently fenced or in controlled shutdown."
    assert (refused.error_code, refused.error_message) == (Error.INVALID_REPLICATION_FACTOR, text)
    assert grow(rig, "x", 3) == (Error.INVALID_REPLICATION_FACTOR, text.replace("partition 1", "partition 2"))
