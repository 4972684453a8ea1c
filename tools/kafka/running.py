"""How the tools run: their arguments are read, and what ends them is printed, with the exit codes of stock."""

from __future__ import annotations

import sys

from tools.client.exceptions import message_and_trace
from tools.command_line.java_texts import Uncaught
from tools.command_line.standard_streams import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tools.command_line.arguments import Arguments, Parser
    from tools.command_line.options import Option, Options


def run_command(
    parser: Parser, commands: Mapping[str, Callable[[Arguments], None]], arguments: list[str], *, help_code: int = 0
) -> int:
    """Run the sub-command of a tool of the argparse4j family; returns the exit code, help_code where help is shown."""
    from tools.command_line.argument_reader import parse
    from tools.command_line.arguments import ArgumentError, HelpShown, error_text
    from tools.kafka.feature_tables import Terse

    try:
        given = parse(parser, arguments)
        commands[given.command](given)
    except HelpShown:
        return help_code
    except ArgumentError as error:
        complain(error_text(error))
        return 1
    except Terse as error:
        complain(f"{error}\n")
        return 1
    except Uncaught as error:
        complain(message_and_trace(error))
        return 1
    return 0


def run_options(
    options: Sequence[Option], description: str, arguments: list[str], work: Callable[[Options], None]
) -> int:
    """Run a tool of the jopt-simple family, which has `--bootstrap-controller` too; returns the exit code.

    options: those of stock, which help lists. work: raises Exit, OptionError, Uncaught.
    """
    from tools.command_line.option_tools import BOOTSTRAP_CONTROLLER, check_help
    from tools.command_line.options import read

    def run() -> None:
        given = read((*options, BOOTSTRAP_CONTROLLER), arguments)
        check_help(given, arguments, options, description)
        work(given)

    return _run_reporting(run, complain)


def run_reporting(work: Callable[[], None], prefix: str) -> int:
    """Run the work of a tool that reports on standard output what ends it; returns the exit code.

    work: raises Exit, OptionError, Uncaught. prefix: of the report.
    """
    return _run_reporting(work, lambda text: sys.stdout.write(prefix + text))


def _run_reporting(work: Callable[[], None], report: Callable[[str], object]) -> int:
    """The exit code of the work. report: prints what ended it, unless that is an Exit."""
    from tools.command_line.option_tools import Exit
    from tools.command_line.options import OptionError

    try:
        work()
    except Exit as end:
        return end.code
    except OptionError as error:
        report(f"{error.message}\n{error}\n\n")
        return 1
    except Uncaught as error:
        report(message_and_trace(error))
        return 1
    return 0
