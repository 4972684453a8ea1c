"""Every API and version that kio has too: it reads our bytes, and writes the same ones.

kio (on PyPI) is another codec made from Kafka's schemas, by other people. It knows fewer error codes, and makes times
of numbers, so the values here are such as it can hold.
"""

from __future__ import annotations

import io
import re
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import kio.schema
import pytest
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from records.codec import encode
from records.registry import every_name, find_class
from records.schema import schema_of
from tests.records import field_tables
from tests.records.test_field_tables import as_message, table_of

if TYPE_CHECKING:
    from tests.records.field_tables import Row

SCHEMAS = Path(kio.schema.__file__).parent
MODULES = {"request": "request", "response": "response", "header": "header", "data": "data"}
CODES = [int(code) for code in ErrorCode]
VALUES = 6


def kio_class(name: str, version: int) -> type[Any] | None:
    """kio's class of a message; None where it has none."""
    kind = schema_of(find_class(name)).kind
    if kind not in MODULES:
        return None
    stem = name if kind in {"header", "data"} else re.sub("(Request|Response)$", "", name)
    folder = re.sub(r"(?<!^)(?=[A-Z])", "_", stem).lower()
    if not (SCHEMAS / folder / f"v{version}" / f"{MODULES[kind]}.py").exists():
        return None
    return getattr(import_module(f"kio.schema.{folder}.v{version}.{MODULES[kind]}"), name)  # type: ignore[no-any-return]


SHARED = [
    (name, version)
    for name in every_name()
    for version in range(schema_of(find_class(name)).versions[1] + 1)
    if kio_class(name, version) is not None
]


def tamed(fields: list[Row], value: dict[str, Any], rng: Random) -> dict[str, Any]:
    """The same message with error codes and times that kio can hold."""
    for row in fields:
        if row.name not in value or value[row.name] is None:
            continue
        if row.is_struct:
            inner = value[row.name] if row.is_array else [value[row.name]]
            for item in inner:
                tamed(row.fields, item, rng)
        elif row.name.lower().endswith("errorcode"):
            value[row.name] = rng.choice(CODES)
        elif row.name.endswith("Ms") or "timestamp" in row.name.lower():
            value[row.name] = rng.choice((0, 1, 1000, 2**31 - 1))
    return value


@pytest.mark.parametrize("name", sorted({name for name, _ in SHARED}))
def test_kio_reads_and_writes_our_bytes(name: str) -> None:
    for version in [version for known, version in SHARED if known == name]:
        cls, table = kio_class(name, version), table_of(name, version)
        assert cls
        assert table
        rng = Random(f"kio {name} {version}")
        for _ in range(VALUES):
            fields = tamed(table.fields, field_tables.generate(table, version, rng), rng)
            ours = encode(as_message(find_class(name), fields), version)

            entity, size = entity_reader(cls)(ours, 0)
            theirs = io.BytesIO()
            entity_writer(cls)(theirs, entity)

            assert size == len(ours), (name, version)
            assert theirs.getvalue() == ours, (name, version, fields)


def test_kio_has_most_of_what_kafka_serves() -> None:
    assert len(SHARED) > 500
