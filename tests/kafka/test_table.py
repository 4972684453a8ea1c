"""The table of results is what was measured: nothing is lost, guessed or counted for another side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.kafka import table
from tests.kafka.harness import Ended

if TYPE_CHECKING:
    from pathlib import Path

TESTS = [
    Ended("passes", "passed", ""),
    Ended("fails [1] a: b | c", "failed", "expected: <1> | but\twas:\n <2>"),
    Ended("asks", "in memory", "in memory: Controller.findTopicIds"),
    Ended("combined", "combined", "not served"),
    Ended("off", "skipped", "KAFKA-1"),
]


def test_rows_are_stored_and_one_of_the_same_class_and_side_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    first = table.row_of("B", "kills", TESTS, 3, 61.4, "2026-11-26")
    again = table.row_of("B", "kills", TESTS[:1], 2, 5.0, "2026-11-27")
    stock = table.row_of("B", "stock", TESTS[:1], 0, 9.0, "2026-11-27")
    other = table.row_of("A", "ours", TESTS, 0, 1.0, "2026-11-27")

    for row in (first, again, stock, other):
        table.store(row, path)

    assert first[:10] == ("B", "kills", 1, 1, 1, 1, 1, 3, 61, "2026-11-26")
    assert table.read(path) == [other, stock, again]


def test_a_test_that_ran_once_more_counts_as_it_ended_then(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    table.store(table.row_of("A", "ours", TESTS, 0, 61.4, "2026-11-26"), path)
    again = [Ended("fails [1] a: b | c", "passed", ""), Ended("passes", "failed", "1\n2"), TESTS[3]]

    table.store_again("A", "ours", again, "2026-11-28", path)
    table.store_again("B", "ours", again, "2026-11-28", path)

    asks = ["asks", "in memory", "in memory: Controller.findTopicIds"]
    ended = json.dumps([asks, ["passes", "failed", "1 2"]])
    assert table.read(path) == [table.Row("A", "ours", 1, 1, 1, 1, 1, 0, 61, "2026-11-28", ended)]


def test_a_cell_that_was_not_measured_is_empty() -> None:
    rows = [
        table.row_of("A", "stock", [Ended(test.name, "passed", "") for test in TESTS[:4]], 0, 1.0, "2026-11-26"),
        table.row_of("A", "ours", TESTS, 0, 1.0, "2026-11-26"),
        table.row_of("B", "kills", TESTS[:1], 2, 1.0, "2026-11-26"),
        table.row_of("D", "kills", TESTS[:1], 0, 1.0, "2026-11-26"),
    ]

    lines = table.page(["A", "B", "C"], rows).splitlines()

    assert "| A | 4 | 4 | 1, 1 failed, 1 in memory, 1 combined |  |" in lines
    assert "| B | 1 |  |  | 1, 2 kills |" in lines
    assert "| D | 1 |  |  | 1, 0 kills |" in lines
    assert "- C" in lines
    assert "- A" not in lines
    assert "| A | fails [1] a: b / c | ours | failed | expected: <1> / but was: <2> |" in lines
    assert lines[lines.index("Measured stock: 1 of 4 classes, 4 tests passed, 0 failed;") + 1 :][:2] == [
        "ours: 1 of 4 classes, 1 tests passed, 1 failed;",
        "ours under kills: 2 of 4 classes, 2 tests passed, 0 failed.",
    ]


def test_the_page_shows_the_stored_results() -> None:
    text = table.PAGE.read_text()
    others = [line[2:] for line in text.splitlines() if line.startswith("- ")]

    assert table.page(others, table.read()) == text
