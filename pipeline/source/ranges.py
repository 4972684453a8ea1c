"""Cutting a copy of the log into byte ranges at batch boundaries, so that they can be read in parallel.

Batch boundaries can only be found by reading all headers, which takes 1 µs a batch. This also finds damage: torn tails,
bytes that are not a batch, missing offsets.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from raft.storage.names import snapshot_id
from records.batch import HEADER_BYTES, MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.source.directories import Copy, LogFile

RANGE_BYTES = 32 << 20
# The largest batch of the metadata log that is read: stock leaders write up to 8 MiB.
BATCH_BYTES_MAX = 1 << 30

_HEADER = Struct(">qiib4xhiqqqhii")
_END = (1 << 63) - 1


class Range(NamedTuple):
    """Successive batches in a file. end: exclusive; so is end_offset. Times are in ms.

    checkpoint_end_offset: of the file if it is a checkpoint, or -1 for a segment. until: records from this offset on
    are not read from here. epoch: of the last batch.
    """

    cluster_id: str
    node_id: int | None
    path: str
    start: int
    end: int
    base_offset: int
    end_offset: int
    min_time_ms: int
    max_time_ms: int
    checkpoint_end_offset: int = -1
    until: int = _END
    epoch: int = -1


def of_no_file(part: Any, base_offset: int, end_offset: int) -> Range:
    """The source of rows that are in no file. part: a range or snapshot of a live quorum."""
    return Range(part.cluster_id, None, "", 0, 0, base_offset, end_offset, part.min_time_ms, part.max_time_ms)


class Finding(NamedTuple):
    """A defect found in a log. kind: as in the table `records`. problem: one line."""

    cluster_id: str | None
    node_id: int | None
    path: str | None
    position: int | None
    offset: int | None
    kind: str
    problem: str
    checkpoint_end_offset: int = -1


class Walk:
    """The batches of one file. After `run` the attributes hold the ranges, the findings, and where the file ended.

    end: the first byte after the whole batches; end_offset: the offset after the last; epoch: of the last, and
    passed_epoch of the last that was skipped.
    """

    def __init__(self, copy: Copy, file: LogFile, *, is_checkpoint: bool = False) -> None:
        self.copy = copy
        self.file = file
        self.checkpoint_end_offset = file.offset if is_checkpoint else -1
        self.findings: list[Finding] = []
        self.ranges: list[Range] = []
        self.end = 0
        self.base_offset = self.end_offset = 0 if is_checkpoint else file.offset
        self.epoch = self.passed_epoch = -1

    def find(self, kind: str, position: int, offset: int, problem: str) -> None:
        """Add a finding."""
        copy = self.copy
        line = f"{self.file.path}, byte {position}: {problem}"
        finding = Finding(
            copy.cluster_id, copy.node_id, self.file.path, position, offset, kind, line, self.checkpoint_end_offset
        )
        self.findings.append(finding)

    def run(self, *, range_bytes: int = RANGE_BYTES, is_last: bool = False, from_offset: int = 0) -> Walk:
        """Read all headers. is_last: a torn tail is no finding, since the file may still be written.

        from_offset: batches that end at or before it are skipped.
        """
        try:
            descriptor = os.open(self.file.path, os.O_RDONLY)
        except OSError as error:
            self.find("changed", 0, self.file.offset, f"it cannot be opened any more: {error.strerror}")
            return self
        try:
            size = os.fstat(descriptor).st_size
            if size < self.file.size:
                problem = f"it has {size} bytes, and had {self.file.size} when it was found"
                self.find("changed", size, self.file.offset, problem)
            if size:
                with mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) as data:
                    self._walk(data, size, range_bytes, from_offset, is_last)
        finally:
            os.close(descriptor)
        return self

    def _walk(self, data: mmap.mmap, size: int, range_bytes: int, from_offset: int, is_last: bool) -> None:
        position = start = 0
        first = expected = self.end_offset
        low, high = _END, -_END
        unpack = _HEADER.unpack_from
        while position + HEADER_BYTES <= size:
            base, length, epoch, magic, _, delta, base_time, max_time, _, _, _, count = unpack(data, position)
            after = position + 12 + length
            if (
                magic != MAGIC
                or not HEADER_BYTES - 12 <= length <= BATCH_BYTES_MAX
                or base < 0
                or delta < 0
                or count < 0
            ):
                if not any(data[position : position + HEADER_BYTES]):
                    if not is_last:
                        self.find("torn", position, expected, f"{size - position} bytes were never written")
                else:
                    problem = f"no batch begins here; {size - position} bytes to the end of the file cannot be read"
                    self.find("corrupt", position, expected, problem)
                break
            if after > size:
                if not is_last:
                    problem = f"the file ends {after - size} bytes before the batch of offset {base} does"
                    self.find("torn", position, expected, problem)
                break
            if base > expected:
                self.find("gap", position, expected, f"offsets {expected} to {base - 1} are missing")
            elif base < expected:
                problem = f"the batch of offset {base} comes where {expected} is due; it is passed over"
                self.find("corrupt", position, expected, problem)
            if base < expected or base + delta < from_offset:
                self.passed_epoch = epoch
                # Passed over: what is before it is a range of its own.
                self._cut(start, position, first, expected, low, high)
                start, low, high = after, _END, -_END
                first = expected = max(base + delta + 1, expected)
            else:
                if start == position:
                    first = base
                expected = base + delta + 1
                low, high = min(low, base_time, max_time), max(high, base_time, max_time)
                if after - start >= range_bytes:
                    self._cut(start, after, first, expected, low, high)
                    start, low, high = after, _END, -_END
                    first = expected
            self.epoch = epoch
            position = after
        else:
            if position < size and not is_last:
                self.find("torn", position, expected, f"the last {size - position} bytes are less than a header")
        self._cut(start, position, first, expected, low, high)
        self.end = position
        self.end_offset = expected

    def _cut(self, start: int, end: int, base_offset: int, end_offset: int, low: int, high: int) -> None:
        if end > start:
            copy = self.copy
            range_ = Range(
                copy.cluster_id, copy.node_id, self.file.path, start, end, base_offset, end_offset, low, high,
                self.checkpoint_end_offset, _END, self.epoch,
            )  # fmt: skip
            self.ranges.append(range_)


class Plan(NamedTuple):
    """What is read of a cluster: ranges in the order of the log, and findings.

    end_offset: the offset after the last record.
    """

    cluster_id: str
    ranges: tuple[Range, ...]
    findings: tuple[Finding, ...]
    end_offset: int

    def epoch_at(self, end_offset: int) -> int:
        """The epoch of the last batch before an offset at which a range ends; -1 if unknown."""
        return next((part.epoch for part in self.ranges if part.end_offset == end_offset), -1)


def plan(
    copies: list[Copy],
    *,
    range_bytes: int = RANGE_BYTES,
    from_offset: int = 0,
    from_epoch: int = -1,
    is_live: bool = False,
) -> Plan:
    """The log of one cluster, from its copies: the one with the highest end, and before its start those that begin
    earlier, so that the plan covers as much history as any copy has.

    Records before the start of that copy are committed, since a snapshot replaces them. from_offset: records below it
    were delivered before. from_epoch: of the last of them, -1 if unknown. is_live: a torn tail is left for later.
    """
    ends = {copy.directory: _last(copy) for copy in copies}
    furthest = max(copies, key=lambda copy: (ends[copy.directory], -_start(copy)))
    parts = [(furthest, _END)]
    for copy in sorted(copies, key=_start):
        if _start(copy) < _start(parts[0][0]) and copy is not furthest:
            parts.insert(0, (copy, _start(parts[0][0])))
            break
    ranges: list[Range] = []
    findings: list[Finding] = []
    expected = from_offset
    for copy, until in parts:
        for walk in _walks(copy, until, range_bytes, from_offset, is_live):
            covered = [range_._replace(until=until) for range_ in walk.ranges if range_.base_offset < until]
            # A log without records, as behind a snapshot, has what the snapshot replaces before it.
            base_offset, start = (covered[0].base_offset, covered[0].start) if covered else (walk.base_offset, 0)
            if expected < base_offset < until and walk.checkpoint_end_offset < 0:
                resumed = _checkpoint(copy, base_offset, range_bytes)
                problem = f"{copy.directory}: offsets {expected} to {base_offset - 1} are not there"
                if resumed is not None:
                    problem += f"; {resumed.file.path} replaces them"
                    ranges += resumed.ranges
                    findings += resumed.findings
                if expected > from_offset or resumed is None:
                    findings.append(
                        Finding(copy.cluster_id, copy.node_id, walk.file.path, start, expected, "gap", problem)
                    )
            ranges += covered
            findings += walk.findings
            if (
                from_epoch >= 0
                and walk.passed_epoch >= 0
                and expected == from_offset
                and from_epoch != walk.passed_epoch
            ):
                problem = (
                    f"{walk.file.path}: the record before offset {from_offset} is of epoch {walk.passed_epoch}, and "
                    f"was of {from_epoch} when it was delivered: what was not committed was cut off"
                )
                findings.append(
                    Finding(copy.cluster_id, copy.node_id, walk.file.path, 0, from_offset, "truncated", problem)
                )
            if walk.checkpoint_end_offset < 0:
                expected = max(expected, min(walk.end_offset, until))
    if not any(copy.segments for copy, _ in parts) and furthest.checkpoints:
        last = Walk(furthest, furthest.checkpoints[-1], is_checkpoint=True).run(range_bytes=range_bytes)
        if furthest.checkpoints[-1].offset > from_offset:
            ranges += last.ranges
            findings += last.findings
            expected = furthest.checkpoints[-1].offset
    return Plan(furthest.cluster_id, tuple(ranges), tuple(findings), expected)


def _walks(copy: Copy, until: int, range_bytes: int, from_offset: int, is_live: bool) -> Iterator[Walk]:
    """The segments of a copy that have offsets from `from_offset` on and below `until`."""
    if from_offset == 0 and copy.checkpoints and copy.checkpoints[0].offset == 0:
        yield Walk(copy, copy.checkpoints[0], is_checkpoint=True).run(range_bytes=range_bytes)
    for number, segment in enumerate(copy.segments):
        is_last = number == len(copy.segments) - 1
        if segment.offset >= until:
            return
        if not is_last and copy.segments[number + 1].offset <= from_offset:
            continue
        yield Walk(copy, segment).run(range_bytes=range_bytes, is_last=is_last and is_live, from_offset=from_offset)


def _checkpoint(copy: Copy, from_offset: int, range_bytes: int) -> Walk | None:
    """The first checkpoint after which the log continues, if there is one."""
    for file in copy.checkpoints:
        if file.offset >= max(from_offset, 1):
            return Walk(copy, file, is_checkpoint=True).run(range_bytes=range_bytes)
    return None


def _start(copy: Copy) -> int:
    return copy.segments[0].offset if copy.segments else copy.checkpoints[-1].offset


def _last(copy: Copy) -> tuple[int, int]:
    """Epoch and offset at which a copy ends; copies are compared by epoch, then by offset."""
    if not copy.segments:
        return -1, copy.checkpoints[-1].offset
    for segment in reversed(copy.segments):
        walked = Walk(copy, segment).run(is_last=True)
        if walked.epoch >= 0:
            return walked.epoch, walked.end_offset
    ids = (snapshot_id(Path(file.path).name) for file in copy.checkpoints)
    found = [(epoch, offset) for offset, epoch in filter(None, ids) if offset == copy.segments[0].offset]
    return max(found, default=(-1, copy.segments[0].offset))
