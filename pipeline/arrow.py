"""The schemas of the tables in Arrow, equal to those that Spark makes of the same DDL; and how Parquet is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

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


# Columns of the table `records` that have few values: a file and a worker hold each value once.
_ENCODED = frozenset(("cluster", "origin", "file", "kind", "name", "topic_id", "directories"))
_TEXT = pa.dictionary(pa.int32(), pa.string())


def encoded_schema(columns: Iterable[Column]) -> Any:
    """As `arrow_schema`, with texts of which there are few as dictionaries. In Parquet both are the same."""
    lists = pa.list_(pa.field("element", _TEXT))
    return pa.schema(
        [
            pa.field(one.name, TYPES[one.type] if one.name not in _ENCODED else lists if "<" in one.type else _TEXT)
            for one in columns
        ]
    )


def array_of(values: NDArray[Any], null: NDArray[np.bool_] | None = None) -> Any:
    """An Arrow array of numbers; null: which are null. `pyarrow.array` does the same, but imports pandas for it."""
    values = np.ascontiguousarray(values)
    bits = None if null is None or not null.any() else pa.py_buffer(np.packbits(~null, bitorder="little"))
    data = pa.py_buffer(np.packbits(values, bitorder="little") if values.dtype == bool else values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bits, data])


def arrow_schema(columns: Iterable[Column]) -> Any:
    """The columns as a pyarrow.Schema; all may be null."""
    return pa.schema([pa.field(column.name, TYPES[column.type]) for column in columns])


def parquet_options(schema: Any, single: Collection[str] = ()) -> dict[str, Any]:
    """The options by which pyarrow.parquet writes a table of this schema: offsets as differences, other columns as
    dictionaries.

    single: columns whose values do not repeat, which a dictionary would only enlarge. Neither they nor lists get
    statistics, because no filter uses them.
    """
    lists = {field.name for field in schema if pa.types.is_list(field.type)}
    offsets = {field.name for field in schema if field.name.endswith("offset")}
    return {
        "compression": "zstd",
        "store_schema": False,
        "column_encoding": dict.fromkeys(offsets, "DELTA_BINARY_PACKED"),
        "use_dictionary": [
            f"{name}.list.element" if name in lists else name
            for name in schema.names
            if name not in offsets and name not in single
        ],
        "write_statistics": [name for name in schema.names if name not in lists and name not in single],
    }


def table_of(columns: Sequence[Column], rows: Iterable[dict[str, Any]]) -> Any:
    """A pyarrow.Table of rows; a column that a row lacks is null in it."""
    listed = list(rows)
    arrays = [pa.array([row.get(column.name) for row in listed], TYPES[column.type]) for column in columns]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(columns))
