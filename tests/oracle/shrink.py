"""Shrinks a sequence that differs to a short one with the same difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tests.oracle.commands import Request, Start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.commands import Command

C = TypeVar("C")
TRIES_MAX = 600
NEWEST = (("metadata.version", 30),)
ELR = ("eligible.leader.replicas.version", 1)


def shrunk(commands: list[Command], differs: Callable[[list[Command]], bool], tries: int = TRIES_MAX) -> list[Command]:
    """Remove commands, and then parts of requests, as long as `differs` holds. The Start remains."""
    left = tries

    def holds(candidate: list[Command]) -> bool:
        nonlocal left
        left -= 1
        return left > 0 and differs(candidate)

    commands = without_commands(commands, holds)
    commands = _plainer_start(commands, holds)
    for index in range(len(commands) - 1, 0, -1):
        commands = _smaller_body(commands, index, holds)
    return without_commands(commands, holds)


def without_commands(commands: list[C], holds: Callable[[list[C]], bool]) -> list[C]:
    """Remove commands, in halves, quarters and so on, as long as `holds` does. The first remains."""
    size = max(len(commands) // 2, 1)
    while size:
        position = len(commands) - size
        while position >= 1:
            candidate = [*commands[:position], *commands[position + size :]]
            if len(candidate) > 1 and holds(candidate):
                commands = candidate
            position -= size
        size //= 2
    return commands


def _plainer_start(commands: list[Command], holds: Callable[[list[Command]], bool]) -> list[Command]:
    start = commands[0]
    assert isinstance(start, Start)
    for key, _ in start.properties:
        plainer = replace(start, properties=tuple(item for item in start.properties if item[0] != key))
        if holds([plainer, *commands[1:]]):
            commands, start = [plainer, *commands[1:]], plainer
    for levels in (NEWEST, (*NEWEST, ELR)):
        plainer = replace(start, levels=levels)
        if start.levels not in (NEWEST, (*NEWEST, ELR)) and holds([plainer, *commands[1:]]):
            return [plainer, *commands[1:]]
    return commands


def _smaller_body(commands: list[Command], index: int, holds: Callable[[list[Command]], bool]) -> list[Command]:
    command = commands[index]
    if not isinstance(command, Request):
        return commands
    progress = True
    while progress:
        progress = False
        for body in smaller(command.body):
            candidate = [*commands[:index], replace(command, body=body), *commands[index + 1 :]]
            if holds(candidate):
                commands, command = candidate, replace(command, body=body)
                progress = True
                break
    return commands


def smaller(tree: Any) -> Iterator[Any]:
    """Trees with one part less: a key, an element of a list."""
    if isinstance(tree, dict):
        for key in tree:
            yield {name: value for name, value in tree.items() if name != key}
        for key, value in tree.items():
            for inner in smaller(value):
                yield {**tree, key: inner}
    elif isinstance(tree, list):
        for position in range(len(tree)):
            yield [*tree[:position], *tree[position + 1 :]]
        for position, value in enumerate(tree):
            for inner in smaller(value):
                yield [*tree[:position], inner, *tree[position + 1 :]]
