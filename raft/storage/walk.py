"""Reading a segment at a start: accepting its batches, and distinguishing a torn end from damage.

An interrupted append leaves a file that is too short, or sectors that were never written, which read as zeros. Anything
else is damage: a batch with other bytes than were written, or one that is missing between others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from raft.storage.files import WINDOW_BYTES, crc_of_file
from raft.storage.scan import BATCH_BYTES_MAX, CRC_AT, CRC_FROM, LENGTH_BEFORE, Head, head_at
from records.batch import HEADER_BYTES, CorruptBatch
from records.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.storage.files import Files
    from raft.storage.segment import Segment

SECTOR_BYTES = 512

# A batch begins with its offset, then its length; no length is 0, so zeros in the place of both were never written.
_OFFSET_BYTES = 8
# So many bytes can make any CRC fit.
_CRC_BYTES = 4

# A magic 2, before it what a batch begins with: an offset below 2**48, a length below 2**25, an epoch.
_MAGIC = re.compile(rb"(?<=\0\0.{6}[\0\1].{3}[\0-\x7f].{3})\x02", re.DOTALL)
_MAGIC_AT = 16


class Fault(NamedTuple):
    """Where reading a segment had to stop. position: in the file; offset: that the next batch should have.

    stop: how far the broken bytes may reach; equal to position if the batch is complete but not the expected one.
    is_short: the file ends before the batch does.
    """

    position: int
    offset: int
    stop: int
    is_short: bool
    reason: str


class Walker:
    """Reads the batches of segments, in order. epoch: of the last batch, 0 before the first."""

    def __init__(self, files: Files, epoch: int, note: Callable[[Head], None]) -> None:
        self.files = files
        self.epoch = epoch
        self._note = note

    def walk(self, segment: Segment) -> Fault | None:
        """Read the batches from the segment's `size` to the end of its file; None if they fill it."""
        end = self.files.size(segment.handle)
        length = WINDOW_BYTES
        while (start := segment.size) < end:
            window = self.files.read(segment.handle, start, min(length, end - start))
            if len(window) < min(length, end - start):
                raise OSError(f"{segment.path} became shorter while it was read")
            fault = self._take(segment, window, end)
            segment.fold(memoryview(window)[: segment.size - start])
            if fault is not None:
                return fault
            # Nothing taken in, and no fault: the batch is larger than the window.
            length = WINDOW_BYTES if segment.size > start else BATCH_BYTES_MAX
        return None

    def _take(self, segment: Segment, window: bytes, end: int) -> Fault | None:
        """Accept the whole batches of a window, which begins at the segment's `size`."""
        position = segment.size
        at = 0
        view = memoryview(window)
        while at < len(window):
            here = position + at
            offset = segment.end_offset
            if here + HEADER_BYTES > end:
                return Fault(here, offset, end, True, f"{end - here} bytes are no batch")
            if at + HEADER_BYTES > len(window):
                return None
            try:
                head = head_at(window, at)
            except CorruptBatch as error:
                return Fault(here, offset, min(here + HEADER_BYTES + SECTOR_BYTES, end), False, error.reason)
            stop = at + head.size
            if position + stop > end:
                return Fault(here, offset, end, True, f"the batch has {head.size} bytes, the file {end - here} more")
            if stop > len(window):
                return None
            if crc32c(view[at + CRC_FROM : stop]) != head.crc:
                return Fault(here, offset, position + stop, False, "the CRC does not fit the bytes")
            if head.base_offset != offset:
                # No CRC covers its offset, which may be in a sector before the others that was never written.
                stop = (here // SECTOR_BYTES + 1) * SECTOR_BYTES
                return Fault(here, offset, stop, False, f"the batch there has offset {head.base_offset}")
            if head.epoch < self.epoch:
                reason = f"the batch there has epoch {head.epoch}, the one before it {self.epoch}"
                return Fault(here, offset, here, False, reason)
            self.epoch = head.epoch
            segment.add(head, here)
            self._note(head)
            at = stop
        return None


def is_torn(files: Files, handle: int, fault: Fault) -> bool:
    """Whether the bytes from a fault on can be what an interrupted append left.

    They can if the batch extends beyond the end of the file, or if all of its bytes in one sector are zeros: a disk
    writes a sector completely or not at all (etcd's write-ahead log has the same rule). A batch that is complete, with
    other bytes than were written, is damage; so is one whose last bytes are zeros although the CRC requires others.
    """
    if fault.is_short:
        # The CRC does not cover the length: where it fits the bytes up to the end, nothing but the length is wrong.
        return _lacking(files, handle, fault) != 0
    position = fault.position
    while position < fault.stop:
        stop = min((position // SECTOR_BYTES + 1) * SECTOR_BYTES, fault.stop)
        share = stop - position
        if not any(files.read(handle, position, share)):
            if position > fault.position:
                return share >= _CRC_BYTES or _may_be_others(files, handle, fault, share)
            # An offset begins with zeros, so a small share before the first boundary may show nothing.
            if share >= LENGTH_BEFORE or any(fault.offset.to_bytes(_OFFSET_BYTES, "big")[:share]):
                return True
        position = stop
    return False


def _lacking(files: Files, handle: int, fault: Fault) -> int | None:
    """The difference between the CRC of a batch's bytes up to `stop` and that in its header; None if there is none."""
    head = files.read(handle, fault.position, HEADER_BYTES)
    crc = crc_of_file(files, handle, fault.position + CRC_FROM, fault.stop)
    if len(head) < HEADER_BYTES or crc is None:
        return None
    return crc ^ int.from_bytes(head[CRC_AT:CRC_FROM], "big")


def _may_be_others(files: Files, handle: int, fault: Fault, count: int) -> bool:
    """Whether other bytes than zeros, in place of the last `count` bytes of a batch, fit the CRC.

    Most batches end with some zeros of their own, and a sector with only these proves nothing. The effect of one bit on
    a CRC does not depend on the other bits, so the possible CRCs are the sums of the effects of single bits.
    """
    lacking = _lacking(files, handle, fault)
    if lacking is None:
        return True  # the file is shorter by now
    sums: list[int] = []  # none has the highest bit of one before it
    for bit in range(8 * count):
        change = crc32c((1 << bit).to_bytes(count, "big")) ^ crc32c(bytes(count))
        for known in sums:
            change = min(change, change ^ known)
        sums.append(change)
    for known in sums:
        lacking = min(lacking, lacking ^ known)
    return lacking == 0


def next_intact(files: Files, handle: int, position: int, offset: int) -> Head | None:
    """The position of the next batch after `position` that is complete, has the right CRC, and has `offset` or a later
    one; None if there is none.
    """
    end = files.size(handle)
    while position + HEADER_BYTES <= end:
        window = files.read(handle, position, min(WINDOW_BYTES, end - position))
        for match in _MAGIC.finditer(window):
            head = _intact_at(files, handle, position + match.start() - _MAGIC_AT, end)
            if head is not None and head.base_offset >= offset:
                return head
        position += max(len(window) - HEADER_BYTES, 1)
    return None


def _intact_at(files: Files, handle: int, position: int, end: int) -> Head | None:
    try:
        head = head_at(files.read(handle, position, HEADER_BYTES), 0)
    except CorruptBatch:
        return None
    if position + head.size > end or head.size > BATCH_BYTES_MAX:
        return None
    data = files.read(handle, position, head.size)
    return head._replace(position=position) if crc32c(memoryview(data)[CRC_FROM:]) == head.crc else None
