"""The records of a stored batch by columns, where these have the same effect as the records one by one.

It imports numpy, so a tool imports it only for a file that may hold many partitions.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

# No tool needs the threads of a linear algebra library; the variable must be set before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from records.batch import CorruptBatch, read_header
from records.bulk.bulk_scan import scan
from records.bulk.bulk_shapes import Columns
from records.frame import decode_record
from records.metadata.topics import TopicRecord
from records.wire import DecodeError
from tools.offline.image import COLUMNS_MIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from tools.offline.log_file import StoredBatch


class Decoded:
    """A record that is read by itself."""

    __slots__ = ("offset", "record")

    def __init__(self, offset: int, record: Any) -> None:
        self.offset = offset
        self.record = record


def scan_batch(batch: StoredBatch) -> list[Columns | Decoded] | None:
    """The records of a data batch, in an order that has the same effect as that of the log.

    None if they must be read one by one: the batch is small or damaged, a record cannot be decoded, a record of a
    partition comes before that of its topic, or two topics have one id or name. Whether the records contradict the
    state is not checked.
    """
    if batch.record_count < COLUMNS_MIN:
        return None
    try:
        header = read_header(batch.data)
        if header is None:
            return None
        found: list[Columns | Decoded] = [
            each if isinstance(each, Columns) else Decoded(each.offset, decode_record(each.value)[0])
            for each in scan(batch.data, header)
        ]
    except (CorruptBatch, DecodeError):
        return None
    return found if _is_after_topics(found) else None


def _is_after_topics(found: list[Columns | Decoded]) -> bool:
    """Whether each record of a partition comes after that of its topic, if both are in this batch; the topics must have
    an id and a name of their own, as the last one of a name counts.
    """
    topics: dict[bytes, int] = {}
    names: set[str] = set()
    count = 0
    for each in found:
        if isinstance(each, Columns):
            if each.names is not None:
                topics.update(zip(map(bytes, each.topic_ids), each.offsets.tolist(), strict=True))
                names.update(each.names)
                count += len(each)
        elif isinstance(each.record, TopicRecord):
            topics[each.record.topic_id] = each.offset
            names.add(each.record.name)
            count += 1
    if min(len(topics), len(names)) < count:
        return False
    return not topics or all(
        offset >= topics.get(topic_id, -1) for each in found for topic_id, offset in _uses_of_topics(each)
    )


def _uses_of_topics(each: Columns | Decoded) -> Iterator[tuple[bytes, int]]:
    """The topics that records name by their ids, with the offset of the first in each run."""
    if isinstance(each, Decoded):
        yield getattr(each.record, "topic_id", b""), each.offset
    elif each.names is None:
        starts = run_starts(each.topic_ids)
        yield from zip(map(bytes, each.topic_ids[starts]), each.offsets[starts].tolist(), strict=True)


def run_starts(topic_ids: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Where runs of records of one topic start."""
    halves = np.ascontiguousarray(topic_ids).view(np.uint64)
    return np.concatenate(([0], np.flatnonzero((halves[1:] != halves[:-1]).any(axis=1)) + 1))
