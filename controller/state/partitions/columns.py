"""Partitions as columns: one numpy array for each field, one row for each partition.

At replication factor 3 a partition takes 60 bytes. Fields that few partitions have (an ELR, a reassignment) are kept
once for all partitions with equal values; one column has the number of these values
(`controller.state.partitions.uncommon_fields`).
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import ref

import numpy as np

from controller.state.partitions.partition import Partition
from controller.state.partitions.uncommon_fields import COMMON, UncommonFields, UncommonFieldsTable
from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

if TYPE_CHECKING:
    from weakref import ReferenceType

    from numpy.typing import NDArray

    Int32s = NDArray[np.int32]
    Indexer = int | slice | NDArray[np.intp]

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

    def matrix(self) -> NDArray[np.uint8]:
        """All ids by their numbers, of shape (n, 16)."""
        if len(self._table) != len(self.ids):
            self._table = np.frombuffer(b"".join(self.ids), np.uint8).reshape(-1, 16)
        return self._table

    def numbers_of(self, ids: NDArray[np.uint8]) -> Int32s:
        """The numbers of ids of shape (n, k, 16), new ones for ids that have none yet; of shape (n, k)."""
        flat = np.ascontiguousarray(ids).reshape(-1, 16)
        if len(self._keys) != len(self.ids):
            keys = _keys(self.matrix())
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
    `end`, and are replaced when they grow: keep no reference to one across a change of the state. Whoever writes to a
    column calls `before_change` first.
    """

    NAMES: ClassVar = ("topic", "partition_id", "leader", "leader_epoch", "partition_epoch", "uncommon")
    LIST_NAMES: ClassVar = ("replicas", "isr", "directories")

    topic: Int32s
    partition_id: Int32s
    leader: Int32s
    leader_epoch: Int32s
    partition_epoch: Int32s
    uncommon: Int32s
    replicas: list[Int32s]
    isr: list[Int32s]
    directories: list[Int32s]

    __slots__ = (
        "_cells", "_copies", "_directory_cells", "_isr_cells", "_replica_cells", "capacity", "directories",
        "directory_ids", "end", "isr", "leader", "leader_epoch", "partition_epoch", "partition_id", "replicas", "topic",
        "uncommon", "uncommon_values",
    )  # fmt: skip

    def __init__(self, positions: int = 3) -> None:
        self.end = 0
        self.capacity = _CAPACITY_MIN
        self.directory_ids = DirectoryIds()
        self.uncommon_values = UncommonFieldsTable()
        self._copies: list[ReferenceType[Columns]] = []
        for name in self.NAMES:
            setattr(self, name, new_column(self.capacity))
        for name in self.LIST_NAMES:
            setattr(self, name, [new_column(self.capacity) for _ in range(positions)])
        self.take_cells()

    @property
    def positions(self) -> int:
        return len(self.replicas)

    def lend(self, copy: Columns) -> None:
        """Tell a copy of every change before it is made, as long as somebody has it."""
        self._copies.append(ref(copy))

    def before_change(self, rows: Indexer) -> None:
        """The fields of these rows are about to change."""
        if self._copies:
            copies = [(each, each()) for each in self._copies]
            self._copies = [each for each, copy in copies if copy is not None]
            for _, copy in copies:
                if copy is not None:
                    copy.before_change(rows)

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
        self.before_change(row)
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
        self.before_change(row)
        leader[row] = new.leader
        leader_epoch[row] = new.leader_epoch
        partition_epoch[row] = new.partition_epoch
        if new.isr is not old.isr:
            _write(self._isr_cells, row, new.isr)

    def clear_out(self) -> None:
        """Drop uncommon values that no row has any more, if there are many. Their numbers are kept nowhere else."""
        if len(self.uncommon_values) >= self.uncommon_values.crowded_at:
            # The others have the same number in every table; a copy of the columns need not keep them.
            rows = np.flatnonzero(self.uncommon[: self.end] != COMMON)
            self.before_change(rows)
            self.uncommon_values, self.uncommon[rows] = self.uncommon_values.drop_unused(self.uncommon[rows])

    def append(self, count: int) -> int:
        """Make room for `count` more rows at the end and return the first."""
        first = self.end
        self.end += count
        if self.end > self.capacity:
            self._grow(max(self.end, self.capacity * 2))
        return first

    def widen(self, positions: int) -> None:
        """Have at least this many positions for replicas, ISR and directories."""
        if positions <= self.positions:
            return
        for columns in (self.replicas, self.isr, self.directories):
            for _ in range(positions - len(columns)):
                columns.append(new_column(self.capacity))
                columns[-1][:] = NOBODY
        self.take_cells()

    def arrange(self, order: NDArray[np.intp]) -> None:
        """Keep only these rows, in this order, as the first ones."""
        self.before_change(slice(0, self.end))
        self.end = len(order)
        for name in self.NAMES:
            column = getattr(self, name)
            column[: self.end] = column[order]
        for name in self.LIST_NAMES:
            for column in getattr(self, name):
                column[: self.end] = column[order]

    def _grow(self, capacity: int) -> None:
        # Column by column; room that was never written takes no memory.
        del self._cells, self._replica_cells, self._isr_cells, self._directory_cells
        for name in self.NAMES:
            held = [getattr(self, name)]
            delattr(self, name)
            setattr(self, name, _grow(held, capacity))
        for name in self.LIST_NAMES:
            columns = getattr(self, name)
            for position in range(len(columns)):
                held = [columns[position]]
                columns[position] = None
                columns[position] = _grow(held, capacity)
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


def new_column(capacity: int) -> Int32s:
    """A column of zeros, at least one; it takes the memory of what is written."""
    # Shared memory, which is the default, would have no more of it where its addresses grow.
    # numpy's own would have huge pages, of which one row takes 2 MiB.
    return np.frombuffer(mmap.mmap(-1, 4 * capacity, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), np.int32)


def _grow(held: list[Int32s], capacity: int) -> Int32s:
    """A column of this capacity with the values of the one in the list, which must be the only reference to it.

    Linux gives the same memory more addresses: a copy of very many rows would take many milliseconds.
    """
    column = held.pop()
    base: Any = column.base
    memory: mmap.mmap = base.obj
    del base, column
    try:
        memory.resize(4 * capacity)
    except (BufferError, OSError, SystemError, ValueError):  # somebody has a reference, or the system cannot do it
        former = np.frombuffer(memory, np.int32)
        grown = new_column(capacity)
        grown[: len(former)] = former
        return grown
    return np.frombuffer(memory, np.int32)


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
