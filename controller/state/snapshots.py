"""A view as the record batches of a snapshot, in steps short enough to alternate with other work (KIP-630)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from controller.state.partitions.columns import MIGRATING, NOBODY, POSITIONS_MAX
from controller.state.partitions.sets import distinct
from controller.state.partitions.uncommon_fields import COMMON
from controller.state.records_of import SECTIONS, partition_at, partitions
from records.batch import seal
from records.bulk.rows import batch_body
from records.bulk.rows import partitions as partition_rows
from records.features.record_versions import partition_version
from records.frame import encode_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from controller.state.partitions.columns import Columns, Int32s
    from controller.state.partitions.partitions import Rows
    from controller.state.records_of import Section
    from controller.state.view import View
    from records.bulk.rows import Rows as Encoded

    # The encoded records of one step, and whether no other follows, where that is known.
    Step = tuple[Sequence[Encoded | bytes], bool]

# The version of PartitionRecord that first had them.
DIRECTORIES_SINCE = 1

# A batch ends with the step that reaches so many partitions, other records, or bytes. 4,096 partitions in one batch are
# read in 0.6 of the time of four of 1,024; other records are read one by one.
BATCH_PARTITIONS = 4096
BATCH_RECORDS = 1024
BATCH_BYTES = 512 << 10
# Partitions, and other records, that are encoded in one step.
STEP_PARTITIONS = 1024
STEP_RECORDS = 64


def batches(
    view: View, *, base_offset: int, leader_epoch: int, timestamp_ms: int, records_max: int = BATCH_PARTITIONS
) -> Iterator[bytes]:
    """The data batches of a snapshot; each is one step of the iterator.

    base_offset: of the first record, behind the header. leader_epoch, timestamp_ms: of every batch. records_max: a
    batch ends with the step that reaches it, too. Raises UnwritableMetadataError where metadata.version cannot express
    the metadata.
    """
    for body, count in filter(None, steps(view, records_max)):
        yield seal(body, count, base_offset, leader_epoch, timestamp_ms)
        base_offset += count


def steps(view: View, records_max: int = BATCH_PARTITIONS) -> Iterator[tuple[bytes, int] | None]:
    """The encoded records of each data batch and their count, offset deltas from 0, in short steps, of less than a
    millisecond for partitions with few replicas; None: the batch needs more of them. A view can be read once.

    Raises UnwritableMetadataError where metadata.version cannot express the metadata.
    """
    at = SECTIONS.index(partitions)
    others_max = min(records_max, BATCH_RECORDS)
    others = min(records_max, STEP_RECORDS)
    # Partitions are in batches of their own: they go by columns.
    yield from _fill_batches(_one_by_one(view, SECTIONS[:at], others), others_max)
    yield from _fill_batches(_partition_steps(view, min(STEP_PARTITIONS, records_max)), records_max)
    yield from _fill_batches(_one_by_one(view, SECTIONS[at + 1 :], others), others_max)


def _fill_batches(encoded: Iterable[Step], records_max: int) -> Iterator[tuple[bytes, int] | None]:
    """The batches of these steps, each of as many steps as it has room for; None after a step that leaves room."""
    pieces: list[bytes] = []
    count = size = 0
    for parts, is_last in encoded:
        piece, added = batch_body(parts, count)
        pieces.append(piece)
        count += added
        size += len(piece)
        if is_last or count >= records_max or size >= BATCH_BYTES:
            yield b"".join(pieces), count
            pieces, count, size = [], 0, 0
        else:
            yield None
    if pieces:
        yield b"".join(pieces), count


def _groups(pieces: Iterable[Rows], size: int) -> Iterator[Rows]:
    """The same rows in groups of this size; only the last may be smaller."""
    rows = np.empty(0, np.intp)
    for piece in pieces:
        rows = np.concatenate((rows, piece))
        while len(rows) >= size:
            yield rows[:size]
            rows = rows[size:]
    if len(rows):
        yield rows


def _one_by_one(view: View, sections: Iterable[Section], step: int) -> Iterator[Step]:
    records = (encoded for section in sections for encoded in section(view))
    while more := [encode_record(record, version) for record, version in islice(records, step)]:
        yield more, False


def _partition_steps(view: View, step: int) -> Iterator[Step]:
    for rows in _groups(view.columns.living(), step):
        yield _by_columns(view, rows), len(rows) < step
        view.columns.pass_to(int(rows[-1]) + 1)


def _by_columns(view: View, rows: Rows) -> list[Encoded | bytes]:
    """The PartitionRecords of some rows: by columns those of one shape, one by one those with uncommon fields."""
    columns = view.columns.source(rows)
    version = partition_version(view.metadata_version)
    replica_count = _lengths(columns.replicas, rows)
    isr_count = _lengths(columns.isr, rows)
    is_uncommon = columns.uncommon[rows] != COMMON
    if version < DIRECTORIES_SINCE:
        # What was assigned cannot be said, and is refused as any such record is.
        for column in columns.directories:
            is_uncommon |= column[rows] > MIGRATING
    shapes = np.where(is_uncommon, -1, replica_count * (POSITIONS_MAX + 1) + isr_count)
    parts: list[Encoded | bytes] = []
    for shape in distinct(shapes).tolist():
        chosen = rows[shapes == shape]
        if shape < 0:
            parts += [encode_record(partition_at(view, row), version) for row in chosen.tolist()]
        else:
            parts.append(_of_shape(view, columns, chosen, version, *divmod(shape, POSITIONS_MAX + 1)))
    return parts


def _of_shape(view: View, columns: Columns, rows: Rows, version: int, replica_count: int, isr_count: int) -> Encoded:
    directory_ids = columns.directory_ids.matrix()
    return partition_rows(
        version,
        view.topic_ids[columns.topic[rows]],
        columns.partition_id[rows],
        replicas=_matrix(columns.replicas, rows, replica_count),
        isr=_matrix(columns.isr, rows, isr_count),
        leader=columns.leader[rows],
        leader_epoch=columns.leader_epoch[rows],
        partition_epoch=columns.partition_epoch[rows],
        directories=directory_ids[_matrix(columns.directories, rows, replica_count)]
        if version >= DIRECTORIES_SINCE
        else None,
    )


def _lengths(columns: list[Int32s], rows: Rows) -> NDArray[np.intp]:
    count = np.zeros(len(rows), np.intp)
    for column in columns:
        count += column[rows] != NOBODY
    return count


def _matrix(columns: list[Int32s], rows: Rows, width: int) -> Int32s:
    """The first positions of these rows, of shape (n, width)."""
    matrix = np.empty((len(rows), width), np.int32)
    for position in range(width):
        matrix[:, position] = columns[position][rows]
    return matrix
