from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raft.state.commit import UNKNOWN, high_watermark
from tests.raft.building import static_voters


def test_a_sole_voter_commits_its_own_log() -> None:
    assert high_watermark({1: 5}, static_voters(1), epoch_start=3) == 5


def test_two_voters_must_both_have_it() -> None:
    assert high_watermark({1: 5, 2: 4}, static_voters(1, 2), epoch_start=3) == 4
    assert high_watermark({1: 5}, static_voters(1, 2), epoch_start=3) is None


def test_of_three_voters_two_are_enough() -> None:
    assert high_watermark({1: 9, 2: 4, 3: 7}, static_voters(1, 2, 3), epoch_start=3) == 7
    assert high_watermark({1: 9, 2: 4}, static_voters(1, 2, 3), epoch_start=3) == 4
    assert high_watermark({1: 9, 2: UNKNOWN}, static_voters(1, 2, 3), epoch_start=3) is None


def test_records_of_earlier_epochs_are_not_committed_by_count() -> None:
    """Raft, figure 8: a majority holds them, but a leader without them could still be elected."""
    ends = {1: 3, 2: 3, 3: 3}

    assert high_watermark(ends, static_voters(1, 2, 3), epoch_start=3) is None
    assert high_watermark({**ends, 1: 4, 2: 4}, static_voters(1, 2, 3), epoch_start=3) == 4


def test_replicas_that_do_not_vote_do_not_count() -> None:
    assert high_watermark({1: 4, 7: 9, 8: 9}, static_voters(1, 2, 3), epoch_start=3) is None


@given(
    st.dictionaries(st.integers(1, 7), st.integers(UNKNOWN, 30)),
    st.sets(st.integers(1, 7), min_size=1),
    st.integers(0, 30),
)
def test_it_is_the_largest_offset_that_a_count_finds_on_a_majority(
    ends: dict[int, int], ids: set[int], epoch_start: int
) -> None:
    voters = static_voters(*ids)

    counted = [
        offset
        for offset in range(epoch_start + 1, 31)
        if sum(ends.get(each, UNKNOWN) >= offset for each in ids) * 2 > len(ids)
    ]

    assert high_watermark(ends, voters, epoch_start) == (max(counted) if counted else None)
