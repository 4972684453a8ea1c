"""One process of stock for all tests of the oracle, and the seed of the day."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.oracle.pair import Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the exploration did, for the end of the run.
SUMMARY: list[str] = []


def seed_of_the_day() -> int:
    """The first seed of a day's run: other sequences each day, and the same ones for all runs of that day."""
    given = os.environ.get("KRAFT_ORACLE_SEED")
    return int(given) if given else datetime.now(UTC).date().toordinal() * 100_000


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print at the end, also with -q, the first seed of the day's sequences."""
    text = f"oracle: seed of the day {seed_of_the_day()} (KRAFT_ORACLE_SEED gives another)"
    terminalreporter.write_line(", ".join([text, *SUMMARY]))


@pytest.fixture(scope="session")
def pair() -> Iterator[Pair]:
    both = Pair()
    yield both
    both.close()
