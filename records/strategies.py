"""Hypothesis strategies for every message class and version, from the schema; Hypothesis comes when asked for."""

from __future__ import annotations

from records.registry import METADATA_RECORDS, every_name, metadata_class
from records.schema import is_struct, schema_of
from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from hypothesis.strategies import SearchStrategy

    from records.schema import Field

    T = TypeVar("T")

ELEMENTS_MAX = 3
BYTES_MAX = 20
# Above every tag that a schema has, so that it is unknown to all.
UNKNOWN_TAG_MIN = 100


def messages(cls: type[T], version: int, *, unknown_tags: bool = False) -> SearchStrategy[T]:
    """Messages of a class that the version can carry: fields that it lacks have their defaults.

    unknown_tags: whether flexible versions may hold tagged fields that the schema does not know. NaN is left out, since
    it is not equal to itself.
    """
    schema = schema_of(cls)
    first, last = schema.versions
    if not first <= version <= last:
        raise ValueError(f"{schema.name} has versions {first} to {last}, not {version}")
    return _structs(cls, version, unknown_tags=unknown_tags and schema.is_flexible(version))


def metadata_records(*, unknown_tags: bool = False) -> SearchStrategy[tuple[Any, int]]:
    """A metadata record of any type, and its version."""
    from hypothesis import strategies as st

    choices: list[SearchStrategy[tuple[Any, int]]] = []
    for record_type in METADATA_RECORDS:
        cls = metadata_class(record_type)
        first, last = schema_of(cls).versions
        choices += [
            st.tuples(messages(cls, version, unknown_tags=unknown_tags), st.just(version))
            for version in range(first, last + 1)
        ]
    return st.one_of(choices)


def every_version() -> list[tuple[str, int]]:
    """Name and version of everything that there are strategies for."""
    from records.registry import find_class

    return [
        (name, version)
        for name in every_name()
        for version in range(schema_of(find_class(name)).versions[0], schema_of(find_class(name)).versions[1] + 1)
    ]


def _structs(cls: type[T], version: int, *, unknown_tags: bool) -> SearchStrategy[T]:
    from hypothesis import strategies as st

    fields: dict[str, SearchStrategy[Any]] = {
        field.name: _values(field, version, unknown_tags=unknown_tags)
        if field.at(version)
        else st.just(field.default_of())
        for field in schema_of(cls).fields
    }
    if unknown_tags:
        tags = st.dictionaries(st.integers(UNKNOWN_TAG_MIN, 2**31 - 1), st.binary(max_size=BYTES_MAX), max_size=2)
        fields["unknown_tags"] = tags.map(lambda tagged: tuple(sorted(tagged.items())))
    return st.builds(cls, **fields)


def _values(field: Field, version: int, *, unknown_tags: bool) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    values = _elements(field.element, version, unknown_tags=unknown_tags)
    if field.is_array:
        values = st.lists(values, max_size=ELEMENTS_MAX).map(tuple)
    return st.none() | values if field.nullable_at(version) else values


def _elements(type_: Any, version: int, *, unknown_tags: bool) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    if is_struct(type_):
        return _structs(type_, version, unknown_tags=unknown_tags)
    if type_.range is not None:
        return st.integers(*type_.range)
    if type_.name == "bool":
        return st.booleans()
    if type_.name == "float64":
        return st.floats(allow_nan=False)
    if type_.name == "uuid":
        return st.binary(min_size=16, max_size=16)
    if type_.name == "string":
        return st.text(max_size=BYTES_MAX)
    return st.binary(max_size=BYTES_MAX)
