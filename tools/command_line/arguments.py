"""Options and sub-commands parsed like argparse4j, which most of Kafka's tools use: same texts, same exit codes.

Long options and sub-commands may be shortened to an unambiguous prefix; `-t VALUE`, `-tVALUE`, `-t=VALUE` and
`--option=VALUE` are equivalent; `--` ends the options. A parser may read arguments from files (`@file`, one a line).
"""

from __future__ import annotations

import sys

from tools.command_line.text_layout import entry, format_width, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

UNBOUNDED = 1 << 31


class ArgumentError(Exception):
    """A parser refused the arguments.

    parser: its usage is printed with the error. flag, command: the unknown name, for which similar names are suggested.
    """

    def __init__(self, parser: Parser, message: str, *, flag: str | None = None, command: str | None = None) -> None:
        super().__init__(message)
        self.parser = parser
        self.flag = flag
        self.command = command


class HelpShown(Exception):
    """Help was requested, and was printed."""


class Argument:
    """An option or a positional argument.

    nargs: None for exactly one value, or the least and the greatest number of values. action: `store`, `append`,
    `store_true` or `help`. convert: parses the text of a value; raises ValueError with the reason. exclusive: options
    with the same number exclude each other. group: the heading under which help lists the option. hidden: help does not
    list the option, and no prefix matches it.
    """

    __slots__ = (
        "action", "convert", "default", "dest", "exclusive", "flags", "group", "help", "hidden", "name", "nargs",
        "required",
    )  # fmt: skip

    def __init__(
        self,
        *names: str,
        help: str = "",  # noqa: A002 - the word of every option parser
        action: str = "store",
        required: bool = False,
        nargs: tuple[int, int] | None = None,
        default: object = None,
        convert: Callable[[str], object] | None = None,
        exclusive: int | None = None,
        group: str = "optional arguments",
        hidden: bool = False,
    ) -> None:
        is_option = names[0].startswith("-")
        self.flags = names if is_option else ()
        self.name = names[0]
        long = next((name for name in names if name.startswith("--")), names[0])
        self.dest = long.lstrip("-").replace("-", "_") if is_option else names[0]
        self.help = help
        self.action = action
        self.required = required
        self.nargs = nargs
        self.default = [] if not is_option and default is None and nargs and nargs[1] > 1 else default
        self.convert = convert
        self.exclusive = exclusive
        self.group = group
        self.hidden = hidden

    @property
    def takes_value(self) -> bool:
        return self.action in ("store", "append")

    def title(self) -> str:
        """The name of the argument in an error: all its flags."""
        return "/".join(self.flags) if self.flags else self.name

    def metavar(self) -> str:
        """The placeholder of its values in usage and help."""
        if not self.takes_value:
            return ""
        name = self.dest.upper() if self.flags else self.dest
        if self.nargs is None:
            return name
        match self.nargs:
            case (0, 1):
                return f"[{name}]"
            case (0, _):
                return f"[{name} [{name} ...]]"
            case (1, count) if count >= UNBOUNDED:
                return f"{name} [{name} ...]"
            case (count, _):
                return " ".join([name] * count)

    def usage(self) -> str:
        """The argument in a usage line, without brackets."""
        return f"{self.flags[0]} {self.metavar()}".rstrip() if self.flags else self.metavar()

    def bracketed_usage(self) -> str:
        """The argument in a usage line: in brackets if it is optional."""
        return f"[{self.usage()}]" if self.flags and not self.required else self.usage()

    def help_entry(self, width: int) -> str:
        if self.flags:
            title = ", ".join(f"{flag} {self.metavar()}".rstrip() for flag in self.flags)
        else:
            title = self.dest
        return entry(title, self.help, width)


class Arguments:
    """The parsed values by the names of their options; None for an option that was not given."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


class Parser:
    """A tool's arguments, or those of one of its sub-commands (`command`), in the order in which help lists them.

    one_of: the numbers of the groups of exclusive options of which one must be given.
    """

    def __init__(
        self,
        prog: str,
        *,
        description: str = "",
        add_help: bool = True,
        from_file: bool = False,
        command: str | None = None,
        parent: Parser | None = None,
        help: str = "",  # noqa: A002
    ) -> None:
        self.prog = prog
        self.description = description
        self.from_file = from_file
        self.command = command
        self.parent = parent
        self.help = help
        self.options: list[Argument] = []
        self.positionals: list[Argument] = []
        self.by_flag: dict[str, Argument] = {}
        self.one_of: set[int] = set()
        self.commands: dict[str, Parser] = {}
        if add_help:
            self.add("-h", "--help", action="help", help="show this help message and exit")

    def add(self, *names: str, **options: Any) -> Argument:
        """Add an argument; see `Argument` for its options."""
        argument = Argument(*names, **options)
        if argument.flags:
            self.options.append(argument)
            self.by_flag.update(dict.fromkeys(argument.flags, argument))
        else:
            self.positionals.append(argument)
        return argument

    def add_command(self, name: str, help: str) -> Parser:  # noqa: A002
        parser = Parser(self.prog, from_file=self.from_file, command=name, parent=self, help=help)
        self.commands[name] = parser
        return parser

    def fail(self, message: str, argument: Argument | None = None) -> NoReturn:
        raise ArgumentError(self, message if argument is None else f"argument {argument.title()}: {message}")

    def usage(self) -> str:
        """The usage lines, with a line end."""
        start = f"usage: {self.prog}"
        if len(start) > 30:
            lines, line, indent = [start], " " * 6, " " * 6
        else:
            lines, line, indent = [], start, " " * len(start)
        width = format_width()
        first = True
        for word in self._usage_words():
            if not first and len(line) + len(word) + 1 > width:
                lines.append(line)
                line = f"{indent} {word}"
            else:
                line = f"{line} {word}"
                first = False
        return "\n".join([*lines, line]) + "\n"

    def _usage_words(self) -> list[str]:
        words = self.words_before_command()
        if self.command is not None:
            words.append(self.command)
        words += [option.bracketed_usage() for option in self.options if option.exclusive is None and not option.hidden]
        for group in sorted({option.exclusive for option in self.options if option.exclusive is not None}):
            words += self.exclusive_words(group)
        words += [positional.bracketed_usage() for positional in self.positionals]
        if self.commands:
            words += [self.command_list(), "..."]
        return words

    def exclusive_words(self, group: int) -> list[str]:
        """Options of which one may be given, in brackets; in parentheses where one must be given."""
        choices = [option.usage() for option in self.options if option.exclusive == group]
        first, last = "()" if group in self.one_of else "[]"
        words = []
        for number, choice in enumerate(choices):
            start = first if number == 0 else ""
            end = last if number == len(choices) - 1 else ""
            words += ["|", f"{start}{choice}{end}"] if number else [f"{start}{choice}{end}"]
        return words

    def words_before_command(self) -> list[str]:
        """The commands of the parent parsers, each with its required arguments."""
        if self.parent is None:
            return []
        above = self.parent
        words = above.words_before_command()
        if above.command is not None:
            words.append(above.command)
        words += [option.bracketed_usage() for option in above.options if option.required and option.exclusive is None]
        for group in sorted(above.one_of):
            words += above.exclusive_words(group)
        return words + [positional.bracketed_usage() for positional in above.positionals]

    def command_list(self) -> str:
        return "{" + ",".join(self.commands) + "}"

    def help_text(self) -> str:
        """The help screen."""
        width = format_width()
        parts = [self.usage()]
        if self.description:
            parts.append(f"\n{wrap(self.description, width)}\n")
        if self.positionals or self.commands:
            parts.append("\npositional arguments:\n")
            parts += [positional.help_entry(width) for positional in self.positionals]
        if self.commands:
            parts.append(entry(self.command_list(), "", width))
            parts += [entry(f"  {name}", command.help, width) for name, command in self.commands.items()]
        for group in dict.fromkeys(option.group for option in self.options):
            parts.append(f"\n{group}:\n")
            parts += [
                option.help_entry(width) for option in self.options if option.group == group and not option.hidden
            ]
        return "".join(parts)


def error_text(error: ArgumentError) -> str:
    """The text on stderr for refused arguments: the usage, the error, and similar names."""
    from tools.command_line.suggestions import suggestions

    parser = error.parser
    text = parser.usage() + wrap(f"{parser.prog}: error: {error}\n", format_width())
    if error.flag is not None:
        body = error.flag.lstrip("-")
        if len(body) >= 2:
            flags = [flag for option in parser.options if not option.hidden for flag in option.flags]
            text += suggestions(body, {flag: flag.lstrip("-") for flag in flags if len(flag.lstrip("-")) > 1})
    elif error.command is not None:
        text += suggestions(error.command, {name: name for name in parser.commands})
    return text


def show_help(parser: Parser) -> NoReturn:
    """Print the help screen, and raise HelpShown."""
    sys.stdout.write(parser.help_text())
    raise HelpShown
