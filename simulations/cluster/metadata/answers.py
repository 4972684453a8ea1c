"""Responses of the active controller fit the request: one result for each item, and no internal error.

C22 AnswersFit. Which error an item must get is checked by `admin_mistakes`, `rules` and the histories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.configs import IncrementalAlterConfigsRequest
from records.resource_types import ConfigOperation, ResourceType
from records.schema import is_struct, schema_of
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Items = set[tuple[Any, ...]]


def check(node_id: int, request: Any, response: Any) -> None:
    """Check a response. Raises Violation if a response of the active controller does not fit."""
    what = f"node {node_id} answers {type(request).__name__}"
    if Error.UNKNOWN_SERVER_ERROR in errors_of(response) and not has_null_level(request):
        raise Violation("C22", f"{what} with UNKNOWN_SERVER_ERROR: {response}")
    fields = _ITEMS.get(type(request).__name__)
    if fields is None or getattr(response, "error_code", Error.NONE) != Error.NONE:
        return
    asked, answered = fields[0](request), fields[1](response)
    if asked != answered:
        raise Violation("C22", f"{what} for {sorted(answered, key=str)}, but was asked for {sorted(asked, key=str)}")


def has_null_level(request: Any) -> bool:
    """Whether a request sets the level of a logger to null, which is answered with an internal error, as in stock."""
    return isinstance(request, IncrementalAlterConfigsRequest) and any(
        config.config_operation == ConfigOperation.SET and config.value is None
        for resource in request.resources
        if resource.resource_type == ResourceType.BROKER_LOGGER
        for config in resource.configs
    )


def errors_of(value: Any) -> Iterable[int]:
    """All error codes in a response, at any depth."""
    code = getattr(value, "error_code", None)
    if code is not None:
        yield code
    for field in schema_of(type(value)).fields:
        inner = getattr(value, field.name)
        if isinstance(inner, tuple) and inner and is_struct(type(inner[0])):
            for each in inner:
                yield from errors_of(each)


def _by(items: str, *names: str) -> Callable[[Any], Items]:
    """The fields that identify the items of a list."""
    return lambda message: {tuple(getattr(each, name) for name in names) for each in getattr(message, items)}


def _within(items: str, topic: str, inner: str, index: str) -> Callable[[Any], Items]:
    """Topics, and partitions within them. A message without the list is about none in particular."""

    def find(message: Any) -> Items:
        return {
            (getattr(each, topic), part if isinstance(part, int) else getattr(part, index))
            for each in getattr(message, items) or ()
            for part in getattr(each, inner)
        }

    return find


_ITEMS: dict[str, tuple[Callable[[Any], Items], Callable[[Any], Items]]] = {
    "CreateTopicsRequest": (_by("topics", "name"), _by("topics", "name")),
    "CreatePartitionsRequest": (_by("topics", "name"), _by("results", "name")),
    "IncrementalAlterConfigsRequest": (
        _by("resources", "resource_type", "resource_name"), _by("responses", "resource_type", "resource_name"),
    ),
    "AlterConfigsRequest": (
        _by("resources", "resource_type", "resource_name"), _by("responses", "resource_type", "resource_name"),
    ),
    "DescribeConfigsRequest": (
        _by("resources", "resource_type", "resource_name"), _by("results", "resource_type", "resource_name"),
    ),
    "AlterPartitionReassignmentsRequest": (
        _within("topics", "name", "partitions", "partition_index"),
        _within("responses", "name", "partitions", "partition_index"),
    ),
    "AlterPartitionRequest": (
        _within("topics", "topic_id", "partitions", "partition_index"),
        _within("topics", "topic_id", "partitions", "partition_index"),
    ),
}  # fmt: skip
