"""An AlterPartition in parts: each of its partitions is changed or refused by itself.

A part is a request like any other: it is decided in one step, its records are a batch of its own, and the broker's
epoch is checked again. So nothing waits for a large request, and nothing that others change is in its way.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from controller.handlers.isr import TopicResult, refusal
from records.errors import Error
from records.schema import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from records.messages.partitions import AlterPartitionRequest, AlterPartitionResponse

ALTER_PARTITION = 56
# The partitions of a part: some 4 ms. This many members of an ISR cost as much time as a partition at most.
PART_SIZE = 150
MEMBERS_OF_PARTITION = 8


def cut(request: AlterPartitionRequest, size: int) -> Iterator[AlterPartitionRequest]:
    """The request in parts of so many partitions; a topic without any counts as one, and a long ISR as several."""
    topics: list[AlterPartitionRequest.TopicData] = []
    room = size
    for topic in request.topics:
        begin = 0
        for end, partition in enumerate(topic.partitions):
            if room <= 0:
                yield replace(request, topics=(*topics, replace(topic, partitions=topic.partitions[begin:end])))
                begin, topics, room = end, [], size
            room -= 1 + (len(partition.new_isr) + len(partition.new_isr_with_epochs)) // MEMBERS_OF_PARTITION
        topics.append(replace(topic, partitions=topic.partitions[begin:]))
        if not topic.partitions:
            room -= 1
        if room <= 0:
            yield replace(request, topics=tuple(topics))
            topics, room = [], size
    if topics or not request.topics:
        yield replace(request, topics=tuple(topics))


class Parts:
    """One request in parts. taken: those that were taken; left: the next one, None where all were."""

    def __init__(self, request: AlterPartitionRequest, size: int) -> None:
        self.taken: list[AlterPartitionRequest] = []
        self._request = request
        self._parts = cut(request, size)
        self._answers: dict[int, AlterPartitionResponse] = {}
        self.left: AlterPartitionRequest | None = next(self._parts)
        self._untaken: Iterable[AlterPartitionRequest] = ()

    def take(self) -> AlterPartitionRequest:
        """The next part."""
        part = self.left
        assert part is not None, "all parts were taken"
        self.taken.append(part)
        self.left = next(self._parts, None)
        return part

    def answer(self, number: int, response: AlterPartitionResponse) -> bool:
        """Take the answer to a part; returns whether it was the last one. After one that failed as a whole no other is
        taken.
        """
        self._answers[number] = response
        if response.error_code and self.left is not None:
            self._untaken = chain((self.left,), self._parts)
            self.left = None
        return self.left is None and len(self._answers) == len(self.taken)

    def join(self) -> AlterPartitionResponse:
        """The answer to the whole request.

        An error of the whole stands for all of it where each part has it, or this node lost its leadership, so that the
        outcome is unknown. Else the partitions of the parts that failed, and of those that were not taken, have it: the
        others were changed.
        """
        answers = [self._answers[number] for number in range(len(self.taken))]
        failed = [each for each in answers if each.error_code]
        lost = [each for each in failed if each.error_code == Error.NOT_CONTROLLER]
        if lost or len(failed) == len(answers):
            return (lost or failed)[0]
        served = next(each for each in answers if not each.error_code)
        results = chain(
            chain.from_iterable(map(_results, self.taken, answers)),
            chain.from_iterable(_results(part, failed[0]) for part in self._untaken),
        )
        topics = (
            TopicResult(topic_id=topic.topic_id, partitions=tuple(islice(results, len(topic.partitions))))
            for topic in self._request.topics
        )
        return replace(served, topics=tuple(topics))


def _results(part: AlterPartitionRequest, answer: AlterPartitionResponse) -> Iterable[TopicResult.PartitionData]:
    """The results of a part: those of its answer, or for each partition the error of the whole."""
    if not answer.error_code:
        return chain.from_iterable(topic.partitions for topic in answer.topics)
    return (refusal(each.partition_index, answer.error_code) for topic in part.topics for each in topic.partitions)
