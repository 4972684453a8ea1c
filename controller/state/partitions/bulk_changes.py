"""Changes of many partitions as columns: fencing a broker makes them, and replay applies them.

A group holds PartitionChangeRecords of one shape: they carry the same fields, with lists of the same lengths. A few
operations on whole arrays encode a group, or write it to the columns of the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.state.partitions.partition import NO_LEADER, NO_LEADER_CHANGE, NO_RECOVERY_CHANGE
from records.bulk.rows import partition_changes
from records.metadata.topics import PartitionChangeRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from controller.state.partitions.partitions import Partitions, Rows
    from records.bulk.rows import Rows as Encoded

# The fields of a change beside its partition.
SCALARS = ("leader", "leader_recovery_state")
BROKER_LISTS = (
    "isr", "replicas", "removing_replicas", "adding_replicas", "eligible_leader_replicas", "last_known_elr",
)  # fmt: skip
FIELDS = (*SCALARS, *BROKER_LISTS, "directories")
# The value of a field that means "no change", where that is not None.
NO_CHANGE = {"leader": NO_LEADER_CHANGE, "leader_recovery_state": NO_RECOVERY_CHANGE}


class Group:
    """Changes of one shape, in the order of their records. rows: of their partitions, each once.

    fields: by name, only those that the records carry: `leader` and `leader_recovery_state` of shape (n,), lists of
    brokers int32 of shape (n, k), `directories` uint8 of shape (n, k, 16).
    """

    __slots__ = ("fields", "rows")

    def __init__(self, rows: Rows, fields: dict[str, NDArray[Any]]) -> None:
        self.rows = rows
        self.fields = fields

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, chosen: NDArray[np.intp] | slice) -> Group:
        """Some of the changes."""
        return Group(self.rows[chosen], {name: column[chosen] for name, column in self.fields.items()})


class PartitionChanges:
    """Changes in groups. Each partition occurs once; the records are in the order of the groups."""

    __slots__ = ("groups",)

    def __init__(self, groups: list[Group]) -> None:
        self.groups = groups

    def __len__(self) -> int:
        return sum(len(group) for group in self.groups)

    def with_leader(self) -> PartitionChanges:
        """Those after which the partition has a leader, if they change it."""
        leading = [
            group.part(np.flatnonzero(group.fields["leader"] != NO_LEADER)) if "leader" in group.fields else group
            for group in self.groups
        ]
        return PartitionChanges([group for group in leading if len(group)])

    def parts(self, partitions: Partitions, version: int) -> list[Encoded]:
        """The encoded records, in their order, for `records.bulk.rows.batch_body`. version: of the records."""
        return [
            partition_changes(
                version, partitions.topic_ids_at(group.rows), partitions.partition_ids_at(group.rows), **group.fields
            )
            for group in self.groups
        ]

    def records(self, partitions: Partitions) -> Iterator[PartitionChangeRecord]:
        """The changes one by one, as messages."""
        for group in self.groups:
            lists = {name: plain(name, column) for name, column in group.fields.items()}
            for number, row in enumerate(group.rows.tolist()):
                yield PartitionChangeRecord(
                    partition_id=partitions.partition_id_at(row),
                    topic_id=partitions.topic_at(row).topic_id,
                    **{name: values[number] for name, values in lists.items()},
                )


def group_changes(changes: Iterable[tuple[int, dict[str, Any]]]) -> list[Group]:
    """Groups of changes that are given one by one: row, and fields as the message has them. Each row comes once."""
    shapes: dict[tuple[Any, ...], tuple[list[int], list[dict[str, Any]]]] = {}
    for row, fields in changes:
        shape = tuple((name, len(fields[name]) if name not in SCALARS else 0) for name in FIELDS if name in fields)
        rows, values = shapes.setdefault(shape, ([], []))
        rows.append(row)
        values.append(fields)
    groups = []
    for shape, (rows, values) in shapes.items():
        columns = {name: _column(name, [fields[name] for fields in values]) for name, _ in shape}
        groups.append(Group(np.array(rows, np.intp), columns))
    return groups


def _column(name: str, values: list[Any]) -> NDArray[Any]:
    if name == "leader_recovery_state":
        return np.array(values, np.int8)
    if name == "leader":
        return np.array(values, np.int32)
    width = len(values[0])
    if name == "directories":
        joined = b"".join(b"".join(directories) for directories in values)
        return np.frombuffer(joined, np.uint8).reshape(len(values), width, 16)
    return np.array(values, np.int32).reshape(len(values), width)


def plain(name: str, column: NDArray[Any]) -> list[Any]:
    """The values of a column, or of a matrix of lists, as messages have them."""
    if column.ndim == 1:
        return list(column.tolist())
    if name == "directories":
        return [tuple(bytes(directory) for directory in directories) for directories in column]
    return [tuple(values) for values in column.tolist()]
