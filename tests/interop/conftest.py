"""Fixtures of the tests against stock Kafka."""

from __future__ import annotations

import pytest

from tests.interop.stock import Stock


@pytest.fixture(scope="session")
def stock() -> Stock:
    """The newest stock release."""
    found = Stock("4.3.1", quick=True)
    found.bring()
    return found


@pytest.fixture(scope="session")
def stock_4_0() -> Stock:
    """The oldest stock release that is supported."""
    found = Stock("4.0.2", quick=True)
    found.bring()
    return found
