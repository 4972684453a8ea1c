"""An independent codec for Kafka's messages: slow, interpreted, made from field tables, and unaware of `records`.

A message is a dict by field names as in JSON: ints, floats, bools, strings, bytes (uuids too), lists, dicts, None.
Fields that a version lacks are not in the dict. The tests hold its bytes and values against those of `records`.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

FIELDS = Path(__file__).parents[1] / "data" / "kafka-fields"
FIXED = {
    "bool": ">?", "int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q", "float64": ">d",
}  # fmt: skip
INTEGERS = {"int8": (8, True), "int16": (16, True), "uint16": (16, False), "int32": (32, True), "int64": (64, True)}

Range = tuple[int, int] | None


def version_range(text: str) -> Range:
    """The versions that `3`, `1-4`, `2+` or nothing stand for, inclusive."""
    if text in {"", "none"}:
        return None
    if text.endswith("+"):
        return int(text[:-1]), 32767
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def within(version: int, versions: Range) -> bool:
    return versions is not None and versions[0] <= version <= versions[1]


class Row:
    """One field: a line of a table, with those below it in `fields`."""

    def __init__(self, path: str, columns: list[str]) -> None:
        name = path.replace("[]", "").rsplit(".", 1)[-1]
        self.name = name[0].lower() + name[1:]
        self.is_array = columns[0].startswith("[]")
        self.type = columns[0].removeprefix("[]")
        self.versions = version_range(columns[1])
        self.nullable = version_range(columns[2])
        self.tagged = version_range(columns[3])
        self.tag = int(columns[4]) if columns[4] else None
        self.default_text = columns[5]
        self.fields: list[Row] = []

    @property
    def is_struct(self) -> bool:
        return self.type[0].isupper()

    def default(self, version: int) -> Any:
        text = self.default_text
        if text == "null":
            return None
        if self.is_array:
            return []
        if self.is_struct:
            return {row.name: row.default(version) for row in self.fields if within(version, row.versions)}
        if self.type == "bool":
            return text == "true"
        if self.type in INTEGERS:
            return int(text or "0", 0)
        if self.type == "float64":
            return float(text or "0")
        return {"string": text, "uuid": bytes(16), "bytes": b"", "records": None}[self.type]


class Table:
    """One message: its fields, and the versions in which it is valid and flexible."""

    def __init__(self, columns: list[str]) -> None:
        self.name = columns[0]
        self.versions = version_range(columns[3])
        self.flexible = version_range(columns[4])
        self.fields: list[Row] = []


def load(name: str) -> dict[str, Table]:
    """The messages of a table file, by name."""
    tables: dict[str, Table] = {}
    places: dict[str, list[Row]] = {}
    for line in (FIELDS / name).read_text().splitlines()[1:]:
        columns = line.split("\t")
        if columns[5] == "-":
            tables[columns[0]] = Table(columns)
            places = {"": tables[columns[0]].fields}
            continue
        row = Row(columns[5], columns[6:])
        places[columns[5].rpartition(".")[0].removesuffix("[]")].append(row)
        places[columns[5]] = row.fields
    return tables


def uvarint(value: int) -> bytes:
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + uvarint(high) if high else bytes([low])


class Writer:
    """Writes one version of one message."""

    def __init__(self, table: Table, version: int) -> None:
        self.version = version
        self.flexible = within(version, table.flexible)
        self.is_header = table.name == "RequestHeader"

    def message(self, fields: list[Row], value: dict[str, Any]) -> bytes:
        out = b""
        tags: dict[int, bytes] = {}
        for row in fields:
            if not within(self.version, row.versions):
                continue
            if within(self.version, row.tagged):
                assert row.tag is not None
                if value[row.name] != row.default(self.version):
                    tags[row.tag] = self.field(row, value[row.name])
            else:
                out += self.field(row, value[row.name])
        if self.flexible:
            out += uvarint(len(tags))
            for tag in sorted(tags):
                out += uvarint(tag) + uvarint(len(tags[tag])) + tags[tag]
        return out

    def size(self, value: int | None, width: str) -> bytes:
        """A length or count; None is null. A header's one string, the client id, keeps its plain length."""
        if self.flexible and not self.is_header:
            return uvarint(0 if value is None else value + 1)
        return struct.pack(f">{width}", -1 if value is None else value)

    def field(self, row: Row, value: Any) -> bytes:
        if row.is_array:
            if value is None:
                return self.size(None, "i")
            return self.size(len(value), "i") + b"".join(self.element(row, item) for item in value)
        if row.is_struct and within(self.version, row.nullable):
            return b"\xff" if value is None else b"\x01" + self.element(row, value)
        return self.element(row, value)

    def element(self, row: Row, value: Any) -> bytes:
        if row.is_struct:
            return self.message(row.fields, value)
        if row.type in FIXED:
            return struct.pack(FIXED[row.type], value)
        if row.type == "uuid":
            return bytes(value)
        width = "h" if row.type == "string" else "i"
        if value is None:
            return self.size(None, width)
        data: bytes = value.encode() if row.type == "string" else value
        return self.size(len(data), width) + data


class Reader:
    """Reads one version of one message; unknown tags are passed over."""

    def __init__(self, table: Table, version: int, data: bytes) -> None:
        self.version = version
        self.flexible = within(version, table.flexible)
        self.is_header = table.name == "RequestHeader"
        self.data = data
        self.position = 0

    def take(self, count: int) -> bytes:
        taken = self.data[self.position : self.position + count]
        assert len(taken) == count, f"{count} bytes wanted at {self.position}"
        self.position += count
        return taken

    def uvarint(self) -> int:
        byte = self.take(1)[0]
        return byte if byte < 128 else byte - 128 + (self.uvarint() << 7)

    def message(self, fields: list[Row]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        tagged = {row.tag: row for row in fields if within(self.version, row.tagged)}
        for row in fields:
            if within(self.version, row.versions):
                value[row.name] = row.default(self.version) if row in tagged.values() else self.field(row)
        for _ in range(self.uvarint() if self.flexible else 0):
            tag, size = self.uvarint(), self.uvarint()
            if tag in tagged:
                value[tagged[tag].name] = self.field(tagged[tag])
            else:
                self.take(size)
        return value

    def size(self, width: str) -> int:
        if self.flexible and not self.is_header:
            return self.uvarint() - 1
        return int(struct.unpack(f">{width}", self.take(struct.calcsize(width)))[0])

    def field(self, row: Row) -> Any:
        if row.is_array:
            count = self.size("i")
            return None if count < 0 else [self.element(row) for _ in range(count)]
        if row.is_struct and within(self.version, row.nullable) and self.take(1)[0] > 127:
            return None
        return self.element(row)

    def element(self, row: Row) -> Any:
        if row.is_struct:
            return self.message(row.fields)
        if row.type in FIXED:
            return struct.unpack(FIXED[row.type], self.take(struct.calcsize(FIXED[row.type])))[0]
        if row.type == "uuid":
            return self.take(16)
        size = self.size("h" if row.type == "string" else "i")
        if size < 0:
            return None
        data = self.take(size)
        return data.decode() if row.type == "string" else data


def encode(table: Table, version: int, value: dict[str, Any]) -> bytes:
    return Writer(table, version).message(table.fields, value)


def decode(table: Table, version: int, data: bytes) -> dict[str, Any]:
    reader = Reader(table, version, data)
    value = reader.message(table.fields)
    assert reader.position == len(data), f"{len(data) - reader.position} bytes are left"
    return value


def generate(table: Table, version: int, rng: Random) -> dict[str, Any]:
    """A message with values of every kind: null, empty, short, and long enough for lengths of two bytes."""
    return _struct(table.fields, version, rng)


def _struct(fields: list[Row], version: int, rng: Random) -> dict[str, Any]:
    return {row.name: _value(row, version, rng) for row in fields if within(version, row.versions)}


def _value(row: Row, version: int, rng: Random) -> Any:
    if within(version, row.nullable) and rng.random() < 0.2:
        return None
    if within(version, row.tagged) and rng.random() < 0.3:
        return row.default(version)
    if not row.is_array:
        return _element(row, version, rng)
    many = 150 if row.type in INTEGERS and rng.random() < 0.1 else 3
    return [_element(row, version, rng) for _ in range(rng.randint(0, many))]


def _element(row: Row, version: int, rng: Random) -> Any:
    if row.is_struct:
        return _struct(row.fields, version, rng)
    if row.type in INTEGERS:
        bits, signed = INTEGERS[row.type]
        value = rng.choice((0, 1, (1 << bits - 1) - 1, rng.getrandbits(bits - 1)))
        return ~value if signed and rng.random() < 0.3 else value
    if row.type == "bool":
        return rng.random() < 0.5
    if row.type == "float64":
        return rng.choice((0.0, -1.5, rng.uniform(-1e9, 1e9), float("inf")))
    if row.type == "uuid":
        return rng.randbytes(16)
    if row.type == "string":
        return rng.choice(("", "a", "päyments", "日本", "k" * rng.randint(120, 300)))
    return rng.randbytes(rng.choice((0, 1, 20, 200)))
