"""Numbers, lists and addresses as Java reads and writes them."""

from __future__ import annotations

import pytest

from records.java.java_values import java_text, java_trim, parse_double, parse_integer, split_list, split_map


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"), (True, "true"), (0.001, "0.001"), (0.00001, "1.0E-5"), (1e7, "1.0E7"), (-1.5e21, "-1.5E21"),
        (123456789.125, "1.23456789125E8"), (float("-inf"), "-Infinity"), (["a", 1], "[a, 1]"), ((), "[]"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_java_writes_it(value: object, text: str) -> None:
    assert java_text(value) == text


def test_only_javas_forms_of_numbers_are_read() -> None:
    whole = [parse_integer(text) for text in ("-07", "+1", "1.0", "0x1", "", "9" * 201)]
    doubles = [parse_double(text) for text in ("1f", "-Infinity", "0x1p3", "1e400")]

    assert whole == [-7, 1, None, None, None, None]
    assert doubles == [1.0, -float("inf"), 8.0, float("inf")]
    assert [parse_double(text) for text in ("inf", "1_0", "0x1", "")] == [None, None, None, None]


def test_an_empty_part_of_a_list_stays_and_of_a_map_is_dropped_at_the_end() -> None:
    assert split_list("a , b,,") == ("a", "b", "", "")
    assert split_list("") == ()
    assert split_map("a:1 , b:2,,") == ["a:1", "b:2"]
    assert java_trim("\0 a\x0b\u2003") == "a\x0b\u2003"
