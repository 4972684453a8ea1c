"""One Spark session for all tests on Spark (`make pipeline`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A local session, made for short runs."""
    from pipeline.session import spark_session

    session = spark_session(master="local[2]", is_short=True, settings={"spark.sql.shuffle.partitions": "2"})
    yield session
    session.stop()
