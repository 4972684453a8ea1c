from __future__ import annotations

import pytest

from tools.command_line.argument_reader import parse
from tools.command_line.arguments import UNBOUNDED, ArgumentError, Parser


def parser() -> Parser:
    top = Parser("tool")
    command = top.add_command("copy", "Copy it.")
    command.add("--to", "-t", required=True)
    command.add("--tag", "-T", action="append")
    command.add("--force", "-f", action="store_true")
    command.add("--quiet", "-q", action="store_true", exclusive=0)
    command.add("--loud", "-l", action="store_true", exclusive=0)
    command.add("--secret", action="store_true", hidden=True)
    command.add("--count", convert=int)
    command.add("files", nargs=(1, UNBOUNDED))
    command.add("last")
    return top


def refused(args: list[str]) -> str:
    with pytest.raises(ArgumentError) as error:
        parse(parser(), args)
    return str(error.value)


def test_a_missing_argument_is_reported_last() -> None:
    assert refused(["copy", "a", "b"]) == "argument --to/-t is required"
    assert refused(["copy", "a"]) == "too few arguments"
    assert refused(["copy", "-t", "x", "a", "b", "--nope"]) == "unrecognized arguments: '--nope'"


def test_a_value_of_another_type_is_refused() -> None:
    assert refused(["copy", "--count", "x"]).startswith("argument --count: ")
