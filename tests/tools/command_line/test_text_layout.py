from __future__ import annotations

import pytest

from tools.command_line import text_layout
from tools.command_line.text_layout import entry, format_width, stretch, wrap


@pytest.mark.parametrize(
    ("columns", "width"), [("80", 75), ("200", 195), ("6", 1), ("5", 75), ("0", 75), ("-3", 75), ("wide", 75)]
)
def test_the_width_is_five_columns_less_than_the_terminal_says(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert format_width() == width


def test_without_a_terminal_the_width_is_75(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(text_layout, "_terminal_width", lambda: -1)

    assert format_width() == 75


def test_lines_but_the_last_are_stretched_to_the_width() -> None:
    assert wrap("one two three four", 12) == "one      two\nthree four"


def test_the_remainder_of_the_spaces_goes_to_the_middle() -> None:
    assert stretch("a b c d e ", 12, 10) == "a b  c  d  e"


def test_a_word_longer_than_the_width_has_its_own_line() -> None:
    assert wrap("a incomprehensibilities b", 10) == "a\nincomprehensibilities\nb"


def test_line_ends_in_the_text_are_kept() -> None:
    assert wrap("one\ntwo", 75, indent="  ") == "one\n  two"


def test_an_entry_without_a_text_is_its_title() -> None:
    assert entry("--json", "", 75) == "  --json\n"


def test_a_long_title_has_its_text_below() -> None:
    assert entry("a" * 22, "text", 75) == f"  {'a' * 22}\n{' ' * 25}text\n"
