from __future__ import annotations

import pytest

from tools.kafka.shell.columns import column_count, columns, listing


# The first four are the vectors of Kafka's LsCommandHandlerTest.
@pytest.mark.parametrize(
    ("width", "names", "count"),
    [
        (0, ["abc", "def", "ghi"], 1),
        (80, ["a", "abcdef", "beta"], 3),
        (18, ["alphabet", "beta", "gamma", "theta", "zeta"], 2),
        (18, ["alphabet", "gamma"], 2),
        (4, ["abc", "def", "ghi"], 1),
        (80, [""], 1),
        (10, ["a-name-longer-than-the-screen", "b"], 1),
        (80, ["alpha", "beta", "gamma", "delta"], 4),
    ],
)
def test_as_many_columns_as_fit(width: int, names: list[str], count: int) -> None:
    assert column_count(names, width) == count


def test_names_run_down_the_columns() -> None:
    names = ["alphabet", "beta", "gamma", "theta", "zeta"]

    assert columns(names, 18) == "alphabet  theta\nbeta      zeta\ngamma     \n"


def test_several_directories_have_headings_and_leaves_come_first() -> None:
    assert listing(["leaf"], [("a", ["1", "2"]), ("empty", []), ("b", ["3"])], 0) == "leaf\n\na:\n1\n2\n\nb:\n3\n"


def test_one_directory_has_no_heading() -> None:
    assert listing([], [("a", ["1"])], 0) == "1\n"


def test_nothing_prints_nothing() -> None:
    assert listing([], [], 80) == listing([], [("a", [])], 80) == ""
