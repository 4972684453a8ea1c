"""Arguments, read as stock's tools read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.command_line.argument_reader import parse
from tools.command_line.arguments import ArgumentError, Parser

if TYPE_CHECKING:
    from pathlib import Path
from tests.tools.command_line.test_arguments import parser, refused


@pytest.mark.parametrize("to", [["-t", "x"], ["-tx"], ["-t=x"], ["--to=x"], ["--to", "x"], ["-ft", "x"], ["-ftx"]])
def test_a_value_may_be_written_in_each_of_these_ways(to: list[str]) -> None:
    found = parse(parser(), ["copy", *to, "a", "b"])

    assert (found.to, found.files, found.last, found.command) == ("x", ["a"], "b", "copy")


def test_a_value_that_begins_with_a_hyphen_must_be_joined_to_its_option() -> None:
    assert parse(parser(), ["copy", "-t=-x", "a", "b"]).to == "-x"
    assert refused(["copy", "-t", "-x", "a", "b"]) == "argument --to/-t: expected one argument"


def test_an_option_that_is_not_given_has_its_default() -> None:
    found = parse(parser(), ["copy", "-t", "x", "a", "b"])

    assert (found.tag, found.force, found.count) == (None, False, None)


def test_values_of_repeated_options_are_collected() -> None:
    assert parse(parser(), ["copy", "-T1", "a", "--tag=2", "-t", "x", "b"]).tag == ["1", "2"]


def test_names_may_be_shortened_unless_ambiguous() -> None:
    assert parse(parser(), ["co", "--for", "--to", "x", "a", "b"]).force
    assert refused(["copy", "--t", "x"]) == "ambiguous option: --t could match --tag, --to"


def test_a_hidden_option_cannot_be_shortened_and_is_not_in_the_help() -> None:
    command = parser().commands["copy"]

    assert parse(parser(), ["copy", "--secret", "-t", "x", "a", "b"]).secret
    assert refused(["copy", "--secre", "-t", "x", "a", "b"]) == "unrecognized arguments: '--secre'"
    assert "secret" not in command.help_text()


def test_options_that_exclude_each_other_are_refused_together() -> None:
    assert refused(["copy", "-q", "-l"]) == "argument --loud/-l: not allowed with argument --quiet/-q"
    assert parse(parser(), ["copy", "-qq", "-t", "x", "a", "b"]).quiet


def test_two_hyphens_end_the_options() -> None:
    assert parse(parser(), ["copy", "-t", "x", "--", "-a", "-b"]).files == ["-a"]


def test_a_negative_number_is_not_an_option() -> None:
    assert parse(parser(), ["copy", "-t", "-5", "a", "b"]).to == "-5"


def test_a_file_of_arguments_that_names_itself_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "args"
    file.write_text(f"@{file}\n")
    parser = Parser("tool", from_file=True)

    with pytest.raises(ArgumentError, match="it is too large, or names itself"):
        parse(parser, [f"@{file}"])
