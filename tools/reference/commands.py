"""The page `docs/commands.md`: every command and verb with its options, made from what each parses its arguments with;
`make docs` writes it.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.kraftctl.command_trees import command_of, kraftctl
from tools.kraftctl.manual import synopsis, title_of
from tools.registry import KAFKA_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.kraftctl.command_trees import Command

FILE = Path(__file__).parents[2] / "docs" / "commands.md"

_HEAD = """\
# Commands

<!-- Do not edit: `make docs` writes this file from tools/registry.py and the options that each command parses. -->

Every command with its sub-commands and options, as `--help` and the manual pages (`kraftctl manual DIR`) have them.
[tools.md](tools.md) says how Kafka's tools differ from stock's; [history.md](history.md) has `kraft-pipeline`.
"""


def page() -> str:
    """The whole page: `kraftctl` and its verbs, then Kafka's tools in the order of the registry."""
    commands = (kraftctl(), *(command_of(tool) for tool in KAFKA_TOOLS))
    return _HEAD + "".join(line for command in commands for line in section(command, "", 2))


def section(command: Command, above: str, depth: int) -> Iterator[str]:
    """The parts of the page for a command and those below it. above: the command it is of; depth: of the heading."""
    name = f"{above} {command.name}".strip()
    yield f"\n{'#' * min(depth, 4)} {name}\n\n```text\n{name} {synopsis(command)}".rstrip() + "\n```\n"
    for paragraph in command.help.split("\n\n"):
        if paragraph.strip():
            yield f"\n{escape(paragraph)}\n"
    rows = [*command.operands, *((title_of(flag), flag.help) for flag in command.flags)]
    if rows:
        yield "\n" + "".join(f"- `{title}`{f': {escape(text)}' if text.strip() else ''}\n" for title, text in rows)
    if command.epilog:
        yield f"\n```text\n{command.epilog.strip()}\n```\n"
    for each in command.commands:
        yield from section(each, name, depth + 1)


def escape(text: str) -> str:
    """A text on one line, as Markdown shows it."""
    return re.sub(r"([\\*_\[\]|])", r"\\\1", " ".join(text.split())).replace("<", "&lt;")


if __name__ == "__main__":
    FILE.write_text(page(), "utf-8")
    print(FILE)
