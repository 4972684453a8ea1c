"""The commands of this project as trees: names, sub-commands, options and their help; for completion and manual pages.

They are read from what each command parses its arguments with, so nothing is declared twice.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import NamedTuple

from tools.command_line.options import FLAG
from tools.command_line.own_options import own_options
from tools.kraftctl.main import VERBS
from tools.registry import KAFKA_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.command_line.arguments import Parser
    from tools.command_line.options import Option
    from tools.registry import Tool


class Flag(NamedTuple):
    """One option. names: with their dashes; value: what stands for its value in help, empty if it takes none.

    choices: the values that it takes, empty if any.
    """

    names: tuple[str, ...]
    help: str
    value: str = ""
    choices: tuple[str, ...] = ()


class Command(NamedTuple):
    """A command or a sub-command. operands: what stands for its positional arguments, each with its help.

    epilog: the examples, if there are any.
    """

    name: str
    help: str
    flags: tuple[Flag, ...]
    commands: tuple[Command, ...] = ()
    operands: tuple[tuple[str, str], ...] = ()
    epilog: str = ""


def trees() -> list[Command]:
    """All commands, `kraftctl` first. Imports the modules of all of them."""
    pipeline_command = pipeline()
    return [
        kraftctl(),
        *(command_of(tool) for tool in KAFKA_TOOLS),
        *(() if pipeline_command is None else (pipeline_command,)),
    ]


def kraftctl() -> Command:
    flags = (Flag(("-h", "--help"), "list the verbs"), Flag(("--version",), "print the version"))
    verbs = (of_argparse(name, help_, _verb(module)) for name, (module, help_) in VERBS.items())
    return Command("kraftctl", "Runs and administers a quorum of controllers of Apache Kafka.", flags, tuple(verbs))


def _verb(module: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = import_module(module, __package__).arguments_parser()
    return parser


def command_of(tool: Tool) -> Command:
    """The command of one of Kafka's tools."""
    module = tool.load()
    if hasattr(module, "OPTIONS"):
        command = of_options(tool.name, module.DESCRIPTION, module.OPTIONS)
    else:
        command = of_parser(tool.name, module.parser())
    below = tuple(each._replace(flags=each.flags + _own_flags(tool.name, each.name)) for each in command.commands)
    return command._replace(flags=command.flags + _own_flags(tool.name, ""), commands=below)


def _own_flags(tool_name: str, command: str) -> tuple[Flag, ...]:
    """Those that stock's tool does not have, and so its help does not list."""
    return tuple(
        Flag(each.names, f"{each.help} Not in stock's tool.", each.value)
        for each in own_options(tool_name)
        if each.command == command
    )


def pipeline() -> Command | None:
    """`kraft-pipeline`; None where it, or what it needs, is not installed."""
    root = f"{__package__.removesuffix('tools.kraftctl')}pipeline.commands"
    try:
        commands = import_module(f"{root}.main").COMMANDS
        parsers = {name: argparse.ArgumentParser(name, description=help_) for name, (_, help_) in commands.items()}
        for name, (module, _) in commands.items():
            import_module(module, root).add_arguments(parsers[name])
    except ImportError:
        return None
    flags = (Flag(("-h", "--help"), "list the commands"), Flag(("--version",), "print the version"))
    below = (of_argparse(name, help_, parsers[name]) for name, (_, help_) in commands.items())
    return Command("kraft-pipeline", "Takes metadata logs into tables, and reports on them.", flags, tuple(below))


def of_argparse(name: str, help_line: str, parser: argparse.ArgumentParser) -> Command:
    """A command that parses its arguments with argparse, which has no public way to list them."""
    flags: list[Flag] = []
    commands: list[Command] = []
    operands: list[tuple[str, str]] = []
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            helps = {each.dest: each.help or "" for each in action._choices_actions}  # noqa: SLF001
            commands += [of_argparse(verb, helps.get(verb, ""), below) for verb, below in action.choices.items()]
        elif action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            flags.append(Flag(tuple(action.option_strings), _help(action, parser), _value(action), _choices(action)))
        else:
            metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
            operands.append((metavar, _help(action, parser)))
    text = parser.description or help_line
    return Command(name, text, tuple(flags), tuple(commands), tuple(operands), parser.epilog or "")


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return (action.help or "") % {**vars(action), "prog": parser.prog}


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    metavar = action.metavar or action.dest.upper()
    return metavar if isinstance(metavar, str) else " ".join(metavar)


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices or ()))


def of_parser(name: str, parser: Parser) -> Command:
    """A tool with the rules of argparse4j."""
    flags = [Flag(each.flags, each.help, each.metavar()) for each in parser.options if not each.hidden]
    below = [of_parser(command, each) for command, each in parser.commands.items()]
    operands = [(each.metavar(), each.help) for each in parser.positionals]
    return Command(name, parser.description or parser.help, tuple(flags), tuple(below), tuple(operands))


def of_options(name: str, description: str, options: Iterable[Option]) -> Command:
    """A tool with the rules of jopt-simple."""
    flags = [
        Flag(
            (f"--{each.name}",),
            each.description(),
            "" if each.value == FLAG else (each.described_as or each.type_name).upper().replace(" ", "-"),
        )
        for each in options
    ]
    return Command(name, description, tuple(flags))
