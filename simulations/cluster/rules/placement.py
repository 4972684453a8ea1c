"""Random placement varies: the first partitions of new topics are not all led by one broker (KIP-36)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.metadata.topics import PartitionRecord, TopicRecord
from simulations.cluster.metadata.member_rules import is_active, takes_replicas

if TYPE_CHECKING:
    from simulations.cluster.rules.case import Case

# One in this many runs of equal random draws is this long; there are some ten runs in a world.
CHANCE = 1e9


class Placing:
    """By the brokers of a rack that could lead: the leader of the last first partition, and how
    many in a row it led.
    """

    def __init__(self) -> None:
        self._rows: dict[frozenset[int], tuple[int, int]] = {}

    def on_created(self, case: Case) -> None:
        """Topics are created. Raises Violation if one broker leads the first partition of all, again and again."""
        placed = {topic.name for topic in case.request.topics if not topic.assignments}
        made = {record.topic_id for record in case.records if type(record) is TopicRecord and record.name in placed}
        for record in case.records:
            if type(record) is PartitionRecord and record.partition_id == 0 and record.topic_id in made:
                self._leads(case, record.leader)

    def _leads(self, case: Case, leader: int) -> None:
        brokers = case.image.brokers
        if leader not in brokers:
            return
        rack = brokers[leader].rack
        could = frozenset(
            each
            for each, broker in brokers.items()
            if broker.rack == rack and is_active(broker) and takes_replicas(broker)
        )
        last, count = self._rows.get(could, (leader, 0))
        count = count + 1 if leader == last else 1
        self._rows[could] = leader, count
        if len(could) ** (count - 1) > CHANCE:
            raise case.fail(
                f"{leader} leads the first partition of {count} topics in a row, but {sorted(could)} could, too"
            )
