"""Options parsed like jopt-simple, which kafka-dump-log and a few others use: no abbreviations, help on stderr.

`--name VALUE` and `--name=VALUE` are equivalent; so are `-name` and `--name`. An `OptionError` stands for an exception
that is uncaught in Java; its text is the first line that Java prints.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

FLAG, REQUIRED_VALUE, OPTIONAL_VALUE = range(3)
_WIDTH = 80


class OptionError(Exception):
    """Options are refused. The text begins with the name of jopt-simple's exception, and ends with its causes.

    message: without the name and the causes.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"joptsimple.{name}: {message}")
        self.message = message.partition("\n")[0]


class NotOneOf(ValueError):
    """The text of a value is none of a few words."""


class Option:
    """One option. value: whether it takes one; type_name, described_as and default are for help.

    convert: parses the text of a value; raises ValueError if it is invalid.
    """

    __slots__ = ("convert", "default", "described_as", "help", "name", "type_name", "value")

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002 - the word of every option parser
        *,
        value: int = FLAG,
        type_name: str = "String",
        described_as: str = "",
        default: object = None,
        convert: Callable[[str], object] | None = None,
    ) -> None:
        self.name = name
        self.help = help
        self.value = value
        self.type_name = type_name
        self.described_as = described_as
        self.default = default
        self.convert = convert

    def title(self) -> str:
        """The option with the description of its value, as help lists it."""
        if self.value == FLAG:
            return f"--{self.name}"
        what = f"{self.type_name}: {self.described_as}" if self.described_as else self.type_name
        return f"--{self.name} <{what}>" if self.value == REQUIRED_VALUE else f"--{self.name} [{what}]"

    def description(self) -> str:
        return self.help if self.default is None else f"{self.help} (default: {self.default})"


class Options:
    """The given options, each with the texts of its values. order: their names as they were given."""

    def __init__(self, options: Sequence[Option]) -> None:
        self.known = {option.name: option for option in options}
        self.given: dict[str, list[str]] = {}
        self.order: list[str] = []

    def has(self, name: str) -> bool:
        return name in self.given

    def value(self, name: str) -> Any:
        """The value of an option; its default if it was not given.

        Raises OptionError if there are several values, or if the text is not of the option's type.
        """
        option = self.known[name]
        texts = self.given.get(name, [])
        values = []
        for text in texts:
            try:
                values.append(text if option.convert is None else option.convert(text))
            except ValueError as error:
                cause = f"java.lang.NumberFormatException: {error}"
                causes = f"Caused by: joptsimple.internal.ReflectionException: {cause}\nCaused by: {cause}"
                if isinstance(error, NotOneOf):
                    causes = f"Caused by: joptsimple.ValueConversionException: {error}"
                refused = f"Cannot parse argument '{text}' of option {name}"
                raise OptionError("OptionArgumentConversionException", f"{refused}\n{causes}") from None
        if len(values) > 1:
            raise OptionError(
                "MultipleArgumentsForOptionException",
                f"Found multiple arguments for option {name}, but you asked for only one",
            )
        return values[0] if values else option.default


def read(options: Sequence[Option], arguments: Sequence[str]) -> Options:
    """The options in `arguments`; other arguments are ignored, as by jopt-simple. Raises OptionError."""
    parsed = Options(options)
    left = list(arguments)[::-1]
    while left:
        argument = left.pop()
        if argument == "--":
            break
        if not argument.startswith("-") or argument == "-":
            continue
        name, equals, value = argument[2 if argument.startswith("--") else 1 :].partition("=")
        if name not in parsed.known:
            # A run of one-letter options: no tool has any, so the first letter is the unknown option.
            unknown = name if argument.startswith("--") else argument[1]
            raise OptionError("UnrecognizedOptionException", f"{unknown} is not a recognized option")
        values = parsed.given.setdefault(name, [])
        parsed.order.append(name)
        option = parsed.known[name]
        if option.value == FLAG:
            continue
        if equals:
            values.append(value)
        elif option.value == REQUIRED_VALUE:
            if not left:
                raise OptionError("OptionMissingRequiredArgumentException", f"Option {name} requires an argument")
            values.append(left.pop())
        elif left and _is_value(option, left[-1]):
            values.append(left.pop())
    return parsed


def one_of(*words: str) -> Callable[[str], str]:
    """A converter to one of these words, in any case; as for Java's enums."""

    def convert(text: str) -> str:
        if text.upper() not in words:
            raise NotOneOf(f"Value [{text}] is not one of [[{','.join(words)}]]")
        return text.upper()

    return convert


def _is_value(option: Option, argument: str) -> bool:
    """Whether an argument is the value of an option that may stand alone: it must be of the option's type."""
    if option.convert is None:
        return not looks_like_option(argument)
    try:
        option.convert(argument)
    except ValueError:
        return False
    # A negative number looks like an option.
    return True


def looks_like_option(argument: str) -> bool:
    return argument.startswith("-") and argument not in ("-", "--")


def help_table(options: Sequence[Option]) -> str:
    """The table of the options, sorted by name, each line padded to the width of the table."""
    rows = [("Option", "Description"), ("------", "-----------")]
    rows += [(option.title(), option.description()) for option in sorted(options, key=lambda option: option.name)]
    left_width, right_width = _widths(rows)
    fitted: list[tuple[str, str]] = []
    for left, right in rows:
        lefts, rights = _wrap_text(left, left_width), _wrap_text(right, right_width)
        count = max(len(lefts), len(rights))
        lefts += [""] * (count - len(lefts))
        rights += [""] * (count - len(rights))
        fitted += zip(lefts, rights, strict=True)
    left_width, right_width = _widths(fitted)
    return "".join(f"{left:{left_width}}  {right:{right_width}}\n" for left, right in fitted)


def _widths(rows: Sequence[tuple[str, str]]) -> tuple[int, int]:
    left = min((_WIDTH - 2) // 2, max(len(row[0]) for row in rows))
    return left, min(_WIDTH - left - 2, max(len(row[1]) for row in rows))


def _wrap_text(text: str, width: int) -> list[str]:
    """The text in lines of `width`; where a line of it does not fit, all but its first part are indented by two."""
    from tools.command_line.line_breaks import pieces

    lines = []
    for given in text.strip().split("\n"):
        line = ""
        for piece in pieces(given):
            if len(line) + len(piece) > width:
                lines.append(line.rstrip())
                line = "  "
            line += piece
        if line:
            lines.append(line)
    return lines
