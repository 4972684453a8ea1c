"""Fixtures of the tests against stock Kafka."""

from __future__ import annotations

import pytest

from tests.interop.stock import DEFAULT, Stock


@pytest.fixture(scope="session")
def stock(request: pytest.FixtureRequest) -> Stock:
    """The stock release of a test's parameter (`RELEASES`); `DEFAULT` for a test without one."""
    found = Stock(getattr(request, "param", DEFAULT), quick=True)
    found.bring()
    return found


@pytest.fixture(scope="session")
def older_stock(request: pytest.FixtureRequest) -> Stock:
    """An older release, of a test's parameter. Few processes of it run: an archive of its classes would not pay."""
    found = Stock(request.param, shares=True)
    found.bring()
    return found
