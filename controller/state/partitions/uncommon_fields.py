"""Fields that few partitions have. Partitions with equal values share them, by a number in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from controller.state.partitions.partition import RECOVERED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Kinds of uncommon fields, as bits.
HAS_ELR = 1  # eligible leader replicas, or a last known leader
REASSIGNING = 2
IS_RECOVERING = 4
IS_WIDE = 8  # lists that do not fit in the columns; the columns then hold what fits

# The number of a partition without uncommon fields.
COMMON = 0

# With this many distinct values, the table looks for those that no row uses.
_CROWD_MIN = 4096


class UncommonFields(NamedTuple):
    """The values of one partition, or of several. lists: complete replicas, ISR and directories of a wide partition."""

    removing: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    recovery_state: int = RECOVERED
    lists: tuple[tuple[int, ...], tuple[int, ...], tuple[bytes, ...]] | None = None

    @property
    def kinds(self) -> int:
        return (
            (HAS_ELR if self.elr or self.last_known_elr else 0)
            | (REASSIGNING if self.removing or self.adding else 0)
            | (IS_RECOVERING if self.recovery_state != RECOVERED else 0)
            | (IS_WIDE if self.lists is not None else 0)
        )


class UncommonFieldsTable:
    """The distinct values, numbered. A number is valid until `drop_unused` makes a smaller table."""

    __slots__ = ("_kinds", "crowded_at", "numbers", "values")

    def __init__(self) -> None:
        self.values = [UncommonFields()]
        self.numbers = {self.values[COMMON]: COMMON}
        self.crowded_at = _CROWD_MIN
        self._kinds: NDArray[np.uint8] = np.zeros(1, np.uint8)

    def __len__(self) -> int:
        return len(self.values)

    def number(self, value: UncommonFields) -> int:
        """The number of a value, a new one where it has none yet."""
        number = self.numbers.get(value)
        if number is None:
            number = self.numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def kinds(self) -> NDArray[np.uint8]:
        """By number, the kinds of uncommon fields that a value has."""
        known = len(self._kinds)
        if known < len(self.values):
            more = np.array([value.kinds for value in self.values[known:]], np.uint8)
            self._kinds = np.concatenate((self._kinds, more))
        return self._kinds

    def of_kind(self, kind: int) -> NDArray[np.bool_]:
        """By number, whether a value has any of these kinds of uncommon fields."""
        is_of_kind: NDArray[np.bool_] = (self.kinds() & kind) != 0
        return is_of_kind

    def where(self, holds: Callable[[UncommonFields], bool]) -> NDArray[np.bool_]:
        """By number, whether a condition holds for the value."""
        return np.array([holds(value) for value in self.values], np.bool_)

    def drop_unused(self, column: NDArray[np.int32]) -> tuple[UncommonFieldsTable, NDArray[np.int32]]:
        """A table of only those values whose numbers are in the column, and the column with the new numbers."""
        used, renumbered = np.unique(np.append(column, COMMON), return_inverse=True)
        table = UncommonFieldsTable()
        for number in used[1:].tolist():
            table.number(self.values[number])
        table.crowded_at = max(_CROWD_MIN, 2 * len(table))
        return table, renumbered[:-1].astype(np.int32)
