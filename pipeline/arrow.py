"""The schemas of the tables in Arrow, equal to those that Spark makes of the same DDL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipeline.schemas import Column

TYPES: dict[str, Any] = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "array<int>": pa.list_(pa.field("element", pa.int32())),
    "array<string>": pa.list_(pa.field("element", pa.string())),
}


def arrow_schema(columns: Iterable[Column]) -> Any:
    """The columns as a pyarrow.Schema; all may be null."""
    return pa.schema([pa.field(column.name, TYPES[column.type]) for column in columns])


def table_of(columns: Sequence[Column], rows: Iterable[dict[str, Any]]) -> Any:
    """A pyarrow.Table of rows; a column that a row lacks is null in it."""
    listed = list(rows)
    arrays = [pa.array([row.get(column.name) for row in listed], TYPES[column.type]) for column in columns]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(columns))
