"""Shrinks a sequence that differs to a short one with the same difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.oracle.raft.commands import Pass, Request, Respond, Start
from tests.oracle.shrink import TRIES_MAX, smaller, without_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.raft.commands import Command

PLAINER = {
    "log": (), "snapshot": None, "election": None, "old_directory": False, "bootstrap": False, "config": (), "seed": 1,
    "kraft_version": 1, "voters": (1, 2, 3),
}  # fmt: skip


def shrunk(commands: list[Command], differs: Callable[[list[Command]], bool], tries: int = TRIES_MAX) -> list[Command]:
    """Remove commands, and then parts of bodies, as long as `differs` holds. The Start remains."""
    left = tries

    def holds(candidate: list[Command]) -> bool:
        nonlocal left
        left -= 1
        return left > 0 and differs(candidate)

    commands = without_commands(commands, holds)
    for index in range(len(commands) - 1, -1, -1):
        commands = _plainer(commands, index, holds)
    return without_commands(commands, holds)


def _plainer(commands: list[Command], index: int, holds: Callable[[list[Command]], bool]) -> list[Command]:
    progress = True
    while progress:
        progress = False
        for command in _plainer_forms(commands[index]):
            candidate = [*commands[:index], command, *commands[index + 1 :]]
            if holds(candidate):
                commands = candidate
                progress = True
                break
    return commands


def _plainer_forms(command: Command) -> Iterator[Command]:
    match command:
        case Start():
            for name, value in PLAINER.items():
                if getattr(command, name) != value:
                    yield replace(command, **{name: value})
            for place in range(len(command.log)):
                yield replace(command, log=(*command.log[:place], *command.log[place + 1 :]))
        case Request() | Respond():
            for body in smaller(command.body):
                yield replace(command, body=body)
        case Pass() if command.ms > 1:
            yield Pass(command.ms // 2)
