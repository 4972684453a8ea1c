from __future__ import annotations

from tests.tools.kafka.cases import cases
from tools.kafka.shell.words import words


def test_a_line_is_split_into_words_as_by_jline() -> None:
    kept = cases("words")

    # The shell drops empty words at the end.
    assert [_filled(words(case["text"])) for case in kept] == [_filled(case["words"]) for case in kept]


def test_quotes_enclose_an_empty_word() -> None:
    assert words("ls '' \"\" /x") == ["ls", "", "", "/x"]


def test_the_last_word_is_the_one_being_typed() -> None:
    assert [words("ls"), words("ls "), words("")] == [["ls"], ["ls", ""], [""]]


def _filled(given: list[str]) -> list[str]:
    """The words up to the last that is not empty."""
    return given[: max((at for at, word in enumerate(given, 1) if word), default=0)]
