"""A voter of three on a real directory, whose `quorum-state` is removed at each start, as Strimzi's images do."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.config import RaftConfig
from raft.interface.effects import Reply
from raft.interface.inputs import Requested, Source
from raft.state.replica import Replica
from raft.step import start, step
from raft.storage.files import OsFiles
from raft.storage.flusher import AtOnce
from raft.storage.names import KEPT_QUORUM_STATE, QUORUM_STATE
from raft.storage.storage import Storage
from tests.raft.building import CLUSTER, dynamic_voters, endpoint, key, static_voters, vote_request

if TYPE_CHECKING:
    from pathlib import Path

    from raft.interface.voters import VoterSet


def is_granted(directory: Path, voters: VoterSet, candidate: int) -> bool:
    """Whether voter 1, in a process of its own, gives a candidate its vote of epoch 5."""
    saved: list[Any] = []
    storage = Storage(OsFiles(), str(directory), AtOnce(), on_input=saved.append, on_failure=pytest.fail)
    config = RaftConfig(CLUSTER, endpoints=(endpoint(1),))
    replica = Replica(config, key(1), voters, storage.recovered, Random(1))
    replies = []
    request = Requested(Source(7, 1), vote_request(5, candidate), 2)
    ordered = [*start(replica, 0), *step(replica, request, 1)]
    while ordered or saved:
        effect = ordered.pop(0) if ordered else None
        if effect is None:
            ordered += step(replica, saved.pop(0), 2)
        elif storage.performs(effect):
            storage.perform(effect)
        elif isinstance(effect, Reply):
            replies.append(effect.response.topics[0].partitions[0].vote_granted)
    storage.close()
    (granted,) = replies
    return granted


@pytest.mark.parametrize("voters", [static_voters(1, 2, 3), dynamic_voters(1, 2, 3)], ids=["static", "dynamic"])
def test_a_voter_whose_quorum_state_is_removed_votes_once_in_an_epoch(tmp_path: Path, voters: VoterSet) -> None:
    assert is_granted(tmp_path, voters, 2)
    (tmp_path / QUORUM_STATE).unlink()

    again, other = is_granted(tmp_path, voters, 2), is_granted(tmp_path, voters, 3)

    assert (again, other) == (True, False)


def test_a_stock_like_voter_would_vote_for_two_candidates_of_an_epoch(tmp_path: Path) -> None:
    """With its own vote each of the two has a majority of three: two leaders. So the second name is no luxury."""
    assert is_granted(tmp_path, static_voters(1, 2, 3), 2)
    for name in (QUORUM_STATE, KEPT_QUORUM_STATE):
        (tmp_path / name).unlink()

    assert is_granted(tmp_path, static_voters(1, 2, 3), 3)
