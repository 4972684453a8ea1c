"""Parsing a command line with a parser (`tools.command_line.arguments`), argument by argument."""

from __future__ import annotations

from tools.command_line.arguments import Argument, ArgumentError, Arguments, Parser, show_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Values = dict[str, Any]


# A file of arguments may name another file; a file that names itself would never end.
FILES_MAX = 100
FILE_CHARACTERS_MAX = 1 << 20


def parse(parser: Parser, arguments: list[str]) -> Arguments:
    """The parsed values; raises ArgumentError, or HelpShown after the help was printed."""
    parsed = Arguments()
    reader = Reader(arguments)
    reader.read(parser, parsed.values)
    if reader.deferred is not None:
        raise reader.deferred
    return parsed


class Reader:
    """The arguments, the position in them, and the values of positional arguments so far.

    deferred: an error about a missing argument; it is raised at the end if there is no other error.
    """

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = list(arguments)
        self.index = 0
        self.last_from_file = -1
        self.files_read = 0
        self.options_ended = False
        self.deferred: ArgumentError | None = None
        self.positional = 0
        self.taken = 0
        self.gathered: list[str] = []

    def read(self, parser: Parser, values: Values) -> None:
        """Read the remaining arguments for `parser` and its sub-commands into `values`; raises ArgumentError."""
        for argument in (*parser.positionals, *parser.options):
            if argument.action != "help":
                values[argument.dest] = False if argument.action == "store_true" else argument.default
        used: set[Argument] = set()
        chosen: dict[int, Argument] = {}
        while self.index < len(self.arguments):
            if self.at_flag(parser) and self.current() != "--":
                self.read_option(parser, values, used, chosen)
            elif self.current() == "--" and not self.options_ended:
                self.options_ended = True
                self.index += 1
            elif self.positional < len(parser.positionals):
                self.gather(parser, parser.positionals[self.positional])
            elif not self.options_ended and parser.commands:
                self.finish(parser, values, used, chosen)
                self.positional = self.taken = 0
                self.gathered.clear()
                self.read_command(parser, values)
                return
            else:
                raise ArgumentError(parser, self.unrecognized_text(" ".join(self.arguments[self.index :])))
        if parser.commands:
            raise ArgumentError(parser, "too few arguments")
        self.finish(parser, values, used, chosen)

    def current(self) -> str:
        return self.arguments[self.index]

    def at_flag(self, parser: Parser) -> bool:
        """Whether the current argument is a flag (`--` is one); replaces `@file` by the arguments in the file first."""
        while parser.from_file and len(self.current()) > 1 and self.current().startswith("@"):
            self.read_file(parser, self.current().lstrip("@"))
        term = self.current()
        if self.options_ended:
            return False
        if term == "--":
            return True
        is_number = term[1:].isascii() and term[1:].isdecimal()
        return term.startswith("-") and term.lstrip("-") != "" and not is_number

    def read_file(self, parser: Parser, name: str) -> None:
        """Replace the arguments read so far, and the argument that names the file, with the lines of the file."""
        self.files_read += 1
        try:
            with open(name, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib costs 10 ms
                text = file.read(FILE_CHARACTERS_MAX + 1)
        except (OSError, ValueError):
            raise ArgumentError(parser, f"Could not read arguments from file '{name}'") from None
        if len(text) > FILE_CHARACTERS_MAX or self.files_read > FILES_MAX:
            raise ArgumentError(
                parser, f"Could not read arguments from file '{name}': it is too large, or names itself"
            )
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        offset = self.index + 1
        if self.last_from_file < offset:
            self.last_from_file = len(lines) - 1
        else:
            self.last_from_file += len(lines) - offset
        self.arguments[:offset] = lines
        self.index = 0
        if not self.arguments:
            raise ArgumentError(parser, "too few arguments")

    def read_option(self, parser: Parser, values: Values, used: set[Argument], chosen: dict[int, Argument]) -> None:
        term = self.current()
        flag, equals, given = term.partition("=")
        value = given if equals else None
        option = resolve(parser, flag)
        if option is None:
            option, flag, value = self.read_cluster(parser, values, used, chosen)
        self.index += 1
        if option is not None:
            check_exclusive(parser, option, chosen)
            self.run_option(parser, values, option, value)
            used.add(option)

    def read_cluster(
        self, parser: Parser, values: Values, used: set[Argument], chosen: dict[int, Argument]
    ) -> tuple[Argument | None, str, str | None]:
        """Read the flags without a value in `-abVALUE`; the caller reads the last flag, which has a value."""
        term = self.current()
        if not term.startswith("--"):
            for position, letter in enumerate(term[1:], 1):
                option = parser.by_flag.get(f"-{letter}")
                if option is None:
                    break
                if option.takes_value:
                    return option, f"-{letter}", term[position + 1 :] or None
                check_exclusive(parser, option, chosen)
                store(parser, values, option, None)
                used.add(option)
            else:
                return None, term, None
        raise ArgumentError(parser, self.unrecognized_text(term), flag=term)

    def run_option(self, parser: Parser, values: Values, option: Argument, value: str | None) -> None:
        if not option.takes_value:
            if value is not None:
                parser.fail(f"ignore implicit argument '{value}'", option)
            store(parser, values, option, None)
            return
        if value is None and self.index < len(self.arguments) and not self.at_flag(parser):
            value = self.current()
            self.index += 1
        if value is None:
            parser.fail("expected one argument", option)
        store(parser, values, option, convert(parser, option, value))

    def gather(self, parser: Parser, argument: Argument) -> None:
        """Collect values of positional arguments; `finish` decides which argument gets how many."""
        if argument.nargs is None or argument.nargs == (0, 1):
            self.gathered.append(self.current())
            self.index += 1
            self.positional += 1
            return
        while self.taken < argument.nargs[1] and self.index < len(self.arguments) and not self.at_flag(parser):
            self.gathered.append(self.current())
            self.taken += 1
            self.index += 1
        if self.taken == argument.nargs[1]:
            self.positional += 1
            self.taken = 0

    def finish(self, parser: Parser, values: Values, used: set[Argument], chosen: dict[int, Argument]) -> None:
        """Assign the collected values to the positional arguments, and report missing arguments."""
        needs = [1 if argument.nargs is None else argument.nargs[0] for argument in parser.positionals]
        if sum(needs) > len(self.gathered):
            raise ArgumentError(parser, "too few arguments")
        left = list(self.gathered)
        for number, argument in enumerate(parser.positionals):
            spare = len(left) - sum(needs[number + 1 :])
            if argument.nargs is None:
                values[argument.dest] = convert(parser, argument, left.pop(0))
            elif argument.nargs == (0, 1):
                if spare:
                    values[argument.dest] = convert(parser, argument, left.pop(0))
            elif count := min(argument.nargs[1], spare):
                values[argument.dest] = [convert(parser, argument, text) for text in left[:count]]
                del left[:count]
        for option in parser.options:
            # The last missing argument is reported, as by argparse4j, but a parent parser's takes precedence.
            if option.required and option not in used and (self.deferred is None or self.deferred.parser is parser):
                self.deferred = ArgumentError(parser, f"argument {option.title()} is required")
        for group in sorted(parser.one_of - set(chosen)):
            if self.deferred is None:
                titles = " ".join(option.title() for option in parser.options if option.exclusive == group)
                self.deferred = ArgumentError(parser, f"one of the arguments {titles} is required")

    def read_command(self, parser: Parser, values: Values) -> None:
        given = self.current()
        names = [given] if given in parser.commands else [name for name in parser.commands if name.startswith(given)]
        if not given or not names:
            known = ", ".join(f"'{name}'" for name in parser.commands)
            raise ArgumentError(parser, f"invalid choice: '{given}' (choose from {known})", command=given)
        if len(names) > 1:
            raise ArgumentError(parser, f"ambiguous command: {given} could match {', '.join(sorted(names))}")
        self.index += 1
        self.read(parser.commands[names[0]], values)
        values["command"] = names[0]

    def unrecognized_text(self, what: str) -> str:
        advice = ""
        if self.index <= self.last_from_file:
            advice = "\nChecking trailing white spaces or new lines in @file may help."
        return f"unrecognized arguments: '{what}'{advice}"


def resolve(parser: Parser, flag: str) -> Argument | None:
    """The option of a flag or prefix; None if there is none. Raises ArgumentError if the prefix is ambiguous."""
    if flag in parser.by_flag:
        return parser.by_flag[flag]
    names = [name for name, option in parser.by_flag.items() if name.startswith(flag) and not option.hidden]
    if not names:
        return None
    if is_cluster(parser, flag):
        names.append(flag[:2])
    elif len(names) == 1:
        return parser.by_flag[names[0]]
    raise ArgumentError(parser, f"ambiguous option: {flag} could match {', '.join(sorted(names))}")


def is_cluster(parser: Parser, flag: str) -> bool:
    """Whether a flag could be a cluster of one-letter flags."""
    if len(flag) < 2 or flag[1] == "-":
        return False
    for letter in flag[1:]:
        option = parser.by_flag.get(f"-{letter}")
        if option is None:
            return False
        if option.takes_value:
            return True
    return True


def check_exclusive(parser: Parser, option: Argument, chosen: dict[int, Argument]) -> None:
    if option.exclusive is not None:
        other = chosen.setdefault(option.exclusive, option)
        if other is not option:
            parser.fail(f"not allowed with argument {other.title()}", option)


def convert(parser: Parser, argument: Argument, text: str) -> object:
    if argument.convert is None:
        return text
    try:
        return argument.convert(text)
    except ValueError as error:
        parser.fail(str(error), argument)


def store(parser: Parser, values: Values, option: Argument, value: object) -> None:
    match option.action:
        case "help":
            show_help(parser)
        case "store_true":
            values[option.dest] = True
        case "append":
            values[option.dest] = [*(values[option.dest] or ()), value]
        case _:
            values[option.dest] = value
