"""Whether a voter that stops may leave, by what its leader tells."""

from __future__ import annotations

import pytest

from raft.autopilot.leave_rules import Distance, keep_reason, wait_reason
from records.messages.quorum import DescribeQuorumResponse
from tests.raft.autopilot.quorum import key

Partition = DescribeQuorumResponse.TopicData.PartitionData
NOW_MS, LIVE_MS = 1_700_000_000_000, 2000


def partition(*ages_ms: int | None, leader_id: int = 1) -> Partition:
    """Voters 1, 2, … that had the whole log so long ago; None: never, for this leader."""
    voters = tuple(
        Partition.ReplicaState(
            replica_id=number, replica_directory_id=key(number).directory_id, log_end_offset=9,
            last_fetch_timestamp=-1 if age_ms is None else NOW_MS,
            last_caught_up_timestamp=-1 if age_ms is None else NOW_MS - age_ms,
        )
        for number, age_ms in enumerate(ages_ms, 1)
    )  # fmt: skip
    return Partition(
        partition_index=0, error_code=0, error_message=None, leader_id=leader_id, leader_epoch=1, high_watermark=9,
        current_voters=voters, observers=(),
    )  # fmt: skip


@pytest.mark.parametrize(("count", "stays"), [(1, True), (2, True), (3, True), (4, False), (5, False)])
def test_three_voters_stay_in_any_case(count: int, *, stays: bool) -> None:
    assert bool(keep_reason(count)) == stays


@pytest.mark.parametrize(
    ("ages_ms", "healthy"),
    [
        ((0, 0, 0, 0, 0), ""),
        ((0, 500, 2000, None, 0), ""),  # three of four stay
        ((0, 500, 2001, None, 0), "1, 2, 5"),
        ((0, 0, None, None, 0), "1, 2, 5"),
        ((0, 0, 0, None, 5000), ""),  # it lags itself, and the others do not need it
    ],
)
def test_a_majority_of_those_that_stay_must_be_healthy(ages_ms: tuple[int | None, ...], healthy: str) -> None:
    reason = wait_reason(partition(*ages_ms), key(5), LIVE_MS)

    assert reason == (f"a majority must be healthy without it: of 5 voters these are: {healthy}" if healthy else "")


def test_the_leader_itself_may_leave_and_one_that_is_no_voter_any_more_removes_nobody() -> None:
    assert wait_reason(partition(0, 0, 0, 0), key(1), LIVE_MS) == ""
    assert wait_reason(partition(0, 0, 0, 0, leader_id=7), key(1), LIVE_MS) == "the leader is no voter any more"


def test_each_asks_a_leader_at_a_time_of_its_own_and_so_the_next_leader() -> None:
    distances = [Distance(number, 125) for number in (1, 2, 3, 4)]

    waits = [[each.wait_ms(leader, (1, 2, 3, 4)) for each in distances] for leader in ((1, 5), (1, 5), (2, 6))]

    assert waits == [[375, 250, 125, 0], [0, 0, 0, 0], [375, 250, 125, 0]]
