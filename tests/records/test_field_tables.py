"""Messages agree, bytes and values, with an independent interpreter of Kafka's field tables."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from records.codec import decode, encode
from records.registry import every_name, find_class
from records.schema import is_struct, schema_of
from tests.records import field_tables
from tests.records.golden import wire_rows
from tests.records.without_stock_bytes import WITHOUT_STOCK_BYTES

NOW = field_tables.load("messages.tsv")
BEFORE = field_tables.load("messages-before-4.tsv")
VALUES = 8  # of each version


def every_version() -> list[tuple[str, int]]:
    """Name and version of everything that `records` knows."""
    return [
        (name, version)
        for name in every_name()
        for version in range(schema_of(find_class(name)).versions[0], schema_of(find_class(name)).versions[1] + 1)
    ]


def table_of(name: str, version: int) -> field_tables.Table | None:
    for tables in (NOW, BEFORE):
        if name in tables and field_tables.within(version, tables[name].versions):
            return tables[name]
    return None


def as_message(cls: type[Any], fields: dict[str, Any]) -> Any:
    """The message that the interpreter's dict stands for; what the dict lacks has its default."""
    names = {field.json_name: field for field in schema_of(cls).fields}
    values = {field.name: field.default_of() for field in names.values()}
    for name, value in fields.items():
        values[names[name].name] = _ours(names[name], value)
    return cls(**values)


def _ours(field: Any, value: Any) -> Any:
    if value is None:
        return None
    if field.is_array:
        return tuple(as_message(field.element, item) if is_struct(field.element) else item for item in value)
    return as_message(field.type, value) if is_struct(field.type) else value


def check(name: str, version: int) -> None:
    table, cls = table_of(name, version), find_class(name)
    assert table is not None, f"no table knows {name} v{version}"
    rng = Random(f"{name} {version}")
    for _ in range(VALUES):
        fields = field_tables.generate(table, version, rng)
        data = field_tables.encode(table, version, fields)
        message = as_message(cls, fields)

        assert encode(message, version) == data
        assert decode(cls, version, data) == message
        assert field_tables.decode(table, version, encode(message, version)) == fields


@pytest.mark.parametrize("name", every_name())
def test_every_version_agrees_with_the_interpreter(name: str) -> None:
    for known, version in every_version():
        if known == name:
            check(name, version)


def test_the_interpreter_agrees_with_stock_kafka() -> None:
    """Or it would prove nothing where stock's own bytes are missing."""
    for name, version, _, data in wire_rows("wire.tsv"):
        fields = field_tables.decode(NOW[name], version, data)

        assert field_tables.encode(NOW[name], version, fields) == data, (name, version)


def test_messages_without_stock_bytes_are_listed_and_interpreted() -> None:
    written = {(name, version) for name, version, _, _ in wire_rows("wire.tsv")}

    lacking: dict[str, list[int]] = {}
    for name, version in every_version():
        if (name, version) not in written:
            lacking.setdefault(name, []).append(version)

    assert lacking == WITHOUT_STOCK_BYTES
