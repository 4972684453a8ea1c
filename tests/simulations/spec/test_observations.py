"""Observations of nodes are checked against the specification."""

from __future__ import annotations

import pytest

from simulations.spec.observations import Observation, contradictions

ELECTION = [
    Observation(1, 1, 1, "Unattached", -1, -1, 0),
    Observation(1, 1, 1, "Prospective", -1, -1, 0),
    Observation(1, 1, 2, "Candidate", -1, 1, 0),
    Observation(1, 1, 2, "Leader", 1, -1, 1),
    Observation(2, 1, 2, "Unattached", -1, 1),
    Observation(2, 1, 2, "Follower", 1, 1, 1),
    Observation(1, 1, 2, watermark=1, log_end=4),
    Observation(2, 1, 2, watermark=1, log_end=4),
    Observation(1, 2, 2, "Resigned", 1),
    Observation(2, 1, 2, "Prospective", 1),
    Observation(2, 1, 3, "Candidate", -1, 2),
    Observation(2, 1, 3, "Leader", 2, -1, 5),
]


def test_two_elections_in_a_row_are_allowed() -> None:
    assert list(contradictions(ELECTION)) == []


@pytest.mark.parametrize(
    ("last", "says"),
    [
        (Observation(3, 1, 2, leader=2), "two leaders of epoch 2"),
        (Observation(2, 1, 2), "the epoch falls"),
        (Observation(1, 2, 2, voted=1), ""),
        (Observation(2, 2, 3, voted=3), "two votes in epoch 3"),
        (Observation(2, 1, 3, watermark=0), "the high watermark falls"),
        (Observation(2, 1, 3, watermark=7, log_end=6), "committed beyond the end of the log"),
        (Observation(2, 2, 3, "Leader"), "a leader continues in its epoch after a restart"),
        (
            Observation(2, 1, 3, "Follower"),
            "no action leads from Leader to Follower|Leader to Follower with this epoch",
        ),
        (Observation(2, 1, 4, "Candidate"), "no action leads from Leader to Candidate"),
        (Observation(3, 1, 4, "Leader", 3, -1, 0), "a leader lacks what was committed before"),
    ],
)
def test_an_impossible_observation_is_reported(last: Observation, says: str) -> None:
    found = list(contradictions([*ELECTION, last]))

    assert len(found) == bool(says)
    assert not says or any(found[0].startswith(each) for each in says.split("|"))
