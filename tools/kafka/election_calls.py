"""ElectLeaders: the leaders of partitions are elected anew (KIP-183, KIP-460)."""

from __future__ import annotations

from records.messages.reassignments import ElectLeadersRequest
from tools.client.admin import CONTROLLER, Call
from tools.client.exceptions import KafkaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from tools.client.admin import Admin

    Partition = tuple[str, int]

PREFERRED, UNCLEAN = "PREFERRED", "UNCLEAN"
TYPES = {PREFERRED: 0, UNCLEAN: 1}


def elect_leaders(
    admin: Admin, kind: str, partitions: Collection[Partition] | None
) -> dict[Partition, KafkaError | None]:
    """The outcome of each partition, None for an election that was made.

    kind: a key of TYPES. partitions: topic and index; None for all, of which those without need have no outcome. Raises
    Uncaught.
    """
    by_topic: dict[str, list[int]] = {}
    for topic, index in partitions or ():
        by_topic.setdefault(topic, []).append(index)
    named = ElectLeadersRequest.TopicPartitions
    topics = tuple(named(topic=topic, partitions=tuple(indexes)) for topic, indexes in by_topic.items())

    def request(timeout_ms: int) -> ElectLeadersRequest:
        wanted = None if partitions is None else topics
        return ElectLeadersRequest(election_type=TYPES[kind], topic_partitions=wanted, timeout_ms=timeout_ms)

    outcomes: dict[Partition, KafkaError | None] = admin.call(
        Call("electLeaders", request, _election_results, CONTROLLER)
    )
    return outcomes


def _election_results(response: Any) -> dict[Partition, KafkaError | None]:
    if response.error_code:
        raise KafkaError(response.error_code)
    return {
        (topic.topic, partition.partition_id): (
            KafkaError(partition.error_code, partition.error_message) if partition.error_code else None
        )
        for topic in response.replica_election_results
        for partition in topic.partition_result
    }
