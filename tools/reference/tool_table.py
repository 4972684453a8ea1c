"""Writes the table of Kafka's tools in docs/tools.md: `make docs`."""

from __future__ import annotations

import re
from pathlib import Path

from tools.command_line.own_options import HELP_OWN, VERSION, own_options
from tools.registry import KAFKA_TOOLS

FILE = Path(__file__).parents[2] / "docs" / "tools.md"
HEAD = "| tool | sub-commands, or what it does | options that only ours has |\n|---|---|---|\n"


def table() -> str:
    """A row for each tool. Options that all have are left out."""
    rows = ""
    for tool in KAFKA_TOOLS:
        own = ", ".join(
            f"`{f'{each.command} {each.names[0]}'.strip()}`"
            for each in own_options(tool.name)
            if each.names[0] not in (HELP_OWN, VERSION)
        )
        rows += f"| `{tool.name}` | {tool.help} | {own}{' ' if own else ''}|\n"
    return HEAD + rows


def page(text: str) -> str:
    """The document with the table of today."""
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: table(), text)


if __name__ == "__main__":
    FILE.write_text(page(FILE.read_text("utf-8")), "utf-8")
    print(FILE)
