"""An answer that writes nothing, a refusal as well, waits until what it shows is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from records.errors import Error
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.partitions import AlterPartitionRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.reassignments import ElectLeadersRequest, ListPartitionReassignmentsRequest
from records.messages.topics import CreatePartitionsRequest, DeleteTopicsRequest
from records.uuids import ZERO_UUID
from tests.controller.rig import Rig

if TYPE_CHECKING:
    from collections.abc import Callable

TopicData = AlterPartitionRequest.TopicData


def alter(rig: Rig, isr: tuple[int, ...], partition_epoch: int) -> AlterPartitionRequest:
    """A change of the ISR of foo-0 by its leader, which is broker 0."""
    members = tuple(TopicData.PartitionData.BrokerState(broker_id=each, broker_epoch=-1) for each in isr)
    topic = rig.state.topic("foo")
    assert topic is not None
    asked = TopicData.PartitionData(
        partition_index=0, leader_epoch=0, new_isr_with_epochs=members, leader_recovery_state=0,
        partition_epoch=partition_epoch,
    )  # fmt: skip
    topics = (TopicData(topic_id=topic.topic_id, partitions=(asked,)),)
    return AlterPartitionRequest(broker_id=0, broker_epoch=rig.state.brokers[0].epoch, topics=topics)


def refused_isr(rig: Rig) -> tuple[int, Callable[[Any], int]]:
    rig.send(alter(rig, (0, 2), 0))
    number = rig.send(alter(rig, (0, 1), 0))
    return number, lambda answer: answer.topics[0].partitions[0].error_code


def isr_of_a_deleted_topic(rig: Rig) -> tuple[int, Callable[[Any], int]]:
    asked = alter(rig, (0, 1), 0)
    topic = DeleteTopicsRequest.DeleteTopicState(name="foo", topic_id=ZERO_UUID)
    rig.send(DeleteTopicsRequest(topics=(topic,), timeout_ms=1000))
    return rig.send(asked), lambda answer: answer.topics[0].partitions[0].error_code


def reassignments_of_a_deleted_topic(rig: Rig) -> tuple[int, Callable[[Any], int]]:
    topic = DeleteTopicsRequest.DeleteTopicState(name="foo", topic_id=ZERO_UUID)
    rig.send(DeleteTopicsRequest(topics=(topic,), timeout_ms=1000))
    number = rig.send(ListPartitionReassignmentsRequest(timeout_ms=1000, topics=None))
    return number, lambda answer: answer.error_code


def grown_twice(rig: Rig) -> tuple[int, Callable[[Any], int]]:
    topic = CreatePartitionsRequest.CreatePartitionsTopic(name="foo", count=2, assignments=None)
    request = CreatePartitionsRequest(topics=(topic,), timeout_ms=1000, validate_only=False)
    rig.send(request)
    return rig.send(request), lambda answer: answer.results[0].error_code


def fenced_twice(rig: Rig) -> tuple[int, Callable[[Any], int]]:
    rig.heartbeat_unanswered(1, want_fence=True)
    return rig.heartbeat_unanswered(1, want_fence=True), lambda answer: answer.error_code


def election_without_the_only_candidate(rig: Rig) -> tuple[int, Callable[[Any], int]]:
    """The candidate, which is in no ISR, is fenced: that changes no partition."""
    rig.auto = True
    rig.create("bar", (1, 2))
    rig.fence(1, 2).unfence(1)
    rig.auto = False
    rig.heartbeat_unanswered(1, want_fence=True)
    named = ElectLeadersRequest.TopicPartitions(topic="bar", partitions=(0,))
    number = rig.send(ElectLeadersRequest(election_type=1, topic_partitions=(named,)))
    return number, lambda answer: answer.replica_election_results[0].partition_result[0].error_code


def stale_sender(rig: Rig) -> tuple[int, Callable[[Any], int]]:
    epoch = rig.state.brokers[1].epoch
    rig.send(UnregisterBrokerRequest(broker_id=1))
    number = rig.send(AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch))
    return number, lambda answer: answer.error_code


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (refused_isr, Error.INVALID_UPDATE_VERSION),
        (isr_of_a_deleted_topic, Error.UNKNOWN_TOPIC_ID),
        (reassignments_of_a_deleted_topic, Error.NONE),
        (grown_twice, Error.INVALID_PARTITIONS),
        (fenced_twice, Error.NONE),
        (election_without_the_only_candidate, Error.ELIGIBLE_LEADERS_NOT_AVAILABLE),
        (stale_sender, Error.STALE_BROKER_EPOCH),
    ],
)
def test_an_answer_waits_for_the_commit_of_what_it_rests_on(
    ask: Callable[[Rig], tuple[int, Callable[[Any], int]]], code: int
) -> None:
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2))
    rig.auto = False

    number, code_of = ask(rig)
    early = number in rig.replies
    rig.commit()

    assert (early, code_of(rig.replies[number])) == (False, code)


def test_a_heartbeat_that_asks_for_a_shutdown_renews_the_session() -> None:
    rig = Rig(broker_session_timeout_ms=1000).lead().brokers(0, 1)
    rig.create("foo", (1, 0))
    rig.tick(900)
    rig.heartbeat(1, want_shut_down=True)

    rig.tick(900)

    assert (rig.state.brokers[1].fenced, rig.state.brokers[0].fenced) == (False, True)
