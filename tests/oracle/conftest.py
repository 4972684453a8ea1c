"""One process of stock for all tests of the oracle, and the seed of the day."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.oracle.pair import Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

# The property of a test's report that says what it explored.
EXPLORED = "explored"


def seed_of_the_day() -> int:
    """The first seed of a day's run: other sequences each day, and the same ones for all runs of that day."""
    given = os.environ.get("KRAFT_ORACLE_SEED")
    return int(given) if given else datetime.now(UTC).date().toordinal() * 100_000


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print at the end, also with -q, the first seed of the day's sequences and how much was explored."""
    text = f"oracle: seed of the day {seed_of_the_day()} (KRAFT_ORACLE_SEED gives another)"
    reports = terminalreporter.getreports("passed")
    explored = [str(value) for report in reports for name, value in report.user_properties if name == EXPLORED]
    terminalreporter.write_line(", ".join([text, *explored]))


@pytest.fixture(scope="session")
def pair() -> Iterator[Pair]:
    both = Pair()
    yield both
    both.close()
