"""Requests of brokers in parts: what is in each, and the answer to the whole."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from controller.node.request_parts import PATHS, Parts, refused
from records.errors import Error
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.registry import response_class
from records.schema import default_of, replace, schema_of

Altered, Assigned = AlterPartitionRequest.TopicData, AssignReplicasToDirsRequest.DirectoryData


def alteration(*counts: int) -> AlterPartitionRequest:
    """One topic for each count, with so many partitions."""
    return AlterPartitionRequest(
        broker_id=1,
        broker_epoch=2,
        topics=tuple(
            Altered(topic_id=bytes([number]) * 16, partitions=indexed(Altered.PartitionData, count))
            for number, count in enumerate(counts)
        ),
    )


def assignment(*directories: tuple[int, ...]) -> AssignReplicasToDirsRequest:
    """Directories with topics with so many partitions."""
    topic = Assigned.TopicData
    return AssignReplicasToDirsRequest(
        broker_id=1,
        broker_epoch=2,
        directories=tuple(
            Assigned(
                id=bytes([number]) * 16,
                topics=tuple(
                    topic(topic_id=bytes([each]) * 16, partitions=indexed(topic.PartitionData, count))
                    for each, count in enumerate(counts)
                ),
            )
            for number, counts in enumerate(directories)
        ),
    )


def indexed(cls: type[Any], count: int) -> tuple[Any, ...]:
    return tuple(replace(default_of(cls), partition_index=index) for index in range(count))


def key_of(request: Any) -> int:
    key = schema_of(type(request)).api_key
    assert key is not None
    return key


def leaves(message: Any, path: tuple[str, ...]) -> list[Any]:
    elements = getattr(message, path[0])
    return [leaf for each in elements for leaf in (leaves(each, path[1:]) if path[1:] else [each])]


def answer_of(request: Any, error: int = Error.NONE) -> Any:
    """An answer in which each partition has this error."""
    key = key_of(request)
    return replace(refused(response_class(key), request, PATHS[key], error), throttle_time_ms=0)


def whole_error(request: Any, error: Error) -> Any:
    """An answer that refuses the whole."""
    return replace(default_of(response_class(key_of(request))), error_code=error)


def taken(parts: Parts) -> list[Any]:
    found = []
    while parts.left is not None:
        found.append(parts.take())
    return found


@pytest.mark.parametrize(
    ("request_", "sizes"),
    [
        (alteration(7), [3, 3, 1]),
        (alteration(2, 2, 2), [3, 3]),
        (alteration(3, 3), [3, 3]),
        (alteration(1, 0, 4), [2, 3]),
        (alteration(), [0]),
        (assignment((2, 2), (1,)), [3, 2]),
        (assignment((), (4,)), [2, 2]),
    ],
)
def test_a_part_has_so_many_partitions_at_most_and_the_parts_are_the_request(request_: Any, sizes: list[int]) -> None:
    path = PATHS[key_of(request_)]

    parts = taken(Parts(key_of(request_), request_, 3))

    assert [len(leaves(part, path)) for part in parts] == sizes
    assert [leaf for part in parts for leaf in leaves(part, path)] == leaves(request_, path)
    assert {(part.broker_id, part.broker_epoch) for part in parts} == {(1, 2)}


def test_the_answer_to_parts_is_that_to_the_request() -> None:
    rng = Random(1)
    for _ in range(300):
        counts = [tuple(rng.randrange(4) for _ in range(rng.randrange(4))) for _ in range(rng.randrange(4))]
        for request in (alteration(*(sum(each) for each in counts)), assignment(*counts)):
            parts = Parts(key_of(request), request, rng.randint(1, 5))
            answers = [*enumerate(map(answer_of, taken(parts)))]
            rng.shuffle(answers)

            done = [parts.answer(number, answer) for number, answer in answers]

            assert done == [False] * (len(answers) - 1) + [True]
            assert parts.joined() == answer_of(request)


def test_the_partitions_of_a_part_that_failed_have_its_error() -> None:
    request = alteration(3, 2)
    parts = Parts(56, request, 2)
    first, second, third = taken(parts)
    parts.answer(0, answer_of(first))
    parts.answer(1, whole_error(second, Error.STALE_BROKER_EPOCH))

    parts.answer(2, whole_error(third, Error.STALE_BROKER_EPOCH))
    answer = parts.joined()

    stale = Error.STALE_BROKER_EPOCH
    assert answer.error_code == Error.NONE
    codes = [[each.error_code for each in topic.partitions] for topic in answer.topics]
    assert codes == [[0, 0, stale], [stale, stale]]
    assert [topic.topic_id for topic in answer.topics] == [topic.topic_id for topic in request.topics]
    assert [each.partition_index for each in answer.topics[0].partitions] == [0, 1, 2]


def test_if_the_first_part_fails_no_other_is_taken() -> None:
    parts = Parts(56, alteration(5), 2)
    refusal = whole_error(parts.take(), Error.STALE_BROKER_EPOCH)

    is_last = parts.answer(0, refusal)

    assert is_last
    assert parts.left is None
    assert parts.joined() == refusal


def test_where_leadership_was_lost_the_whole_request_has_that_answer() -> None:
    parts = Parts(56, alteration(4), 2)
    first, second = taken(parts)
    lost = whole_error(second, Error.NOT_CONTROLLER)
    parts.answer(0, answer_of(first))

    parts.answer(1, lost)

    assert parts.joined() == lost
