"""The first partitions of a new topic, as one item of what CreateTopics writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.state.partitions.partition import Partition, partition_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from records.metadata.topics import PartitionRecord


class FirstPartitions:
    """The partitions of a new topic, from 0 on. Their replicas are active: all are in the ISR, and the first one leads.

    version: of their records. assignments: the replicas of each. directories: of each broker that has a replica.
    """

    __slots__ = ("assignments", "directories", "topic_id", "version")

    def __init__(
        self, topic_id: bytes, version: int, assignments: Sequence[Sequence[int]], directories: Mapping[int, bytes]
    ) -> None:
        self.topic_id = topic_id
        self.version = version
        self.assignments = assignments
        self.directories = directories

    def __len__(self) -> int:
        return len(self.assignments)

    def records(self) -> Iterator[PartitionRecord]:
        """The partitions one by one."""
        for partition_id, assignment in enumerate(self.assignments):
            replicas = tuple(assignment)
            directories = tuple([self.directories[replica] for replica in replicas])
            partition = Partition(replicas, replicas, replicas[0], 0, 0, directories)
            yield partition_record(partition, self.topic_id, partition_id, version=self.version)
