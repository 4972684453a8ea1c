"""The version of a request that both sides know."""

from __future__ import annotations

import pytest

from raft.network.versions import common_version
from records.messages.elections import VoteRequest
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


def test_a_version_below_the_least_one_is_not_used() -> None:
    with pytest.raises(EncodeError, match="the peer serves VoteRequest v0 to v0, ours are v1 to v2"):
        common_version(VoteRequest, {52: (0, 0)}, least=1)

    assert common_version(VoteRequest, {52: (0, 1)}, least=1) == 1
