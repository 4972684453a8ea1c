"""The table of commands, and the parser."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from records.release import version_text
from simulations.commands.arguments import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each module has `SAYS`, `add(parser)`, and `execute(args) -> exit code`.
COMMANDS = (
    "run",
    "sweep",
    "mutants",
    "shrink",
    "corpus",
    "results",
    "coverage",
    "lines",
    "determinism",
    "search",
    "histories",
    "spec",
    "bench",
    "chaos",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit code: 0 for success, 1 where something broke, 2 for wrong arguments."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Simulated worlds, made from a seed, that run a quorum under faults."
    )
    parser.add_argument("--version", action="version", version=version_text(PROGRAM))
    parsers = parser.add_subparsers(dest="command", required=True)
    for name in COMMANDS:
        module = import_module(f".{name}", __package__)
        module.add(parsers.add_parser(name, help=module.SAYS, description=module.SAYS))
    args = parser.parse_args(argv)
    try:
        code: int = import_module(f".{args.command}", __package__).execute(args)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return 130
    return code
