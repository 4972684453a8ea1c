"""Names of topics that match a regular expression of Java."""

from __future__ import annotations

import pytest

from tools.command_line.java_texts import Uncaught
from tools.kafka.topics.topic_pattern import filter_names

NAMES = ["a", "a.b", "a-b", "a_b", "ab", "b1", "__consumer_offsets"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a", ["a"]),
        ("a.b", ["a.b", "a-b", "a_b"]),
        ("a,b1", ["a", "b1"]),
        (" ' a , b1 \" ", ["a", "b1"]),
        (r"\Qa.b\E", ["a.b"]),
        (r"\Qa.b\E|b\p{Digit}", ["a.b", "b1"]),
        (r"a[\p{Punct}]b", ["a.b", "a-b", "a_b"]),
        (r"a\P{Lower}b", ["a.b", "a-b", "a_b"]),
        (r"(?<x>a)\.?b\z", ["a.b", "ab"]),
        (r"(?<=a)b|(?!a)b\d", ["b1"]),
        (r"a[^.b]b", ["a-b", "a_b"]),
        ("a*+", ["a"]),
        ("a&&b", []),
        ("[a&&[ab]]b", ["ab"]),
        ("a[.[-]]b", ["a.b", "a-b"]),
        (r"b[\P{Lower}]", ["b1"]),
        ("", []),
    ],
)
def test_names_match_as_a_whole(pattern: str, found: list[str]) -> None:
    assert filter_names(pattern, NAMES) == found


@pytest.mark.parametrize("pattern", ["[", "*", "a{2,1}", "(", "(?P<x>a)", r"\p{", "a**"])
def test_what_is_no_pattern_of_java_is_refused_in_the_words_of_stock(pattern: str) -> None:
    with pytest.raises(Uncaught) as refused:
        filter_names(pattern, NAMES)

    assert refused.value.message == f"{pattern.replace(',', '|')} is an invalid regex."


@pytest.mark.parametrize("pattern", [r"\p{IsGreek}", r"\X", "(?x)a"])
def test_a_pattern_without_a_counterpart_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(Uncaught, match=r"this regular expression cannot be evaluated: ."):
        filter_names(pattern, NAMES)
