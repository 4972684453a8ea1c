"""Partitions as columns: one numpy array for each field, one row for each partition.

At replication factor 3 a partition takes 60 bytes. Fields that few partitions have (an ELR, a reassignment) are kept
once for all partitions with equal values; one column has the number of these values
(`controller.state.partitions.uncommon_fields`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.state.partitions.partition import Partition
from controller.state.partitions.uncommon_fields import COMMON, UncommonFields, UncommonFieldsTable
from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32s = NDArray[np.int32]

NOBODY = -1  # in a column of broker ids or directories: the list is shorter than that
NO_TOPIC = -1  # in the column of topics: the row holds no partition

MIGRATING = 0
UNASSIGNED = 1
LOST = 2

POSITIONS_MAX = 8
_CAPACITY_MIN = 1024


class DirectoryIds:
    """The number of each directory id in the columns. A number is never given to another id."""

    __slots__ = ("_keys", "_order", "_table", "ids", "numbers")

    def __init__(self) -> None:
        self.ids = [MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY]
        self.numbers = {id_: number for number, id_ in enumerate(self.ids)}
        # For looking up many at once: keys of the ids, ascending, the number of each, and all ids as a matrix.
        self._keys: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._order: NDArray[np.intp] = np.empty(0, np.intp)
        self._table: NDArray[np.uint8] = np.empty((0, 16), np.uint8)

    def number(self, id_: bytes) -> int:
        """The number of a directory id, a new one where it has none yet."""
        number = self.numbers.get(id_)
        if number is None:
            number = self.numbers[id_] = len(self.ids)
            self.ids.append(id_)
        return number

    def numbers_of(self, ids: NDArray[np.uint8]) -> Int32s:
        """The numbers of ids of shape (n, k, 16), new ones for ids that have none yet; of shape (n, k)."""
        flat = np.ascontiguousarray(ids).reshape(-1, 16)
        if len(self._keys) != len(self.ids):
            self._table = np.frombuffer(b"".join(self.ids), np.uint8).reshape(-1, 16)
            keys = _keys(self._table)
            self._order = np.argsort(keys)
            self._keys = keys[self._order]
        at = np.searchsorted(self._keys, _keys(flat))
        numbers = self._order[np.minimum(at, len(self._order) - 1)]
        if (self._table[numbers] != flat).any():
            joined = flat.tobytes()
            numbers = np.array([self.number(joined[start : start + 16]) for start in range(0, len(joined), 16)])
        return numbers.astype(np.int32).reshape(ids.shape[:2])


class Columns:
    """The columns, and scalar access to them.

    end: the rows that were ever used, exclusive; `topic` is NO_TOPIC in those that hold no partition. replicas, isr and
    directories: one column a position in the list. uncommon: numbers in `uncommon_values`. Arrays have room beyond
    `end`, and are replaced when they grow: keep no reference to one across a change of the state.
    """

    __slots__ = (
        "_cells", "_directory_cells", "_isr_cells", "_replica_cells", "capacity", "directories", "directory_ids", "end",
        "isr", "leader", "leader_epoch", "partition_epoch", "partition_id", "replicas", "topic", "uncommon",
        "uncommon_values",
    )  # fmt: skip

    def __init__(self, positions: int = 3) -> None:
        self.end = 0
        self.capacity = 0
        self.directory_ids = DirectoryIds()
        self.uncommon_values = UncommonFieldsTable()
        self.topic = _column()
        self.partition_id = _column()
        self.leader = _column()
        self.leader_epoch = _column()
        self.partition_epoch = _column()
        self.uncommon = _column()
        self.replicas = [_column() for _ in range(positions)]
        self.isr = [_column() for _ in range(positions)]
        self.directories = [_column() for _ in range(positions)]
        self._grow(_CAPACITY_MIN)

    @property
    def positions(self) -> int:
        return len(self.replicas)

    def bytes_per_row(self) -> int:
        return 4 * (6 + 3 * self.positions)

    def get(self, row: int) -> Partition:
        """The partition in a row."""
        leader, leader_epoch, partition_epoch, uncommon = self._cells
        replicas = _list_cells([cell[row] for cell in self._replica_cells])
        isr = _list_cells([cell[row] for cell in self._isr_cells])
        ids = self.directory_ids.ids
        directories = tuple([ids[cell[row]] for cell in self._directory_cells[: len(replicas)]])
        if uncommon[row] == COMMON:
            return Partition(replicas, isr, leader[row], leader_epoch[row], partition_epoch[row], directories)
        has = self.uncommon_values.values[uncommon[row]]
        if has.lists is not None:
            replicas, isr, directories = has.lists
        return Partition(
            replicas, isr, leader[row], leader_epoch[row], partition_epoch[row], directories,
            has.removing, has.adding, has.elr, has.last_known_elr, has.recovery_state,
        )  # fmt: skip

    def set(self, row: int, partition: Partition) -> None:
        """Write a partition to a row that is below `end`."""
        leader, leader_epoch, partition_epoch, uncommon = self._cells
        leader[row] = partition.leader
        leader_epoch[row] = partition.leader_epoch
        partition_epoch[row] = partition.partition_epoch
        replicas = partition.replicas
        isr = partition.isr
        # A reassignment holds more replicas for a while; the columns are not widened for it.
        width = max(len(replicas), len(isr))
        if width > self.positions and width <= POSITIONS_MAX and not partition.is_reassigning:
            self.widen(width)
        is_wide = width > self.positions or (replicas and min(replicas) < 0) or (isr and min(isr) < 0)
        number_of = self.directory_ids.number
        _write(self._replica_cells, row, replicas)
        _write(self._isr_cells, row, isr)
        _write(self._directory_cells, row, [number_of(directory) for directory in partition.directories])
        number = COMMON
        if is_wide or partition[6:] != _COMMON:
            lists = (replicas, isr, partition.directories) if is_wide else None
            number = self.uncommon_values.number(UncommonFields(*partition[6:], lists))
        uncommon[row] = number

    def change(self, row: int, old: Partition, new: Partition) -> None:
        """Write the fields in which `new` differs from `old`, which is in the row."""
        leader, leader_epoch, partition_epoch, uncommon = self._cells
        stays_common = uncommon[row] == COMMON and new[6:] == _COMMON
        has_same_replicas = new.replicas is old.replicas and new.directories is old.directories
        isr_fits = len(new.isr) <= self.positions and min(new.isr, default=0) >= 0
        if not (stays_common and has_same_replicas and isr_fits):
            self.set(row, new)
            return
        leader[row] = new.leader
        leader_epoch[row] = new.leader_epoch
        partition_epoch[row] = new.partition_epoch
        if new.isr is not old.isr:
            _write(self._isr_cells, row, new.isr)

    def clear_out(self) -> None:
        """Drop uncommon values that no row has any more, if there are many. Their numbers are kept nowhere else."""
        if len(self.uncommon_values) >= self.uncommon_values.crowded_at:
            self.uncommon_values, self.uncommon[: self.end] = self.uncommon_values.drop_unused(
                self.uncommon[: self.end]
            )

    def append(self, count: int) -> int:
        """Make room for `count` more rows at the end and return the first."""
        first = self.end
        self.end += count
        if self.end > self.capacity:
            self._grow(max(self.end, self.capacity * 2))
        return first

    def widen(self, positions: int) -> None:
        """Have at least this many positions for replicas, ISR and directories."""
        for columns in (self.replicas, self.isr, self.directories):
            columns.extend(np.full(self.capacity, NOBODY, np.int32) for _ in range(positions - len(columns)))
        self.take_cells()

    def arrange(self, order: NDArray[np.intp]) -> None:
        """Keep only these rows, in this order, as the first ones."""
        self.end = len(order)
        for column in (
            self.topic, self.partition_id, self.leader, self.leader_epoch, self.partition_epoch, self.uncommon,
            *self.replicas, *self.isr, *self.directories,
        ):  # fmt: skip
            column[: self.end] = column[order]

    def copy(self) -> Columns:
        """The used rows as they are now, independent of later changes. Tables are shared: their numbers stay."""
        other = Columns.__new__(Columns)
        other.end = other.capacity = self.end
        other.directory_ids = self.directory_ids
        other.uncommon_values = self.uncommon_values
        for name in ("topic", "partition_id", "leader", "leader_epoch", "partition_epoch", "uncommon"):
            setattr(other, name, getattr(self, name)[: self.end].copy())
        for name in ("replicas", "isr", "directories"):
            setattr(other, name, [column[: self.end].copy() for column in getattr(self, name)])
        other.take_cells()
        return other

    def _grow(self, capacity: int) -> None:
        # Column by column, so that no more than one is in memory twice; room that was never written takes no memory.
        self.topic = _grow(self.topic, capacity)
        self.partition_id = _grow(self.partition_id, capacity)
        self.leader = _grow(self.leader, capacity)
        self.leader_epoch = _grow(self.leader_epoch, capacity)
        self.partition_epoch = _grow(self.partition_epoch, capacity)
        self.uncommon = _grow(self.uncommon, capacity)
        for columns in (self.replicas, self.isr, self.directories):
            for position, column in enumerate(columns):
                columns[position] = _grow(column, capacity)
        self.capacity = capacity
        self.take_cells()

    def take_cells(self) -> None:
        """Make memoryviews for scalar access: twice as fast as arrays, and the values are Python ints."""
        self._cells = (self.leader.data, self.leader_epoch.data, self.partition_epoch.data, self.uncommon.data)
        self._replica_cells = [column.data for column in self.replicas]
        self._isr_cells = [column.data for column in self.isr]
        self._directory_cells = [column.data for column in self.directories]


_COMMON = UncommonFields()[:5]


def _keys(ids: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A number for each id of shape (n, 16); nearly always distinct for distinct ids."""
    halves = ids.view(np.uint64)
    return halves[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ halves[:, 1]


def _column() -> Int32s:
    return np.empty(0, np.int32)


def _grow(column: Int32s, capacity: int) -> Int32s:
    grown = np.empty(capacity, np.int32)
    grown[: len(column)] = column
    return grown


def _list_cells(cells: list[int]) -> tuple[int, ...]:
    """The list that the positions of a row hold."""
    if cells[-1] == NOBODY:
        return tuple(cells[: cells.index(NOBODY)])
    return tuple(cells)


def _write(cells: list[memoryview], row: int, values: tuple[int, ...] | list[int]) -> None:
    count = len(values)
    if count == len(cells):
        for cell, value in zip(cells, values, strict=True):
            cell[row] = value
        return
    for position, cell in enumerate(cells):
        cell[row] = values[position] if position < count else NOBODY
