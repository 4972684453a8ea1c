"""Replaying batches of a log into an image, from bytes that may end within a batch."""

from __future__ import annotations

import os
from struct import Struct
from typing import NamedTuple

from tools.offline.image import COLUMNS_MIN, LARGE_BYTES
from tools.offline.log_file import DamagedLog, InvalidRecord, StoredBatch
from tools.offline.metadata_values import MetadataError, metadata_record
from tools.offline.stored_records import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tools.offline.image import Image

_START = Struct(">qi")
_OVERHEAD = 12  # base offset and length
HEADER_BYTES = 61
WINDOW_BYTES = 16 << 20


class Taken(NamedTuple):
    """The result of a replay. end_offset: exclusive; epoch: of the last batch, None if none; position: after it.

    is_refused: the next batch was not admitted.
    """

    end_offset: int
    epoch: int | None
    position: int
    is_refused: bool = False


def take_in(
    image: Image, data: bytes, offset: int, end_offset: int | None, admits: Callable[[StoredBatch], bool] | None = None
) -> Taken:
    """Replay the complete batches of `data` from an offset on.

    It stops before a batch that ends beyond `end_offset` (exclusive; None for no bound), an incomplete batch, and a
    batch that is damaged or does not follow the one before; if that is the first batch, it raises DamagedLog. Batches
    below the offset are skipped. A record that cannot be read becomes a problem of the image. admits: asked before each
    batch is replayed; the replay ends at the first that it refuses.
    """
    taken = Taken(offset, None, 0)
    while True:
        try:
            batch = _batch_at(data, taken.position, taken.end_offset)
        except DamagedLog:
            if taken.position:
                return taken
            raise
        if batch is None or (end_offset is not None and batch.last_offset >= end_offset):
            return taken
        position = taken.position + len(batch.data)
        if batch.last_offset < taken.end_offset:
            taken = taken._replace(position=position)  # a Fetch response begins with the batch that has the offset
            continue
        if admits is not None and not admits(batch):
            return taken._replace(is_refused=True)
        take_batch(image, batch)
        taken = Taken(batch.last_offset + 1, batch.leader_epoch, position)


def take_checkpoint(
    image: Image, path: str, end_offset: int, epoch: int, note: Callable[[int], None] = lambda _bytes: None
) -> None:
    """Replay a whole checkpoint, which ends at an offset (exclusive) and an epoch, into an empty image.

    note: called with the bytes of each part that was replayed. Raises DamagedLog, OSError.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs 10 ms
        size = os.fstat(file.fileno()).st_size
        image.is_large = size >= LARGE_BYTES
        position = offset = 0
        time_ms = -1
        window = WINDOW_BYTES
        while position < size:
            file.seek(position)
            data = file.read(min(window, size - position))
            whole = whole_bytes(data)
            if not whole and len(data) == window:
                window *= 2
                continue
            try:
                taken = take_in(image, data[:whole] if whole else data, offset, None)
            except DamagedLog as error:
                if position == 0 or isinstance(error, InvalidRecord):
                    raise
                taken = Taken(offset, None, 0)
            if not taken.position:
                raise DamagedLog(f"{path} is damaged")
            if position == 0:
                time_ms = last_log_time_ms(data)
            position += taken.position
            offset = taken.end_offset
            note(taken.position)
    image.last_offset, image.last_epoch, image.last_time_ms = end_offset - 1, epoch, time_ms


def _batch_at(data: bytes, position: int, offset: int) -> StoredBatch | None:
    """The batch at a position; None if it is incomplete. Raises DamagedLog if it cannot be replayed."""
    if len(data) - position < HEADER_BYTES:
        return None
    base_offset, length = _START.unpack_from(data, position)
    if length < HEADER_BYTES - _OVERHEAD:
        raise DamagedLog(f"a batch of {length} bytes at offset {base_offset}")
    size = _OVERHEAD + length
    if position + size > len(data):
        return None
    batch = StoredBatch(position, data[position : position + size])
    if not batch.is_intact():
        raise DamagedLog(f"the CRC of the batch at offset {base_offset} does not fit its bytes")
    if batch.last_offset >= offset != base_offset:
        raise DamagedLog(f"the batch at offset {base_offset} does not follow offset {offset}")
    return batch


def take_batch(image: Image, batch: StoredBatch) -> None:
    """Replay one batch."""
    records: list[tuple[Any, int]] = []
    if take_columns(image, batch):
        return
    if batch.is_control:
        image.take_control(batch)
    else:
        for record in records_of(batch):
            try:
                records.append((metadata_record(record.value)[0], record.offset))
            except MetadataError as error:
                image.problem(record.offset, f"unable to read metadata record: {error}")
    image.take_batch(records, batch.last_offset, batch.leader_epoch, batch.max_timestamp)


def take_columns(image: Image, batch: StoredBatch) -> bool:
    """Replay a large data batch by columns; False, with nothing done, where its records must be replayed one by one."""
    if batch.is_control or batch.record_count < COLUMNS_MIN or not image.is_open_to_columns():
        return False
    if image.columns is None:
        from tools.offline.partition_columns import PartitionColumns

        image.columns = PartitionColumns()
    is_taken: bool = image.columns.take_batch(image, batch)
    return is_taken


def last_log_time_ms(snapshot: bytes) -> int:
    """When the last record that a snapshot covers was written, by the snapshot's header; -1 if it does not say."""
    from records.batch import CorruptBatch, read_header
    from records.control_batch import SNAPSHOT_HEADER, control_records_of

    try:
        batch = read_header(snapshot, 0)
        controls = [] if batch is None else control_records_of(snapshot, batch)
    except CorruptBatch:
        return -1
    return next((value.last_contained_log_timestamp for _, kind, value in controls if kind == SNAPSHOT_HEADER), -1)


def whole_bytes(data: bytes) -> int:
    """How many bytes at the start of `data` are complete batches."""
    position = 0
    while len(data) - position >= _OVERHEAD:
        size = _OVERHEAD + max(_START.unpack_from(data, position)[1], 0)
        if size <= _OVERHEAD or position + size > len(data):
            break
        position += size
    return position


def last_batch(data: bytes) -> int:
    """The position of the last complete batch in `data`."""
    position = last = 0
    while position < len(data):
        last = position
        position += _OVERHEAD + _START.unpack_from(data, position)[1]
    return last
