"""Text that is not ours: what a terminal would obey is shown in one readable form."""

from __future__ import annotations

import sys

import pytest

from records.plain_text import plain_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders", "orders"),
        ("Zürich 東京 عربى", "Zürich 東京 عربى"),
        ("a\\b 'c' \"d\"", "a\\b 'c' \"d\""),
        ("\x1b[2J\x07\x7f", r"\x1b[2J\x07\x7f"),
        ("a\r\n\tb", r"a\r\n\tb"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("\u202eabc\u2066\u200b\ufeff", r"\u202eabc\u2066\u200b\ufeff"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\U000e0001\udc9b", r"\U000e0001\udc9b"),
        (7, "7"),
    ],
)
def test_what_is_not_printable_is_escaped_and_the_rest_stays(text: object, shown: str) -> None:
    assert plain_text(text) == shown


def test_only_characters_that_are_kept_by_name_stay() -> None:
    assert plain_text("a\nb\tc\rd", keep="\n\t") == "a\nb\tc\\rd"


def test_no_character_is_left_that_python_calls_unprintable() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))

    assert plain_text(every).isprintable()
