"""What tools of the jopt-simple family share: help and version, required options, options that exclude others."""

from __future__ import annotations

import sys

from records.release import KAFKA_VERSION
from tools.command_line.options import REQUIRED_VALUE, Option, Options, help_table
from tools.command_line.standard_streams import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HELP = Option("help", "Print usage information.")
VERSION = Option("version", "Display Kafka version.")
# Stock does not have this option; help does not list it, so that help equals stock's.
BOOTSTRAP_CONTROLLER = Option("bootstrap-controller", "Controllers to connect to.", value=REQUIRED_VALUE)


class Exit(Exception):
    """The tool has printed why it ends. code: its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def usage(message: str, options: Sequence[Option]) -> Exit:
    """Print a message and the table of the options; the exception to raise."""
    complain(f"{message}\n{help_table(options)}")
    return Exit(1)


def check_help(given: Options, arguments: Sequence[str], options: Sequence[Option], description: str) -> None:
    """Print the help or the version. Raises Exit if the help or the version was asked for, or nothing at all."""
    if not arguments or given.has("help"):
        raise usage(description, options)
    if given.has("version"):
        sys.stdout.write(f"{KAFKA_VERSION}\n")
        raise Exit(0)


def check_required(given: Options, names: Iterable[str], options: Sequence[Option]) -> None:
    """Check that options are given. Raises Exit for the first of these that is not."""
    for name in names:
        if not given.has(name):
            raise usage(f'Missing required argument "[{name}]"', options)


def check_excluded(given: Options, name: str, others: Iterable[str], options: Sequence[Option]) -> None:
    """Check that options exclude each other. Raises Exit if `name` is given together with one of the others."""
    if given.has(name):
        for other in others:
            if given.has(other):
                raise usage(f'Option "[{name}]" can\'t be used with option "[{other}]"', options)
