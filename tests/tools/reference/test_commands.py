"""The page of all commands is current, and has each of them with each of its options."""

from __future__ import annotations

import re

from tools.kraftctl.main import VERBS
from tools.reference import commands as reference
from tools.registry import KAFKA_TOOLS


def test_the_page_is_what_the_commands_parse() -> None:
    assert reference.FILE.read_text("utf-8") == reference.page(), "run make docs"


def test_each_tool_and_each_verb_has_a_section() -> None:
    headings = re.findall(r"(?m)^##+ (.*)$", reference.page())

    assert len(headings) == len(set(headings))
    assert {tool.name for tool in KAFKA_TOOLS} | {f"kraftctl {verb}" for verb in VERBS} <= set(headings)
    assert {"kafka-storage format", "kraftctl quorum replace"} <= set(headings)


def test_an_option_of_ours_stands_among_those_of_stock() -> None:
    text = reference.page().partition("\n## kafka-topics\n")[2].partition("\n## ")[0]

    assert "\n- `--bootstrap-controller HOST:PORT,…`: " in text
    assert "\n- `--create`: Create a new topic.\n" in text


def test_what_markdown_would_take_for_its_own_is_escaped() -> None:
    assert reference.escape("a*b\n  <x> [y] _z_ |") == r"a\*b &lt;x> \[y\] \_z\_ \|"
