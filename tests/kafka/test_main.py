"""What the command stores of a class that was run."""

from __future__ import annotations

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
