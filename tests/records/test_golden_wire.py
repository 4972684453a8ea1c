"""Every message that stock Kafka wrote is decoded and encoded again: bytes and JSON, in both directions."""

from __future__ import annotations

import pytest

from records.codec import decode, encode, encode_parts
from records.printing.json_form import from_json, to_json
from records.printing.json_text import json_text, read_json
from records.registry import find_class
from records.schema import is_struct, replace, schema_of
from tests.records.golden import wire_rows

TABLES = ("wire.tsv", "wire-unknown-tags.tsv")


def names(table: str) -> list[str]:
    return sorted({name for name, _, _, _ in wire_rows(table)})


def without_unknown_tags(message: object) -> object:
    """A copy of a message in which no struct has an unknown tag."""
    changes = {}
    for field in schema_of(type(message)).fields:
        value = getattr(message, field.name)
        if is_struct(field.element) and value is not None:
            inner = tuple(map(without_unknown_tags, value)) if field.is_array else without_unknown_tags(value)
            changes[field.name] = inner
    return replace(message, unknown_tags=(), **changes)


@pytest.mark.parametrize("table", TABLES)
def test_stocks_bytes_are_decoded_and_encoded_again(table: str) -> None:
    for name, version, _, data in wire_rows(table):
        message = decode(find_class(name), version, data)

        assert encode(message, version) == data, (name, version)
        assert b"".join(encode_parts(message, version)) == data, (name, version)


@pytest.mark.parametrize("table", TABLES)
def test_our_json_equals_stocks_to_the_character(table: str) -> None:
    for name, version, text, data in wire_rows(table):
        message = decode(find_class(name), version, data)

        assert json_text(to_json(message, version)) == text, (name, version)


@pytest.mark.parametrize("table", TABLES)
def test_the_json_of_stock_is_read_as_the_message(table: str) -> None:
    for name, version, text, data in wire_rows(table):
        cls = find_class(name)
        message = from_json(cls, version, read_json(text))

        assert message == without_unknown_tags(decode(cls, version, data)), (name, version)
        if table == "wire.tsv":
            assert encode(message, version) == data, (name, version)


def test_unknown_tags_are_kept() -> None:
    kept = [
        name
        for name, version, _, data in wire_rows("wire-unknown-tags.tsv")
        if schema_of(find_class(name)).is_flexible(version)
        and without_unknown_tags(message := decode(find_class(name), version, data)) != message
    ]

    assert len(kept) > 200


def test_the_golden_tables_have_every_message_that_stock_serves() -> None:
    assert len(wire_rows("wire.tsv")) == 1315
    assert len(wire_rows("wire-unknown-tags.tsv")) == 656
    assert len(names("wire.tsv")) > 190
