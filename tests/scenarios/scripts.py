"""Scenario files: commands, and what each must print (after the data-driven tests of etcd's raft).

    # a remark stands where it is
    command with words
    another
    ----
    what they print

A blank line ends a block. `pytest tests/scenarios --rewrite` writes what is printed now in place of what was expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULE = "----"


class Block(NamedTuple):
    """Commands that run together. head: their lines as they stand, with remarks; expected: the lines after the rule."""

    head: tuple[str, ...]
    expected: tuple[str, ...]

    @property
    def commands(self) -> list[str]:
        return [line.strip() for line in self.head if line.strip() and not line.lstrip().startswith("#")]


def read(path: Path) -> list[Block]:
    blocks = []
    for text in path.read_text().strip().split("\n\n"):
        lines = text.splitlines()
        rule = lines.index(RULE) if RULE in lines else len(lines)
        blocks.append(Block(tuple(lines[:rule]), tuple(lines[rule + 1 :])))
    return blocks


def run(path: Path, execute: Callable[[str], list[str]], *, rewrite: bool) -> None:
    """Run a file; fail at the first block that prints something else, or take what all of them print."""
    written = []
    for block in read(path):
        printed = [line for command in block.commands for line in execute(command)]
        if block.commands and not printed:
            printed = ["nothing"]
        if not rewrite:
            assert "\n".join(printed) == "\n".join(block.expected), f"{path.name}: {'; '.join(block.commands)}"
        written.append("\n".join([*block.head, RULE, *printed] if block.commands else block.head))
    if rewrite:
        path.write_text("\n\n".join(written) + "\n")
