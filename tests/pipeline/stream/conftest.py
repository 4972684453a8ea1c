"""One Spark session for all tests that need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from pipeline.session import spark_session

    session = spark_session(master="local[2]", is_short=True)
    yield session
    session.stop()
