from __future__ import annotations

import pytest

from tests.tools.kafka.cases import cases
from tools.command_line.line_breaks import line_breaks, pieces

# Java's rules have a flaw of their own here: quotes before dashes keep what follows with them.
FLAWED = 2


def test_lines_break_where_java_breaks_them() -> None:
    found = {case["text"]: line_breaks(case["text"]) for case in cases("breaks")}

    differing = [case["text"] for case in cases("breaks") if found[case["text"]] != case["breaks"]]
    assert len(differing) <= FLAWED, differing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("one two  three", ["one ", "two  ", "three"]),
        ("already-formatted", ["already-", "formatted"]),
        ("--release-version", ["--", "release-", "version"]),
        ("kraft.version=1", ["kraft.", "version=1"]),
        ("in 3.5 seconds", ["in ", "3.5 ", "seconds"]),
        ("a\nb", ["a\n", "b"]),
        ("a\u00a0b c", ["a\u00a0b ", "c"]),
        ("日本語", ["日", "本", "語"]),
    ],
)
def test_a_text_is_cut_at_its_line_breaks(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_the_time_is_linear_in_the_length_of_the_text() -> None:
    text = "'$\"(" * 20_000

    assert line_breaks(text)[-1] == len(text)
