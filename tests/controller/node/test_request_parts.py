"""An AlterPartition in parts: what is in each, and the answer to the whole."""

from __future__ import annotations

from random import Random

import pytest

from controller.handlers.isr import refusal
from controller.node.request_parts import Parts
from records.errors import Error
from records.messages.partitions import AlterPartitionRequest, AlterPartitionResponse
from records.schema import default_of, replace

Topic = AlterPartitionRequest.TopicData
TopicResult = AlterPartitionResponse.TopicData


def alteration(*counts: int) -> AlterPartitionRequest:
    """One topic for each count, with so many partitions."""
    return AlterPartitionRequest(
        broker_id=1,
        broker_epoch=2,
        topics=tuple(
            Topic(
                topic_id=bytes([number]) * 16,
                partitions=tuple(replace(default_of(Topic.PartitionData), partition_index=i) for i in range(count)),
            )
            for number, count in enumerate(counts)
        ),
    )


def answer_of(request: AlterPartitionRequest) -> AlterPartitionResponse:
    """An answer in which each partition has an error of its own."""
    return AlterPartitionResponse(
        throttle_time_ms=0,
        error_code=Error.NONE,
        topics=tuple(
            TopicResult(
                topic_id=topic.topic_id,
                partitions=tuple(
                    refusal(each.partition_index, topic.topic_id[0] + each.partition_index) for each in topic.partitions
                ),
            )
            for topic in request.topics
        ),
    )


def whole_error(error: Error) -> AlterPartitionResponse:
    """An answer that refuses the whole."""
    return replace(default_of(AlterPartitionResponse), error_code=error)


def indexes(request: AlterPartitionRequest) -> list[tuple[bytes, int]]:
    return [(topic.topic_id, each.partition_index) for topic in request.topics for each in topic.partitions]


def take_all(parts: Parts) -> list[AlterPartitionRequest]:
    found = []
    while parts.left is not None:
        found.append(parts.take())
    return found


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [
        ((7,), [3, 3, 1]),
        ((2, 2, 2), [3, 3]),
        ((3, 3), [3, 3]),
        ((1, 0, 4), [2, 3]),
        ((0, 0, 0, 2), [0, 2]),
        ((), [0]),
    ],
)
def test_a_part_has_so_many_partitions_at_most_and_the_parts_are_the_request(
    counts: tuple[int, ...], sizes: list[int]
) -> None:
    request = alteration(*counts)

    parts = take_all(Parts(request, 3))

    assert [len(indexes(part)) for part in parts] == sizes
    assert [index for part in parts for index in indexes(part)] == indexes(request)
    assert {(part.broker_id, part.broker_epoch) for part in parts} == {(1, 2)}


def test_the_answer_to_parts_is_that_to_the_request() -> None:
    rng = Random(1)
    for _ in range(300):
        request = alteration(*(rng.randrange(7) for _ in range(rng.randrange(6))))
        parts = Parts(request, rng.randint(1, 5))
        answers = [*enumerate(map(answer_of, take_all(parts)))]
        rng.shuffle(answers)

        done = [parts.answer(number, answer) for number, answer in answers]

        assert done == [False] * (len(answers) - 1) + [True]
        assert parts.join() == answer_of(request)


def test_the_partitions_of_a_part_that_failed_have_its_error() -> None:
    request = alteration(3, 2)
    parts = Parts(request, 2)
    first, _, _ = take_all(parts)
    stale = Error.STALE_BROKER_EPOCH

    for number, answer in enumerate((answer_of(first), whole_error(stale), whole_error(stale))):
        parts.answer(number, answer)
    answer = parts.join()

    assert answer.error_code == Error.NONE
    assert [topic.partitions for topic in answer.topics] == [
        (*answer_of(first).topics[0].partitions, refusal(2, stale)), (refusal(0, stale), refusal(1, stale)),
    ]  # fmt: skip
    assert [topic.topic_id for topic in answer.topics] == [topic.topic_id for topic in request.topics]


@pytest.mark.parametrize("taken", [1, 2])
def test_after_a_part_that_fails_no_other_is_taken(taken: int) -> None:
    parts = Parts(alteration(5), 2)
    whole = whole_error(Error.STALE_BROKER_EPOCH)
    for _ in range(taken):
        parts.take()

    done = [parts.answer(number, whole) for number in range(taken)]

    assert done == [False] * (taken - 1) + [True]
    assert parts.left is None
    assert parts.join() == whole


def test_partitions_that_were_not_taken_have_the_error_of_the_part_that_failed() -> None:
    request = alteration(3, 2)
    parts = Parts(request, 2)
    first = parts.take()
    parts.take()
    parts.answer(0, answer_of(first))

    is_last = parts.answer(1, whole_error(Error.STALE_BROKER_EPOCH))

    assert is_last
    stale = Error.STALE_BROKER_EPOCH
    assert [topic.partitions for topic in parts.join().topics] == [
        (*answer_of(first).topics[0].partitions, refusal(2, stale)), (refusal(0, stale), refusal(1, stale)),
    ]  # fmt: skip


def test_a_long_isr_counts_as_several_partitions() -> None:
    member = Topic.PartitionData.BrokerState(broker_id=1)
    partition = default_of(Topic.PartitionData)
    long = replace(partition, new_isr_with_epochs=(member,) * 16)
    older = replace(partition, new_isr=tuple(range(24)))
    request = replace(alteration(), topics=(Topic(topic_id=bytes(16), partitions=(long, partition, older, partition)),))

    assert [len(indexes(part)) for part in take_all(Parts(request, 4))] == [2, 1, 1]


def test_where_leadership_was_lost_the_whole_request_has_that_answer() -> None:
    parts = Parts(alteration(4), 2)
    first, _ = take_all(parts)
    lost = whole_error(Error.NOT_CONTROLLER)
    parts.answer(0, answer_of(first))

    parts.answer(1, lost)

    assert parts.join() == lost
