"""What the command stores of a class that was run."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from tests.kafka import __main__ as command
from tests.kafka import table
from tests.kafka.harness import Ended, Harness

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_class_without_a_test_is_stored_as_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[table.Row] = []
    monkeypatch.setattr(table, "store", stored.append)
    monkeypatch.setattr(Harness, "run", lambda *_: [])
    options = command.arguments_parser().parse_args(["--record", "--out", str(tmp_path)])
    failure = Ended("kafka.OneTest", "failed", "no tests are in the class, or it could not be loaded")

    tests = command.run(Harness(tmp_path, tmp_path), "kafka.OneTest", "stock", options, time.monotonic() + 60)

    assert tests == [failure]
    assert stored == [table.row_of("kafka.OneTest", "stock", tests, 0, 0, stored[0].date)]
    assert stored[0].failed == 1


def test_classes_run_side_by_side_and_each_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["kafka.A", "kafka.B"]
    both_run = threading.Barrier(2, timeout=60)

    def run(_harness: Harness, name: str, *_: object) -> list[Ended]:
        both_run.wait()
        return [Ended(f"passes in {name}", "passed", "")]

    monkeypatch.setattr(Harness, "prepare", lambda: Harness(tmp_path, tmp_path))
    monkeypatch.setattr(Harness, "run", run)
    monkeypatch.setattr(Harness, "classes", lambda _: names)
    monkeypatch.setattr(table, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(table.store, "__defaults__", (tmp_path / "rows.tsv",))
    monkeypatch.setattr(table.read, "__defaults__", (tmp_path / "rows.tsv",))
    monkeypatch.setattr(sys, "argv", ["tests.kafka", "--jobs", "2", "--record", "--out", str(tmp_path), *names])

    assert command.main() == 0

    assert [(row.name, row.side, row.passed) for row in table.read()] == [(name, "ours", 1) for name in names]
    assert all(f"| {name} | 1 |" in table.PAGE.read_text() for name in names)
