"""The file `committed-prefix-checkpoint`, which Kafka does not have: the end offset of the log that is known to be
committed and on disk, and a CRC over the log below it.

It has two purposes. At a start no byte below that offset may be missing or damaged, even where it looks like a torn
tail. And the bytes below it need not be read batch by batch: one CRC shows that they are as they were written,
including the headers, which the CRC of a batch does not cover.

The file is text, replaced as a whole. It covers committed records only, which no node, ours or stock, ever truncates:
it stays valid if a stock node uses the directory for a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 0


class SegmentPrefix(NamedTuple):
    """The first `position` bytes of a segment, which hold its batches below `end_offset`.

    crc: CRC-32C of these bytes. offsets_size, offsets_crc, times_size, times_crc: of the entries in its index files.
    """

    base_offset: int
    end_offset: int
    position: int
    crc: int
    offsets_size: int
    offsets_crc: int
    times_size: int
    times_crc: int


class CommittedPrefix(NamedTuple):
    """end_offset: exclusive, of all that is known to be committed.

    segments: their committed bytes, up to a batch boundary at or before `end_offset`. epochs: (epoch, start offset),
    ascending, and control_offsets, of the control batches: of what is in these segments.
    """

    end_offset: int
    epochs: tuple[tuple[int, int], ...] = ()
    control_offsets: tuple[int, ...] = ()
    segments: tuple[SegmentPrefix, ...] = ()

    def of(self, base_offset: int) -> SegmentPrefix | None:
        """The entry of the segment with this base offset; None where there is none."""
        return next((segment for segment in self.segments if segment.base_offset == base_offset), None)


def prefix_text(prefix: CommittedPrefix) -> bytes:
    """The file: version, end offset, three counted tables of numbers, and the CRC-32C of all this."""
    lines = [str(VERSION), str(prefix.end_offset)]
    for table in (prefix.epochs, tuple((offset,) for offset in prefix.control_offsets), prefix.segments):
        lines.append(str(len(table)))
        lines += [" ".join(map(str, row)) for row in table]
    body = "".join(f"{line}\n" for line in lines).encode()
    return body + f"{crc32c(body):08x}\n".encode()


def parse_prefix(text: bytes) -> CommittedPrefix:
    """The contents of the file; raises ValueError if `prefix_text` would not write this text."""
    body, last = text[:-9], text[-9:]
    if last != f"{crc32c(body):08x}\n".encode():
        raise ValueError("the CRC in the last line does not fit")
    lines = iter(body.decode("ascii").splitlines())
    try:
        version = int(next(lines))
        if version != VERSION:
            raise ValueError(f"version is {version}, only {VERSION} is read")
        end_offset = int(next(lines))
        epochs = tuple((row[0], row[1]) for row in _rows(lines, 2))
        control_offsets = tuple(row[0] for row in _rows(lines, 1))
        segments = tuple(SegmentPrefix(*row) for row in _rows(lines, 8))
    except StopIteration:
        raise ValueError("the file ends early") from None
    return CommittedPrefix(end_offset, epochs, control_offsets, segments)


def _rows(lines: Iterator[str], width: int) -> list[list[int]]:
    rows = []
    for _ in range(int(next(lines))):
        row = [int(field) for field in next(lines).split(" ")]
        if len(row) != width:
            raise ValueError(f"a row of {len(row)} numbers in place of {width}")
        rows.append(row)
    return rows
