"""Taking batches of a log into an image, from bytes that may end within a batch."""

from __future__ import annotations

from struct import Struct

from controller.offline.log_file import DamagedLog, StoredBatch
from controller.offline.metadata_values import MetadataError, metadata_record
from controller.offline.stored_records import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from controller.offline.image import Image

_START = Struct(">qi")
_OVERHEAD = 12  # base offset and length
HEADER_BYTES = 61


def take_in(image: Image, data: bytes, offset: int, end_offset: int | None) -> tuple[int, int] | None:
    """Take in the whole batches of `data` from an offset on; the new end (exclusive) and the epoch of the last batch.

    A batch that reaches `end_offset` (exclusive; None for no bound), or that `data` does not hold whole, ends it. None
    where nothing was taken in. A record that cannot be read is a problem of the image. Raises DamagedLog where a batch
    is not intact, or its offsets do not go on from those before.
    """
    position = 0
    taken: tuple[int, int] | None = None
    while len(data) - position >= HEADER_BYTES:
        base_offset, length = _START.unpack_from(data, position)
        if length < HEADER_BYTES - _OVERHEAD:
            raise DamagedLog(f"a batch of {length} bytes at offset {base_offset}")
        size = _OVERHEAD + length
        if position + size > len(data):
            break
        batch = StoredBatch(position, data[position : position + size])
        if not batch.is_intact():
            raise DamagedLog(f"the CRC of the batch at offset {base_offset} does not fit its bytes")
        position += size
        if batch.last_offset < offset:
            continue  # a Fetch begins with the batch that holds the offset asked for
        if end_offset is not None and batch.last_offset >= end_offset:
            break
        if base_offset != offset:
            raise DamagedLog(f"the batch at offset {base_offset} does not follow offset {offset}")
        take_batch(image, batch)
        offset = batch.last_offset + 1
        taken = offset, batch.leader_epoch
    return taken


def take_batch(image: Image, batch: StoredBatch) -> None:
    """Take in one batch. A control batch changes nothing but where the image is."""
    records: list[tuple[Any, int]] = []
    if not batch.is_control:
        for record in records_of(batch):
            try:
                records.append((metadata_record(record.value)[0], record.offset))
            except MetadataError as error:
                image.problem(record.offset, f"unable to read metadata record: {error}")
    image.take_batch(records, batch.last_offset, batch.leader_epoch, batch.max_timestamp)


def last_log_time_ms(snapshot: bytes) -> int:
    """When the last record that a snapshot stands for was written, by its header; -1 where it does not say."""
    from records.batch import CorruptBatch, read_header
    from records.control_batch import SNAPSHOT_HEADER, control_records_of

    try:
        batch = read_header(snapshot, 0)
        found = [] if batch is None else control_records_of(snapshot, batch)
    except CorruptBatch:
        return -1
    return next((value.last_contained_log_timestamp for _, kind, value in found if kind == SNAPSHOT_HEADER), -1)


def whole_bytes(data: bytes) -> int:
    """How many bytes at the start of `data` are whole batches."""
    position = 0
    while len(data) - position >= _OVERHEAD:
        size = _OVERHEAD + max(_START.unpack_from(data, position)[1], 0)
        if size <= _OVERHEAD or position + size > len(data):
            break
        position += size
    return position


def last_batch(data: bytes) -> int:
    """Where the last of the whole batches in `data` begins."""
    position = last = 0
    while position < len(data):
        last = position
        position += _OVERHEAD + _START.unpack_from(data, position)[1]
    return last
