"""The checks of log events: each planted violation is reported, and a correct election is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simulations.chaos.log_events import check_log_events, observations
from simulations.chaos.verdict import check_observations

if TYPE_CHECKING:
    from pathlib import Path

START = ("node_starting", {"node_id": 1})


def role(was: str, now: str, epoch: int, leader_id: int | None = None) -> tuple[str, dict[str, Any]]:
    return "role_changed", {"was": was, "now": now, "epoch": epoch, "leader_id": leader_id}


def vote(candidate: int, epoch: int, *, pre: bool = False) -> tuple[str, dict[str, Any]]:
    return "vote_answered", {"candidate_id": candidate, "epoch": epoch, "granted": True, "pre_vote": pre}


ELECTED = [
    START, role("Unattached", "Prospective", 0), role("Prospective", "Candidate", 1), role("Candidate", "Leader", 1, 1),
]  # fmt: skip
VOTER = [
    START, vote(1, 0, pre=True), role("Unattached", "Unattached", 1), vote(1, 1),
    role("Unattached", "Follower", 1, 1),
]  # fmt: skip
IDLE = [START]


def said_to(directory: Path, *said: list[tuple[str, dict[str, Any]]]) -> None:
    """Write log events of nodes 1, 2, 3 to their logs, each with a truncated last line."""
    for node, lines in enumerate(said, 1):
        text = "".join(f"{json.dumps({'event': event, **fields, 'timestamp': 'now'})}\n" for event, fields in lines)
        (directory / f"node-{node}.log").write_text(f'{text}{{"cut off by a cr')


def judged(directory: Path, *said: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """The properties that log events of nodes 1, 2, 3 violate."""
    said_to(directory, *said)
    return [text.split()[1] for text in check_log_events(directory)]


def test_a_correct_election_is_no_violation(tmp_path: Path) -> None:
    assert judged(tmp_path, ELECTED, VOTER, IDLE) == []


@pytest.mark.parametrize(
    ("said", "property_id"),
    [
        ((ELECTED, [START, vote(1, 0, pre=True)], IDLE), "S01:"),
        ((ELECTED, [*VOTER, vote(3, 1)], IDLE), "S02:"),
        ((ELECTED, [START, vote(1, 1)], IDLE), "S21:"),
    ],
)  # fmt: skip
def test_a_planted_breach_is_reported(tmp_path: Path, said: Any, property_id: str) -> None:
    assert judged(tmp_path, *said) == [property_id]


def test_a_restarted_node_may_grant_a_vote_that_was_not_saved_before(tmp_path: Path) -> None:
    assert judged(tmp_path, ELECTED, [*VOTER, START, vote(3, 1)], IDLE) == []


def test_logged_roles_are_checked_against_the_specification(tmp_path: Path) -> None:
    fallen = [*VOTER, role("Follower", "Unattached", 0), role("Unattached", "Follower", 7, 1)]
    other_leader = [*VOTER, role("Follower", "Follower", 1, 3), role("Follower", "Unattached", 2)]
    found = []

    for said in (VOTER, fallen, other_leader):
        said_to(tmp_path, [*ELECTED, role("Leader", "Resigned", 1, 1)], said, IDLE)
        found.append([text[:17] for text in check_observations(observations(tmp_path))])

    assert (found[0], found[1][0], found[2][0]) == ([], "SPEC: the epoch f", "SPEC: two leaders")


def test_the_last_role_of_a_process_may_not_have_been_saved(tmp_path: Path) -> None:
    crashed = [*VOTER, role("Follower", "Unattached", 9), START, role("Unattached", "Follower", 2, 1), *VOTER[2:3]]

    said_to(tmp_path, ELECTED, crashed, IDLE)

    assert check_observations(observations(tmp_path)) == []
