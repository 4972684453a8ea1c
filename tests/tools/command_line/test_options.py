from __future__ import annotations

import pytest

from tools.command_line.options import (
    FLAG,
    OPTIONAL_VALUE,
    REQUIRED_VALUE,
    Option,
    OptionError,
    help_table,
    read,
)

OPTIONS = (
    Option("files", "The files.", value=REQUIRED_VALUE, described_as="a,b"),
    Option("size", "A size.", value=REQUIRED_VALUE, type_name="Integer", default=5, convert=int),
    Option("decoder", "A decoder.", value=OPTIONAL_VALUE, default="plain"),
    Option("deep", "Deeply.", value=FLAG),
)


def refused(args: list[str], name: str = "files") -> str:
    with pytest.raises(OptionError) as error:
        read(OPTIONS, args).value(name)
    return str(error.value)


@pytest.mark.parametrize("args", [["--files", "x"], ["--files=x"], ["-files", "x"], ["-files=x"]])
def test_a_value_may_be_written_in_each_of_these_ways(args: list[str]) -> None:
    assert read(OPTIONS, args).value("files") == "x"


def test_a_required_value_may_begin_with_a_hyphen() -> None:
    assert read(OPTIONS, ["--files", "--deep"]).value("files") == "--deep"


def test_an_optional_value_may_be_left_out() -> None:
    found = read(OPTIONS, ["--decoder", "--deep"])

    assert (found.value("decoder"), found.has("decoder"), found.has("deep")) == ("plain", True, True)


def test_arguments_that_are_not_options_are_ignored() -> None:
    assert not read(OPTIONS, ["deep", "-", "--", "--deep"]).has("deep")


def test_a_flag_ignores_a_value() -> None:
    assert read(OPTIONS, ["--deep=no"]).has("deep")


@pytest.mark.parametrize(
    ("args", "name", "message"),
    [
        (["--file", "x"], "UnrecognizedOptionException", "file is not a recognized option"),
        (["-x"], "UnrecognizedOptionException", "x is not a recognized option"),
        (["--files"], "OptionMissingRequiredArgumentException", "Option files requires an argument"),
        (
            ["--files=a", "--files=b"],
            "MultipleArgumentsForOptionException",
            "Found multiple arguments for option files, but you asked for only one",
        ),
    ],
)
def test_refusals_have_the_texts_of_jopt_simple(args: list[str], name: str, message: str) -> None:
    assert refused(args) == f"joptsimple.{name}: {message}"


def test_a_value_of_another_type_is_refused_when_it_is_read() -> None:
    assert refused(["--size", "x"], "size").startswith(
        "joptsimple.OptionArgumentConversionException: Cannot parse argument 'x' of option size\n"
    )


def test_the_help_is_a_table_sorted_by_name() -> None:
    options = (Option("b", "Second."), Option("a", "First, and long " + "x " * 40, value=REQUIRED_VALUE))

    table = help_table(options).splitlines()
    assert len({len(line) for line in table}) == 1
    assert [line.rstrip() for line in table] == [
        "Option        Description",
        "------        -----------",
        "--a <String>  First, and long x x x x x x x x x x x x x x x x x x x x x x x x x",
        "                x x x x x x x x x x x x x x x",
        "--b           Second.",
    ]
