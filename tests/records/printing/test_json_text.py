"""JSON text is what Jackson writes, to the character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.errors import Error
from records.printing.json_text import double_text, json_text, read_json

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


# Printed by the node classes of Jackson 2.21 on Java 17.
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (100.0, "100.0"), (0.1, "0.1"),
        (0.001, "0.001"), (9.99e-4, "9.99E-4"),
        (1e-5, "1.0E-5"), (1e7, "1.0E7"), (9999999.0, "9999999.0"), (12345678.9, "1.23456789E7"),
        (1234567.125, "1234567.125"), (123456789012345680.0, "1.2345678901234568E17"), (4.35e-3, "0.00435"),
        (5e-324, "4.9E-324"), (1.7976931348623157e308, "1.7976931348623157E308"),
        (2.2250738585072014e-308, "2.2250738585072014E-308"), (9007199254740993.0, "9.007199254740992E15"),
        (float("nan"), '"NaN"'), (float("inf"), '"Infinity"'), (float("-inf"), '"-Infinity"'),
    ],
)  # fmt: skip
def test_a_double_is_written_as_java_writes_it(value: float, text: str) -> None:
    assert double_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_can_be_read_back(value: float) -> None:
    assert float(double_text(value)) == value


def test_strings_have_jacksons_escapes_and_no_others() -> None:
    assert json_text('\0\x08\t\n\x0b\x0c\r\x1f "\\/\x7f\u2028é😀<') == (
        '"\\u0000\\b\\t\\n\\u000B\\f\\r\\u001F \\"\\\\/\x7f\u2028é😀<"'
    )


def test_an_error_code_is_its_number() -> None:
    assert json_text({"errorCode": Error.NOT_CONTROLLER, "ok": True, "none": None, "many": [1, -2]}) == (
        '{"errorCode":41,"ok":true,"none":null,"many":[1,-2]}'
    )


@given(TREES)
def test_every_tree_is_read_as_written(tree: object) -> None:
    assert read_json(json_text(tree)) == tree


@pytest.mark.parametrize("text", ["", "{", "nul", "NaN", "[Infinity]", '{"a":1} x', "[" * 100_000, '{"a":-Infinity}'])
def test_invalid_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_json(text)
