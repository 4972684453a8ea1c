"""The version of a request that both sides know."""

from __future__ import annotations

import pytest

from raft.network.versions import common_version
from records.messages.fetch import FetchRequest
from records.wire import EncodeError


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [({1: (4, 18)}, 18), ({1: (0, 11)}, 11), ({1: (12, 99)}, 18), ({1: (18, 20)}, 18)],
)
def test_the_version_is_in_both_ranges(theirs: dict[int, tuple[int, int]], expected: int) -> None:
    assert common_version(FetchRequest, theirs) == expected


@pytest.mark.parametrize(
    ("theirs", "reason"),
    [
        ({}, "the peer does not serve FetchRequest"),
        ({1: (0, 3)}, "the peer serves FetchRequest v0 to v3, ours are v4 to v18"),
        ({1: (19, 20)}, "the peer serves FetchRequest v19 to v20"),
        ({1: (7, 5)}, "the peer serves FetchRequest v7 to v5"),
    ],
)
def test_without_a_common_version_nothing_is_sent(theirs: dict[int, tuple[int, int]], reason: str) -> None:
    with pytest.raises(EncodeError, match=reason):
        common_version(FetchRequest, theirs)
