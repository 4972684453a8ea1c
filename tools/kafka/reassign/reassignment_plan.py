"""`--generate`: proposes replicas for all partitions of topics, placed as by the controller (KIP-36)."""

from __future__ import annotations

import sys

from controller.rules.placement import Usable, UsableBroker, place
from records.errors import ApiError
from records.java.java_order import integer_order, partition_order
from tools.client.exceptions import KafkaError
from tools.command_line.java_texts import Uncaught, parse_integer
from tools.kafka.cluster_calls import describe_cluster
from tools.kafka.reassign.reassignment_file import COMMAND_FAILED, OPERATION_FAILED, find_repeated, json_of, topics_in
from tools.kafka.reassign.reassignment_replicas import current_directories, replicas_of_topics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableSequence
    from typing import Any

    from controller.rules.placement import RandomSource
    from tools.client.admin import Admin

    Partition = tuple[str, int]
    Replicas = dict[Partition, tuple[int, ...]]


def generate(admin: Admin, text: str, broker_list: str, *, with_racks: bool, rng: RandomSource | None) -> None:
    """Print the replicas that the topics of a file have, and those proposed on some brokers. Raises Uncaught.

    broker_list: their ids, separated by commas. with_racks: whether replicas are spread over racks.
    """
    brokers = _broker_ids(broker_list)
    topics = topics_in(text)
    current = replicas_of_topics(admin, topics)
    directories = current_directories(admin, current)
    proposed = _propose(current, _usable(admin, brokers, with_racks=with_racks), rng or SystemNumbers())
    sys.stdout.write(f"Current partition replica assignment\n{json_of(current, directories)}\n\n")
    sys.stdout.write(f"Proposed partition reassignment configuration\n{json_of(proposed, {})}\n")


def _broker_ids(text: str) -> list[int]:
    """The ids in a list of brokers. Raises Uncaught for one that is no number, or comes twice."""
    parts = text.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()  # as Java's `split`
    if parts == [""] and text:
        parts = []
    ids = [parse_integer(part) for part in parts]
    twice = integer_order(find_repeated(ids))
    if twice:
        listed = ", ".join(map(str, twice))
        raise Uncaught(COMMAND_FAILED, f"Broker list contains duplicate entries: [{listed}]")
    return ids


def _usable(admin: Admin, brokers: list[int], *, with_racks: bool) -> list[UsableBroker]:
    """Those of the brokers that live. Raises Uncaught if some have a rack and others have none."""
    usable = [
        UsableBroker(node.broker_id, node.rack if with_racks else None, fenced=False)
        for node in describe_cluster(admin).brokers
        if node.broker_id in brokers
    ]
    if with_racks and len({broker.rack is None for broker in usable}) > 1:
        raise Uncaught(
            OPERATION_FAILED,
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information.",
        )
    return usable


def _propose(current: Replicas, brokers: list[UsableBroker], rng: RandomSource) -> Replicas:
    """The proposed replicas of the partitions. Raises Uncaught if there are too few brokers."""
    # A topic gets the number of replicas of its partition that is first in Java's map.
    by_topic: dict[str, list[Partition]] = {}
    for partition in partition_order(current):
        by_topic.setdefault(partition[0], []).append(partition)
    usable = Usable(brokers)
    proposed: Replicas = {}
    for topic, partitions in by_topic.items():
        try:
            placed = place(usable, len(partitions), len(current[partitions[0]]), rng)
        except ApiError as error:
            raise KafkaError(error.code, error.text) from None
        proposed.update(((topic, index), tuple(replicas)) for index, replicas in enumerate(placed))
    return proposed


class SystemNumbers:
    """Random numbers of the operating system; Python's module for them takes milliseconds to import."""

    def randrange(self, stop: int, /) -> int:
        from tools.rng import random_bits

        bits = stop.bit_length()
        number = random_bits(bits)
        while number >= stop:
            number = random_bits(bits)
        return number

    def shuffle(self, items: MutableSequence[Any], /) -> None:
        for last in range(len(items) - 1, 0, -1):
            other = self.randrange(last + 1)
            items[last], items[other] = items[other], items[last]
