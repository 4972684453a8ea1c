from __future__ import annotations

from tests.tools.kafka.cases import cases
from tools.kafka.shell.words import words


def test_a_line_is_split_into_words_as_by_jline() -> None:
    kept = cases("words")

    assert [words(case["text"]) for case in kept] == [case["words"] for case in kept]


def test_the_last_word_is_the_one_being_typed() -> None:
    assert [words("ls"), words("ls "), words("")] == [["ls"], ["ls", ""], [""]]
