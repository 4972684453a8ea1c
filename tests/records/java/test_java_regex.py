"""Regular expressions of Java: what they match, and in how many steps. tests/interop/test_principals.py asks Java."""

from __future__ import annotations

import pytest

from records.java.java_matching import Steps, TooManySteps
from records.java.java_regex import DEPTH_MAX, PatternError, compile_java
from records.java.java_replacing import replace_matches


def groups(pattern: str, text: str) -> list[str | None] | None:
    program = compile_java(pattern)
    match = program.match_all(text, Steps(100_000))
    return None if match is None else [match[number] for number in range(program.groups + 1)]


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("(a*)(b|ab)?", "aab", ["aab", "aa", "b"]),
        ("(a*?)(ab|b)", "aab", ["aab", "a", "ab"]),
        ("(a|ab)(c|bcd)(d*)", "abcd", ["abcd", "a", "bcd", ""]),
        ("(?:(a)|b)*", "ab", ["ab", "a"]),
        ("(a*)*", "aa", ["aa", ""]),
        ("((a)|b){2,3}?c", "abc", ["abc", "b", "a"]),
        ("(?>a*)a", "aaa", None),
        ("a*+a", "aaa", None),
        (r"(\w+) \1", "ab ab", ["ab ab", "ab"]),
        (r"(?<x>.)\k<x>", "aa", ["aa", "a"]),
        ("(?=a)[a-c]{2}(?!c)(?<=b)(?<!aa)", "ab", ["ab"]),
        ("(?i:k)k", "Kk", ["Kk"]),
        ("(?i:k)", "\u212a", None),
        ("(?iu:k)", "\u212a", ["\u212a"]),
        ("a.b", "a\u2028b", None),
        ("(?s)a.b", "a\u2028b", ["a\u2028b"]),
        ("(?d)a.b", "a\rb", ["a\rb"]),
        ("a$\\R", "a\r\n", ["a\r\n"]),
        ("(?m)a$\n^b", "a\nb", ["a\nb"]),
        (r"[a-d&&[^b]]+[\p{Lu}]\P{Alpha}", "acdZ1", ["acdZ1"]),
        (r"\Qa.b\E+\x41\u0041\x{41}\0101\cA", "a.bbAAAA\x01", ["a.bbAAAA\x01"]),
        (r"\ba\b\Ba?", "a", None),
        ("{2}a", "a", ["a"]),
    ],
)
def test_a_pattern_matches_the_whole_text_as_in_java(pattern, text, found):
    assert groups(pattern, text) == found


@pytest.mark.parametrize(
    "pattern",
    [
        "(", "a**", "[", r"\p{IsGreek}", r"\X", r"(a)(?<!\1)", "(?x)a", "a{100000}", "((a{200}){200})",
        "(" * 300 + ")" * 300, "[" * 300 + "a" + "]" * 300,
    ],
)  # fmt: skip
def test_what_is_not_served_is_refused(pattern):
    with pytest.raises(PatternError):
        compile_java(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*)(.*)(.*)(.*)(.*)(.*)b", "((a*)*)*b", "(a+)+(?=b)"]
)
def test_a_pattern_takes_steps_in_proportion_to_the_text(pattern):
    used = []
    for size in (200, 2_000):
        steps = Steps(1 << 40)
        assert compile_java(pattern).match_all("a" * size, steps) is None
        used.append((1 << 40) - steps.left)

    assert used[1] < 11 * used[0]


def test_references_to_groups_are_bounded_by_the_steps_alone():
    with pytest.raises(TooManySteps):
        compile_java(r"(a*)*(a*)*\1b").match_all("a" * 100, Steps(10_000))


def test_groups_may_be_nested_to_a_depth():
    assert groups("(?:" * (DEPTH_MAX - 1) + "a" + ")" * (DEPTH_MAX - 1), "a") == ["a"]


@pytest.mark.parametrize(
    ("pattern", "text", "replacement", "replaced"),
    [
        ("(a)(b)?", "xab-a", "<$1$2>", "x<ab>-<a>"),
        (".*", "ab", "x", "xx"),
        ("(?<n>a)", "aa", r"${n}\$$12", "a$a2a$a2"),
        ("b*", "abc", "-", "-a--c-"),
    ],
)
def test_matches_are_replaced_from_left_to_right(pattern, text, replacement, replaced):
    assert replace_matches(compile_java(pattern), text, replacement, Steps(1_000)) == replaced


@pytest.mark.parametrize("replacement", ["$", "$x", "$2", "${m}", "${n", "a\\"])
def test_a_replacement_that_java_refuses_is_an_error_where_there_is_a_match(replacement):
    program = compile_java("(?<n>a)")

    assert replace_matches(program, "b", replacement, Steps(1_000)) == "b"
    with pytest.raises(ValueError, match="the replacement"):
        replace_matches(program, "a", replacement, Steps(1_000))
