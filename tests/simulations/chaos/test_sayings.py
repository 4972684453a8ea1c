"""What nodes say of themselves is judged: each planted breach is told, and an election by the book is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simulations.chaos.sayings import judge_sayings

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


def judged(directory: Path, *said: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """The properties that break by what nodes 1, 2, 3 say."""
    for node, lines in enumerate(said, 1):
        text = "".join(f"{json.dumps({'event': event, **fields, 'timestamp': 'now'})}\n" for event, fields in lines)
        (directory / f"node-{node}.log").write_text(f'{text}{{"cut off by a cr')
    return [text.split()[1] for text in judge_sayings(directory)]


def test_an_election_by_the_book_is_right(tmp_path: Path) -> None:
    assert judged(tmp_path, ELECTED, VOTER, IDLE) == []


@pytest.mark.parametrize(
    ("said", "property_id"),
    [
        ((ELECTED, [START, vote(1, 0, pre=True)], IDLE), "S01:"),
        ((ELECTED, [*VOTER, role("Follower", "Follower", 1, 3)], IDLE), "S01:"),
        ((ELECTED, [*VOTER, vote(3, 1)], IDLE), "S02:"),
        ((ELECTED, [*VOTER, role("Follower", "Unattached", 0)], IDLE), "S14:"),
        ((ELECTED, [START, vote(1, 1)], IDLE), "S21:"),
    ],
)  # fmt: skip
def test_a_planted_breach_is_told(tmp_path: Path, said: Any, property_id: str) -> None:
    assert judged(tmp_path, *said) == [property_id]


def test_another_life_may_grant_what_the_one_before_did_not_get_to_save(tmp_path: Path) -> None:
    assert judged(tmp_path, ELECTED, [*VOTER, START, vote(3, 1)], IDLE) == []
