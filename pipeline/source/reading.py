"""Reading ranges: their rows as Arrow batches, restricted to the wanted offsets, types and columns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pipeline.source.columns import batch_of, batch_of_findings
from pipeline.source.ranges import Finding, Range
from pipeline.source.rows import rows_of
from records.batch import CorruptBatch, read_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pipeline.source.rows import Rows

# Bytes that are decoded together: more are not faster, as they do not fit into the CPU caches.
PIECE_BYTES = 1 << 20
_FINDINGS_PER_PART = 10_000
_EVERY = (0, (1 << 63) - 1)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The wanted records. Offsets: low inclusive, high exclusive. types: None for all.

    A row that is not a record has no type, and is left out if types are given.
    """

    offsets: tuple[int, int] = _EVERY
    types: frozenset[int] | None = None

    def within(self, base_offset: int, end_offset: int) -> Wanted:
        """The wanted records within these offsets."""
        low, high = self.offsets
        return Wanted((max(low, base_offset), min(high, end_offset)), self.types)

    def of(self, rows: Rows, source: Range) -> NDArray[np.bool_] | None:
        """Which rows are wanted; None for all of them."""
        if source.checkpoint_end_offset >= 0:
            keep = np.full(len(rows), self.offsets[0] <= source.checkpoint_end_offset - 1 < self.offsets[1])
        else:
            keep = (rows.offset >= self.offsets[0]) & (rows.offset < min(self.offsets[1], source.until))
        if self.types is not None:
            keep &= np.isin(rows.type, list(self.types))
        return None if keep.all() else keep


class Findings(NamedTuple):
    """Findings of a plan, as a part that reads itself."""

    findings: Sequence[Finding]

    def read(self, schema: Any, wanted: Wanted) -> Iterator[Any]:
        """A row for each."""
        del wanted
        yield batch_of_findings(self.findings, schema)


def finding_parts(findings: Sequence[Finding]) -> list[Findings]:
    """The findings in parts that a task takes at once."""
    step = _FINDINGS_PER_PART
    return [Findings(findings[start : start + step]) for start in range(0, len(findings), step)]


def read_part(part: Any, schema: Any, wanted: Wanted) -> Iterator[Any]:
    """The rows of one part of a plan, as pyarrow.RecordBatches. part: a `Range`, or a part that reads
    itself: of a live quorum, or findings.
    """
    return read_range(part, schema, wanted) if isinstance(part, Range) else part.read(schema, wanted)


def read_range(source: Range, schema: Any, wanted: Wanted) -> Iterator[Any]:
    """The records of a range as pyarrow.RecordBatches, in order.

    A file that changed since its ranges were determined gives one row that says so.
    """
    try:
        data = _bytes_of(source)
        first = read_header(data)
        if first is None or first.base_offset != source.base_offset:
            held = "nothing" if first is None else f"offset {first.base_offset}"
            raise ChangedFile(f"{held} is where the batch of offset {source.base_offset} was")
        yield from decode(data, source, schema, wanted)
    except (OSError, CorruptBatch, ChangedFile) as error:
        yield batch_of_findings([_change_finding(source, str(error))], schema)


class ChangedFile(Exception):
    """A file changed after its ranges were determined."""


def decode(data: bytes, source: Range, schema: Any, wanted: Wanted) -> Iterator[Any]:
    """The records of whole batches; raises CorruptBatch if the bytes are not batches."""
    position = 0
    while position < len(data):
        begin, batches = position, []
        while position < len(data) and position - begin < PIECE_BYTES:
            batch = read_header(data, position)
            if batch is None:
                raise ChangedFile(f"at byte {source.start + position} the batch that ended there has changed")
            batches.append(batch._replace(position=position - begin))
            position += batch.size
        rows = rows_of(data[begin:position], batches, file_position=source.start + begin)
        record_batch = batch_of(rows, wanted.of(rows, source), source, schema)
        if record_batch.num_rows:
            yield record_batch


def _bytes_of(source: Range) -> bytes:
    descriptor = os.open(source.path, os.O_RDONLY)
    try:
        size = source.end - source.start
        out = bytearray()
        while len(out) < size:
            part = os.pread(descriptor, min(size - len(out), 1 << 30), source.start + len(out))
            if not part:
                raise ChangedFile(f"it ends at byte {source.start + len(out)}, and was to be read to {source.end}")
            out += part
        return bytes(out)
    finally:
        os.close(descriptor)


def _change_finding(source: Range, problem: str) -> Finding:
    line = f"{source.path}, byte {source.start}: it changed while it was read: {problem}"
    return Finding(
        source.cluster_id, source.node_id, source.path, source.start, source.base_offset, "changed", line,
        source.checkpoint_end_offset,
    )  # fmt: skip
