"""One pair of nodes for all tests of the wire level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oracle.wire.pair import running_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.wire.pair import WirePair


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WirePair]:
    with running_pair(tmp_path_factory.mktemp("wire")) as pair:
        yield pair
