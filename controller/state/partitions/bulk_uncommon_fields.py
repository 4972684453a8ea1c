"""Writing the fields that few partitions have, for many rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.state.partitions.uncommon_fields import UncommonFields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from controller.state.partitions.columns import Columns
    from controller.state.partitions.partitions import Rows

# The fields of records, by their names there, whose values `Columns.uncommon` numbers.
UNCOMMON = (
    "eligible_leader_replicas", "last_known_elr", "leader_recovery_state", "removing_replicas", "adding_replicas",
)  # fmt: skip


def write_uncommon(columns: Columns, rows: Rows, fields: dict[str, NDArray[Any]]) -> None:
    """Write the uncommon fields that `fields` has. None of the rows is wide."""
    given = {name: fields[name] for name in UNCOMMON if name in fields}
    former = columns.uncommon[rows]
    sorts, first = distinct([former, *(position for column in given.values() for position in _positions(column))])
    numbers = np.empty(len(first), np.int32)
    for sort, number in enumerate(first.tolist()):
        said = {name: column[number].tolist() for name, column in given.items()}
        numbers[sort] = columns.uncommon_values.number(
            _apply_fields(columns.uncommon_values.values[former[number]], said)
        )
    columns.uncommon[rows] = numbers[sorts]


def distinct(columns: list[NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each row the number of its group, a group being the rows with equal values; and one row of each group."""
    sorts = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if (column == column[:1]).all():
            continue
        values, place = np.unique(column, return_inverse=True)
        _, sorts = np.unique(sorts * len(values) + place, return_inverse=True)
    _, first, sorts = np.unique(sorts, return_index=True, return_inverse=True)
    return sorts, first


def _positions(column: NDArray[Any]) -> list[NDArray[Any]]:
    return [column] if column.ndim == 1 else list(column.T)


def _apply_fields(former: UncommonFields, said: dict[str, Any]) -> UncommonFields:
    """The values of a row after a record with these fields."""

    def lists(name: str, otherwise: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(said[name]) if name in said else otherwise

    return UncommonFields(
        lists("removing_replicas", former.removing),
        lists("adding_replicas", former.adding),
        lists("eligible_leader_replicas", former.elr),
        lists("last_known_elr", former.last_known_elr),
        said.get("leader_recovery_state", former.recovery_state),
    )
