from __future__ import annotations

from random import Random

import numpy as np
import pytest

from controller.state.partitions.columns import LOST, MIGRATING, POSITIONS_MAX, UNASSIGNED, Columns, DirectoryIds
from controller.state.partitions.columns_copy import ColumnsCopy
from controller.state.partitions.partition import RECOVERING, Partition
from controller.state.partitions.uncommon_fields import COMMON
from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY


def partition(replicas=(1, 2, 3), isr=(1, 2), **fields):
    directories = tuple(bytes([broker & 255]) * 16 for broker in replicas)
    return Partition(replicas, isr, leader=1, leader_epoch=4, partition_epoch=9, directories=directories)._replace(
        **fields
    )


PARTITIONS = [
    partition(),
    partition((), ()),
    partition((5,), ()),
    partition(leader=-1, leader_epoch=-1, partition_epoch=2**31 - 1),
    partition(elr=(3,)),
    partition(last_known_elr=(1,)),
    partition(removing=(1,), adding=(3,)),
    partition(recovery_state=RECOVERING),
    partition(tuple(range(1, 6)), (5, 4)),
    partition(tuple(range(1, 6)), (5, 4), adding=(5,)),
    partition(tuple(range(1, 41)), tuple(range(40, 0, -1)), elr=(7,)),
    partition((2**31 - 1, 0), (0,)),
    partition((-1, 4), (4,)),
    partition((4,), (-7, 4)),
    partition((4, 4), (4, 4)),
]


def columns_of(partitions):
    columns = Columns()
    first = columns.append(len(partitions))
    for row, value in enumerate(partitions, start=first):
        columns.set(row, value)
    return columns


def test_any_partition_is_read_back_as_written():
    columns = columns_of(PARTITIONS)

    assert [columns.get(row) for row in range(columns.end)] == PARTITIONS


@pytest.mark.parametrize("seed", range(5))
def test_a_row_holds_only_the_last_partition_written(seed):
    random = Random(seed)
    columns = columns_of(PARTITIONS)
    expected = list(PARTITIONS)

    for _ in range(300):
        row = random.randrange(columns.end)
        new = random.choice(PARTITIONS)
        if random.random() < 0.5:
            old = expected[row]
            new = old._replace(isr=random.choice(PARTITIONS).isr, leader=2) if random.random() < 0.7 else new
            columns.change(row, old, new)
        else:
            columns.set(row, new)
        expected[row] = new

    assert [columns.get(row) for row in range(columns.end)] == expected


def test_growing_keeps_every_row():
    columns = columns_of(PARTITIONS)

    columns.append(5000)

    assert columns.capacity >= columns.end == len(PARTITIONS) + 5000
    assert [columns.get(row) for row in range(len(PARTITIONS))] == PARTITIONS


def test_a_partition_takes_at_most_64_bytes():
    columns = Columns()
    columns.append(10_000)

    arrays = [getattr(columns, name) for name in ("topic", "partition_id", "leader", "leader_epoch", "partition_epoch")]
    arrays += [columns.uncommon, *columns.replicas, *columns.isr, *columns.directories]
    assert sum(array.nbytes for array in arrays) <= 64 * columns.capacity


def test_replicas_that_a_reassignment_adds_do_not_widen_the_columns():
    columns = columns_of([partition(tuple(range(1, 7)), (1,), adding=(4, 5, 6))])
    assert columns.positions == 3

    columns.set(0, partition(tuple(range(1, 7)), (1,)))
    assert columns.positions == 6

    columns.set(0, partition(tuple(range(1, 20)), (1,)))
    assert columns.positions <= POSITIONS_MAX
    assert columns.get(0) == partition(tuple(range(1, 20)), (1,))


def test_a_copy_does_not_change_with_the_original():
    columns = columns_of(PARTITIONS)

    copy = ColumnsCopy(columns)
    columns.append(2000)
    for row in range(len(PARTITIONS)):
        columns.set(row, partition((9,), (9,), elr=(row,)))

    assert [copy.source(row).get(row) for row in range(copy.end)] == PARTITIONS


def test_rows_can_be_put_in_another_order():
    columns = columns_of(PARTITIONS)
    order = [4, 2, 10, 0]

    columns.arrange(np.array(order))

    assert columns.end == 4
    assert [columns.get(row) for row in range(4)] == [PARTITIONS[row] for row in order]


def test_unused_uncommon_values_are_dropped_once_there_are_many():
    columns = columns_of(PARTITIONS)
    for broker in range(10_000):
        columns.set(1, partition(elr=(broker,)))
    before = len(columns.uncommon_values)

    columns.clear_out()

    assert before > 10_000
    assert len(columns.uncommon_values) < 20
    assert columns.get(1) == partition(elr=(9999,))
    assert columns.get(10) == PARTITIONS[10]
    assert columns.uncommon[0] == COMMON


def test_reserved_directory_ids_have_the_first_numbers():
    ids = DirectoryIds()

    assert [ids.number(id_) for id_ in (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY)] == [
        MIGRATING,
        UNASSIGNED,
        LOST,
    ]
    assert ids.number(b"x" * 16) == ids.number(b"x" * 16) == 3
    assert ids.ids[3] == b"x" * 16


def test_numbering_many_directories_equals_numbering_each():
    random = Random(1)
    known = [random.randbytes(16) for _ in range(50)]
    # The same sum of halves, the same halves exchanged: what a key that is not careful would take for one.
    known += [half + other for half in (b"a" * 8, b"b" * 8) for other in (b"a" * 8, b"b" * 8)]
    ids, one_by_one = DirectoryIds(), DirectoryIds()

    for _ in range(3):
        wanted = [random.choice(known) for _ in range(300)]
        matrix = np.frombuffer(b"".join(wanted), np.uint8).reshape(100, 3, 16)
        numbers = ids.numbers_of(matrix)

        assert [ids.ids[number] for number in numbers.ravel()] == wanted
        assert numbers.ravel().tolist() == [one_by_one.number(id_) for id_ in wanted]

    assert ids.numbers_of(np.empty((4, 0, 16), np.uint8)).shape == (4, 0)
