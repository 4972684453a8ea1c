"""Requests of brokers that are served in parts: each of their partitions is changed or refused by itself.

A part is a request like any other: it is decided in one step, its records are a batch of its own, and the broker's
epoch is checked again. So nothing waits for a large request, and nobody can overtake it.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.registry import response_class
from records.schema import default_of, replace, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The partitions of a part: some 4 ms.
PART_SIZE = 150
# API key -> the arrays within each other down to the partitions; those of the response have the same names.
PATHS = {56: ("topics", "partitions"), 73: ("directories", "topics", "partitions")}


def cut(message: Any, path: tuple[str, ...], size: int, room: int) -> Iterator[tuple[int, Any]]:
    """The message in pieces, each with its partitions, of which the first has at most `room`, others at most `size`.

    What has no partitions counts as one.
    """
    elements = getattr(message, path[0])
    group: list[Any] = []
    used = start = 0
    if len(path) == 1:
        while room < len(elements) - start:
            yield room, replace(message, **{path[0]: elements[start : start + room]})
            start, room = start + room, size
        used, group = max(len(elements) - start, 1), elements[start:]
    for element in elements if len(path) > 1 else ():
        for count, piece in cut(element, path[1:], size, room - used):
            group.append(piece)
            used += count
            if used >= room:
                yield used, replace(message, **{path[0]: tuple(group)})
                group, used, room = [], 0, size
    if group or not elements:
        yield max(used, 1), replace(message, **{path[0]: tuple(group)})


def join(request: Any, path: tuple[str, ...], answers: Iterator[Any]) -> Any:
    """The answer to a request from those to its pieces, at each level."""
    first = next(answers)
    name, asked = path[0], getattr(request, path[0])
    inner = chain(getattr(first, name), chain.from_iterable(getattr(each, name) for each in answers))
    if len(path) == 1:
        return replace(first, **{name: tuple(islice(inner, len(asked)))})
    return replace(first, **{name: tuple([join(each, path[1:], inner) for each in asked])})


def refused(cls: type[Any], request: Any, path: Iterable[str], error: int) -> Any:
    """A response, or an element of one, in which each partition has the error."""
    same = {"topic_id", "id", "partition_index"}
    fields = {name: getattr(request, name) for name in same if hasattr(request, name)}
    for name in path:
        element = next(field.element for field in schema_of(cls).fields if field.name == name)
        inner = tuple(refused(element, each, [*path][1:], error) for each in getattr(request, name))
        return replace(default_of(cls), **fields, **{name: inner})
    return replace(default_of(cls), **fields, error_code=error)


class Parts:
    """One request in parts. number: how many were taken; left: the next one, None where all were taken."""

    def __init__(self, api_key: int, request: Any, size: int) -> None:
        self._api_key = api_key
        self._request = request
        self._pieces = cut(request, PATHS[api_key], size, size)
        self._taken: list[Any] = []
        self._answers: dict[int, Any] = {}
        self.left: Any = next(self._pieces)[1]

    @property
    def number(self) -> int:
        return len(self._taken)

    def take(self) -> Any:
        """The next part."""
        part = self.left
        self._taken.append(part)
        self.left = next(self._pieces, (0, None))[1]
        return part

    def answer(self, number: int, response: Any) -> bool:
        """Take the answer to a part; returns whether it was the last one. If the first one fails, no other is taken."""
        self._answers[number] = response
        if number == 0 and response.error_code:
            self.left = None
        return self.left is None and len(self._answers) == self.number

    def joined(self) -> Any:
        """The answer to the whole request.

        An error of the whole stands for all of it where each part has it, or this node lost its leadership, so that the
        outcome is unknown. Else the partitions of the parts that failed have it: the others were changed.
        """
        answers = [self._answers[number] for number in range(self.number)]
        failed = [each for each in answers if each.error_code]
        lost = [each for each in failed if each.error_code == Error.NOT_CONTROLLER]
        if lost or len(failed) == len(answers):
            return (lost or failed)[0]
        cls, path = response_class(self._api_key), PATHS[self._api_key]
        whole = (
            replace(refused(cls, part, path, each.error_code), throttle_time_ms=0) if each.error_code else each
            for part, each in zip(self._taken, answers, strict=True)
        )
        return join(self._request, path, whole)
