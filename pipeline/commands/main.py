"""`kraft-pipeline COMMAND …`: finds the command's module, and imports nothing else."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from importlib import import_module

from records.release import version_text

# command: (module relative to this package, what it does); a module has add_arguments(parser) and run(arguments), which
# returns the exit code
COMMANDS = {
    "ingest": (".ingest", "take metadata logs into the table `records`"),
    "tables": (".tables", "take metadata logs in, and derive all tables from them"),
    "serve": (".serve", "keep the tables live, by a streaming job, until Ctrl-C"),
    "report": ("..report.command", "make a page of what the tables tell of a fleet"),
    "plan": ("..planner.command", "plan the fewest moves that make racks and brokers even"),
    "prepare": (".prepare", "let these commands start sooner: an archive of Spark's classes"),
    "history": (".history", "write directories with a made-up history, to try all this on"),
}


def usage() -> str:
    lines = ["usage: kraft-pipeline COMMAND [-h] … | --version", "", "commands:"]
    return "\n".join([*lines, *(f"  {name:<8} {what}" for name, (_, what) in COMMANDS.items())])


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code. For an unknown command, usage on stderr and 1."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0
    if given == ["--version"]:
        print(version_text("kraft-pipeline"))
        return 0
    if not given or given[0] not in COMMANDS:
        what = f"kraft-pipeline: there is no command {given[0]!r}\n\n" if given else ""
        print(what + usage(), file=sys.stderr)
        return 1
    module = import_module(COMMANDS[given[0]][0], __package__)
    parser = ArgumentParser(prog=f"kraft-pipeline {given[0]}", description=COMMANDS[given[0]][1])
    module.add_arguments(parser)
    try:
        return int(module.run(parser.parse_args(given[1:])))
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
