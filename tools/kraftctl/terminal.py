"""What the verbs share of a terminal: arguments, colour, a confirmation."""

from __future__ import annotations

import argparse
import sys

from records.plain_text import plain_text
from tools.command_line.standard_streams import escape
from tools.kraftctl.plain_streams import COLOUR_END, COLOURS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, TextIO

_FORMAT = argparse.RawDescriptionHelpFormatter


class Parser(argparse.ArgumentParser):
    """Arguments of a verb. Wrong ones exit with 1, as 2 says what the verb found."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: {plain_text(message)}\n")


def parser(prog: str, description: str, *examples: str) -> Parser:
    """A parser whose help ends with the examples."""
    return Parser(prog=prog, description=description, epilog=_list_examples(examples), formatter_class=_FORMAT)


def add_verb(verbs: Any, name: str, help_line: str, description: str, *examples: str) -> Parser:
    """Add a verb to those of a parser; its help ends with the examples. help_line: its line in the parser's help."""
    added: Parser = verbs.add_parser(
        name, help=help_line, description=description, epilog=_list_examples(examples), formatter_class=_FORMAT
    )
    return added


def _list_examples(examples: tuple[str, ...]) -> str:
    return "\n".join(("examples:", *(f"  {example}" for example in examples)))


def colour_text(text: str, colour: str) -> str:
    """The text, escaped (`plain_text`), in a colour if stdout is a terminal."""
    return f"\x1b[{colour}m{plain_text(text)}{COLOUR_END}" if sys.stdout.isatty() else plain_text(text)


def say(*lines: str, file: TextIO | None = None, flush: bool = False) -> None:
    """Print lines, each on one line: what is not printable is escaped, but our colours. file: stdout by default."""
    for line in lines:
        print(escape(line, COLOURS), file=file, flush=flush)


def add_writing_options(verb: argparse.ArgumentParser, dry_run: str = "print the plan and change nothing") -> None:
    """The options of a verb that asks before it writes (`is_confirmed`). dry_run: the help of --dry-run."""
    verb.add_argument("--dry-run", action="store_true", help=dry_run)
    verb.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    verb.add_argument("--json", action="store_true", help="print one JSON object")


def is_confirmed(question: str, *, is_given: bool, can_ask: bool = True) -> bool:
    """Whether the change is wanted: by an option, or by `y` on the terminal. Raises OSError if it cannot ask.

    can_ask: whether the plan was shown; it must be, and stdin must be a terminal, before a question is asked.
    """
    if is_given:
        return True
    if not can_ask:
        raise OSError("nothing was changed: --json does not ask; --yes confirms, --dry-run shows the plan")
    if not sys.stdin.isatty():
        raise OSError("nothing was changed: stdin is not a terminal; --yes confirms the plan")
    sys.stderr.write(f"{plain_text(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
