"""Records of partitions as lines of text, many of one layout at a time.

The line of one record, as it is printed by itself, becomes the template for the next ones with the same layout: the
general path prints a record whose numbers and ids stand for themselves, and these are replaced by the values. What has
another layout is left to that path.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import NamedTuple

from records.batch import zigzags
from records.bulk.bulk_layouts import layout_of
from records.uuids import uuid_text
from records.wire import read_zigzag
from tools.kafka.dump_log.dump_lines import Run, record_line
from tools.kafka.dump_log.payload_texts import quoted_uuid
from tools.offline.log_file import HEADER_BYTES, MAGIC
from tools.offline.stored_records import StoredRecord, record_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from re import Pattern
    from typing import Any

    from tools.offline.log_file import StoredBatch

    Fields = Callable[[StoredBatch, StoredRecord], Iterator[tuple[str, Any]]]

# Of a run that is printed at once.
LINES_MAX = 1000
# A layout is made for the records of one size when so many of them were printed one by one.
_SEEN = frozenset((4, 40, 400, 4000))
_LAYOUTS_MAX = 256
# Numbers and ids that stand for themselves.
_NUMBER, _ID = 1_912_345_000, b"\xd5\x7a\x91\x3e\x0c\xb8\x46\x2f\x83\x1d\xe9\x54\xaa\x60"
_TIME, _OFFSET = 8_198_765_432_101, 7_198_765_432_107


class _Layout(NamedTuple):
    """The layout of whole records of `size` bytes. pattern: matches one; unpack: its offset delta and its values.

    lines: see `_printer`. time_delta: of all of them.
    """

    size: int
    pattern: Pattern[bytes]
    unpack: Callable[[bytes, int], tuple[Any, ...]]
    lines: Callable[..., tuple[list[str], int]]
    time_delta: int


class RecordRuns:
    """Prints the records of batches. fields: those of one record in its line."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._layouts: dict[tuple[int, int, bool], list[_Layout]] = {}
        self._seen: dict[int, int] = {}
        self._count = 0

    def read(self, batch: StoredBatch) -> Iterator[Run | StoredRecord] | None:
        """The records in stored order, some as runs of lines; None for a batch that has no runs.

        Raises InvalidRecord at the first that cannot be read.
        """
        if (
            batch.magic < MAGIC or batch.is_control or batch.compression or batch.base_sequence >= 0
            or batch.record_count <= 0 or len(batch.data) < HEADER_BYTES
        ):  # fmt: skip
            return None
        return self._read(batch)

    def _read(self, batch: StoredBatch) -> Iterator[Run | StoredRecord]:
        data, count = batch.data, batch.record_count
        number, position = 0, HEADER_BYTES
        while number < count:
            # The last record is read by itself, as what is behind it is checked then.
            layouts = self._layouts.get(_key(batch, data, position)) if number < count - 1 else None
            for layout in layouts or ():
                run, after = _run(layout, batch, position, number, min(count - 1, number + LINES_MAX))
                if run is not None:
                    yield run
                    number, position = run.last_offset - batch.base_offset + 1, after
                    break
            else:
                start = position
                record, position = record_at(batch, data, start, number)
                yield record
                self._learn(batch, record, data[start:position])
                number += 1

    def _learn(self, batch: StoredBatch, record: StoredRecord, data: bytes) -> None:
        """Make a layout after a record that was printed by itself."""
        seen = self._seen[len(data)] = self._seen.get(len(data), 0) + 1
        if seen in _SEEN and self._count < _LAYOUTS_MAX:
            layout = self._layout_of(batch, record, data)
            if layout is not None:
                self._count += 1
                self._layouts.setdefault(_key(batch, data, 0), []).append(layout)

    def _layout_of(self, batch: StoredBatch, record: StoredRecord, data: bytes) -> _Layout | None:
        """The layout of a record; None if it has none, or its line does not show each value once, in their order."""
        value = record.value
        if record.key is not None or record.header_keys or value is None or (layout := layout_of(value)) is None:
            return None
        start = len(data) - 1 - len(value)
        if data[start:-1] != value:  # the number of headers takes more bytes than it need
            return None
        delta_at = read_zigzag(data, 0)[1] + 1
        time_delta, delta_at = read_zigzag(data, delta_at, 10)
        delta_end = read_zigzag(data, delta_at)[1]
        sample = bytearray(value)
        holes: list[tuple[int, int, str]] = []  # position in the value, size, the text of the sample
        # A tagged number is not printed if it is the default, so it belongs to the layout.
        for place in layout.places:
            if place.code not in ("i4", "uuid") or (place.length is None and place.name in layout.tagged):
                continue
            size = 16 if place.code == "uuid" else 4
            for each in range(1 if place.length is None else place.length):
                at = place.position + each * size
                number = _NUMBER + len(holes)
                filled = number.to_bytes(4, "big") if size == 4 else _ID + len(holes).to_bytes(2, "big")
                sample[at : at + size] = filled
                holes.append((at, size, str(number) if size == 4 else f'"{uuid_text(filled)}"'))
        shown = StoredRecord(_OFFSET, _TIME, record.sequence, None, bytes(sample), ())
        line = record_line(self._fields(batch, shown))
        known = [str(text) for text in (_OFFSET, _TIME) if str(text) in line]
        parts = _split(line, [*known, *(text for _, _, text in holes)])
        if parts is None:
            return None
        pattern, form = _form(data, (delta_at, delta_end), [(start + at, size) for at, size, _ in holes])
        is_uuid = tuple(size == 16 for _, size, _ in holes)
        shows = (str(_OFFSET) in known, str(_TIME) in known)
        lines = _printer(tuple(parts), shows, is_uuid)
        return _Layout(len(data), pattern, Struct(form).unpack_from, lines, time_delta)


def _key(batch: StoredBatch, data: bytes, position: int) -> tuple[int, int, bool]:
    """What the layouts of a record are found by: its first bytes, which have its size, and the name of its time."""
    first = data[position] if position < len(data) else 0
    second = data[position + 1] if first > 127 and position + 1 < len(data) else 0
    return first, second, batch.is_append_time


def _run(layout: _Layout, batch: StoredBatch, position: int, number: int, end: int) -> tuple[Run | None, int]:
    """The lines of the records from one up to another (exclusive), while they have the layout; the position after."""
    base_offset = batch.base_offset
    time = batch.max_timestamp if batch.is_append_time else batch.base_timestamp + layout.time_delta
    texts, after = layout.lines(
        batch.data, position, number, end, base_offset, time, layout.pattern.match, layout.unpack, layout.size
    )
    if not texts:
        return None, position
    return Run(base_offset + number, base_offset + number + len(texts) - 1, "".join(texts)), after


def _split(line: str, texts: list[str]) -> list[str] | None:
    """What stands around these texts; None if one is not there once, or they have another order."""
    parts = []
    for text in texts:
        before, found, line = line.partition(text)
        if not found or text in line:
            return None
        parts.append(before)
    return [*parts, line]


def _form(data: bytes, delta: tuple[int, int], holes: list[tuple[int, int]]) -> tuple[Pattern[bytes], str]:
    """The pattern of records that differ from one in these places alone, and the format of the places for `struct`."""
    from re import DOTALL, compile, escape  # noqa: A004

    pattern, form = [], [">"]
    at = 0
    for start, size in [(delta[0], delta[1] - delta[0]), *holes]:
        pattern.append(escape(data[at:start]) + b".{%d}" % size)
        form.append(f"{start - at}x{'i' if size == 4 and (start, size) in holes else f'{size}s'}")
        at = start + size
    pattern.append(escape(data[at:]))
    form.append(f"{len(data) - at}x")
    return compile(b"".join(pattern), DOTALL), "".join(form)


@cache
def _printer(
    parts: tuple[str, ...], shows: tuple[bool, bool], is_uuid: tuple[bool, ...]
) -> Callable[..., tuple[list[str], int]]:
    """A function for lines with these parts. shows: whether they have the offset, and the time.

    It prints the records of a layout from one number up to another (exclusive), until one has another layout or offset;
    returns the lines, and the position behind the last.
    """
    names = [f"v{number}" for number in range(len(is_uuid))]
    texts = [name for name, is_shown in zip(("base_offset + number", "time"), shows, strict=True) if is_shown]
    texts += [f"uuid({name})" if flag else name for name, flag in zip(names, is_uuid, strict=True)]
    source = f"""
def lines(data, position, number, end, base_offset, time, match, unpack, size):
    texts, deltas = [], zigzags(end)
    add = texts.append
    while number < end and match(data, position) is not None:
        delta, {", ".join(names)} = unpack(data, position)
        if delta != deltas[number]:
            break
        add(template % ({", ".join(texts)},))
        position += size
        number += 1
    return texts, position
"""
    template = "%s".join(part.replace("%", "%%") for part in parts)
    scope: dict[str, Any] = {"template": template, "uuid": quoted_uuid, "zigzags": zigzags}
    exec(source, scope)  # noqa: S102 - of our own text alone: the template is a value
    lines: Callable[..., tuple[list[str], int]] = scope["lines"]
    return lines
