"""One process of stock's replica for all tests of this level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oracle.raft.pair import Pair

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def replicas() -> Iterator[Pair]:
    both = Pair()
    yield both
    both.close()
