"""Fixtures of the tests against stock Kafka."""

from __future__ import annotations

import pytest

from tests.interop.stock import Stock

# The files that take longest, begun first so that all test processes end at about the same time.
LONGEST = (
    "test_migration", "test_voters", "test_mixed_quorum", "test_explore", "test_security_failover",
    "test_security_tools", "test_security_mechanisms", "test_security_page", "test_wire",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def stock() -> Stock:
    """The newest stock release."""
    found = Stock("4.3.1")
    found.bring()
    return found


@pytest.fixture(scope="session")
def stock_4_0() -> Stock:
    """The oldest stock release that is supported."""
    found = Stock("4.0.2")
    found.bring()
    return found
