"""From a handler's records to record batches: one for an operation, or several as a metadata transaction (KIP-868).

The active controller replays records when it appends them. If the quorum loses them, their changes are undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from controller.core.partition_columns import Part, in_columns, replay_parts
from controller.state.partitions.bulk_changes import Group, PartitionChanges
from controller.state.partitions.first_partitions import FirstPartitions
from records.batch import HEADER_BYTES, seal
from records.bulk.rows import Rows, batch_body, partition_changes
from records.errors import ApiError, Error
from records.features.record_versions import TRANSACTIONS, partition_version
from records.frame import encode_record
from records.metadata.transactions import BeginTransactionRecord, EndTransactionRecord
from records.wire import EncodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controller.interface.env import Env
    from controller.interface.results import Item
    from controller.state.state import State

# At most what a batch adds to a record's value: length, attributes, timestamp and offset deltas, key, value length,
# header count.
FRAMING_BYTES_MAX = 20
# The batches of an operation that does not fit in one are smaller: a standby reads each as a whole, in some 3 ms.
PART_BYTES = 512 << 10
# The pieces that are framed between two pauses, in 0.02 ms, or 1 ms where each is 500 partitions.
FRAMED = 10


class Batch(NamedTuple):
    """One record batch, complete in its bytes."""

    base_offset: int
    last_offset: int
    data: bytes


class Piece(NamedTuple):
    """A record, a group of partition changes, or partitions of a new topic, with its bytes."""

    what: Any
    encoded: bytes | Rows

    @property
    def record_count(self) -> int:
        return 1 if isinstance(self.encoded, bytes) else len(self.encoded)

    @property
    def record_bytes_max(self) -> int:
        """The greatest number of bytes that one of the records takes in a batch."""
        value = self.encoded
        return FRAMING_BYTES_MAX + (len(value) if isinstance(value, bytes) else value.value_size)

    def part(self, start: int, end: int) -> Piece:
        """Some of the records of a group."""
        assert isinstance(self.encoded, Rows)
        chosen = slice(start, end)
        return Piece(self.what.part(chosen), self.encoded[chosen])


def write(state: State, env: Env, items: Sequence[Item], *, atomic: bool = True) -> list[Batch]:
    """Replay records, from `env.next_offset` on, and make their batches; at least one record.

    atomic: where they are too many for one batch and metadata.version knows no transactions, refuse them; else they
    are cut into several batches, as Kafka does. Raises ApiError(POLICY_VIOLATION), with nothing done, where they
    cannot be written.
    """
    bytes_max = env.settings.metadata_max_batch_size_in_bytes
    try:
        pieces = encode_items(state, env, items)
    except EncodeError as error:  # such as a text that is made of two of a request, and longer than one may be
        raise too_large(str(error)) from None
    chunks = split_into_batches(env.slices.spread(pieces), bytes_max)
    if len(chunks) > 1:
        largest = HEADER_BYTES + max(piece.record_bytes_max for piece in pieces)
        chunks = split_into_batches(env.slices.spread(pieces), min(bytes_max, max(PART_BYTES, largest)))
        if state.metadata_version >= TRANSACTIONS and state.transaction_start < 0:
            begin, end = BeginTransactionRecord(), EndTransactionRecord()
            chunks.insert(0, [Piece(begin, encode_record(begin, 0))])
            chunks.append([Piece(end, encode_record(end, 0))])
        elif atomic:
            raise too_large(f"the records do not fit in one batch of {bytes_max} bytes")
    framed = [frame(env, chunk) for chunk in chunks]
    assert state.end_offset == env.next_offset, (state.end_offset, env.next_offset)
    env.slices.apply()
    bodies = [
        (replay(state, env, chunk, count), body, count) for chunk, (body, count) in zip(chunks, framed, strict=True)
    ]
    # Only when all are replayed: until then a long step may be abandoned.
    env.next_offset = state.end_offset
    return [
        Batch(base_offset, base_offset + count - 1, seal(body, count, base_offset, env.epoch, env.wall_ms))
        for base_offset, body, count in bodies
    ]


def frame(env: Env, pieces: Sequence[Piece]) -> tuple[bytes, int]:
    """The body of one batch, and the number of its records."""
    bodies, count = [], 0
    for start in range(0, len(pieces), FRAMED):
        env.slices.pause()
        body, framed = batch_body([piece.encoded for piece in pieces[start : start + FRAMED]], count)
        bodies.append(body)
        count += framed
    return b"".join(bodies), count


def replay(state: State, env: Env, pieces: Sequence[Piece], count: int) -> int:
    """Replay one batch of so many records; returns its first offset."""
    base_offset = offset = state.end_offset
    parts = []
    for piece in env.slices.spread(pieces):
        if isinstance(piece.what, Group):
            state.replay_changes(PartitionChanges([piece.what]), offset)
        elif isinstance(piece.what, Part):
            parts.append(piece.what)
        else:
            state.replay(piece.what, offset)
        offset += piece.record_count
    if parts:
        replay_parts(state, parts, offset - 1, env.slices)
    assert offset == base_offset + count == state.end_offset, (base_offset, count, offset, state.end_offset)
    return base_offset


def encode_items(state: State, env: Env, items: Sequence[Item]) -> list[Piece]:
    """The records with their bytes, in the order of the log."""
    first = [item for item in items if item.__class__ is FirstPartitions]
    columns = in_columns(first, state.rows_min, env.slices) if first else {}
    pieces: list[Piece] = []
    for item in items:
        env.slices.pause()
        if isinstance(item, FirstPartitions):
            if item in columns:
                pieces += [Piece(part, part.encoded_rows()) for part in columns[item]]
            else:
                records = env.slices.spread(item.records())
                pieces += [Piece(record, encode_record(record, item.version)) for record in records]
            continue
        if not isinstance(item, PartitionChanges):
            record, version = item
            pieces.append(Piece(record, encode_record(record, version)))
            continue
        version = partition_version(state.metadata_version)
        partitions = state.partitions
        for group in item.groups:
            topic_ids, partition_ids = partitions.topic_ids_at(group.rows), partitions.partition_ids_at(group.rows)
            pieces.append(Piece(group, partition_changes(version, topic_ids, partition_ids, **group.fields)))
    return pieces


def split_into_batches(pieces: Iterable[Piece], bytes_max: int) -> list[list[Piece]]:
    """The records in lists, of which each fits in a batch of `bytes_max`; none is empty.

    Raises ApiError(POLICY_VIOLATION) where one record alone is too large.
    """
    chunks: list[list[Piece]] = [[]]
    left = room = bytes_max - HEADER_BYTES
    for piece in pieces:
        size = piece.record_bytes_max
        if size > room:
            raise too_large(f"a record of {size} bytes does not fit in a batch of {bytes_max} bytes")
        start, count = 0, piece.record_count
        while start < count:
            fitting = min(left // size, count - start)
            if fitting == 0:
                chunks.append([])
                left = room
                continue
            chunks[-1].append(piece if fitting == count else piece.part(start, start + fitting))
            left -= fitting * size
            start += fitting
    return chunks


def too_large(text: str) -> ApiError:
    return ApiError(Error.POLICY_VIOLATION, f"Unable to perform excessively large batch operation: {text}.")
