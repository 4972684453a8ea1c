"""Filters: which changes a watcher gets."""

from __future__ import annotations

from typing import Any

from controller.server.grpc.record_trees import TYPE_NAMES

KEYS = ("types", "where")
FIELDS_MAX = 16
VALUES_MAX = 1000

_TYPES = frozenset(TYPE_NAMES.values())


class BadFilter(ValueError):
    """The filter is not valid; the text says what is accepted."""


class Filter:
    """types: names of record types, None for all. where: field -> values; a record matches if each field has one of its
    values. A list field has each value in the list.
    """

    __slots__ = ("types", "where")

    def __init__(self, asked: Any) -> None:
        """asked: None, or a map of `KEYS`. Raises BadFilter."""
        if asked is None:
            asked = {}
        if not isinstance(asked, dict) or not set(asked) <= set(KEYS):
            raise BadFilter(f"filter is {_quote(asked)}; it must be a map with the keys {' and '.join(KEYS)}")
        self.types = _types(asked.get("types"))
        self.where = _where(asked.get("where"))

    def passes(self, type_: str, tree: dict[str, Any]) -> bool:
        """Whether a record of this type is wanted. tree: its JSON tree."""
        if self.types is not None and type_ not in self.types:
            return False
        for field, values in self.where.items():
            value = tree.get(field)
            if isinstance(value, list):
                if not any(_is_in(item, values) for item in value):
                    return False
            elif not _is_in(value, values):
                return False
        return True


def _is_in(value: Any, values: frozenset[Any]) -> bool:
    """The values of a field; none if it is missing, null or a map."""
    return isinstance(value, str | int | float) and value in values


def _types(asked: Any) -> frozenset[str] | None:
    if asked is None:
        return None
    if not isinstance(asked, list) or not asked or not all(isinstance(name, str) for name in asked):
        raise BadFilter(f"filter.types is {_quote(asked)}; it must be a list of record types")
    unknown = sorted(set(asked) - _TYPES)
    if unknown:
        raise BadFilter(f"filter.types has {_quote(unknown[0])}; known types: {', '.join(sorted(_TYPES))}")
    return frozenset(asked)


def _where(asked: Any) -> dict[str, frozenset[Any]]:
    if asked is None:
        return {}
    if not isinstance(asked, dict) or len(asked) > FIELDS_MAX or not all(isinstance(field, str) for field in asked):
        reason = f"it must be a map of at most {FIELDS_MAX} fields to lists of values"
        raise BadFilter(f"filter.where is {_quote(asked)}; {reason}")
    for field, values in asked.items():
        is_list = isinstance(values, list) and 0 < len(values) <= VALUES_MAX
        if not is_list or not all(isinstance(value, str | int | float) for value in values):
            reason = f"it must be a list of 1 to {VALUES_MAX} strings or numbers"
            raise BadFilter(f"filter.where.{_quote(field)} is {_quote(values)}; {reason}")
    return {field: frozenset(values) for field, values in asked.items()}


def _quote(asked: Any) -> str:
    text = repr(asked)
    return text if len(text) <= 80 else text[:80] + "…"
