"""Checks the nodes' log events (`kraft.log.format=json`) against the protocol at the end of a run.

S01: a leader has the votes of a majority; S02: a process of a node grants one vote in an epoch; S21: a candidate was
granted pre-votes by a majority. Roles and epochs go to `simulations.spec.observations`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.chaos.quorum import NODES
from simulations.spec.observations import Observation
from simulations.spec.values import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOG_ID = 100
"""Added to the id of a node in what it says: that has an order of its own, beside what is seen of it."""


class LogEvent(NamedTuple):
    """A line of a node's log. at: the wall clock's time, as text that sorts by it."""

    at: str
    node: int
    event: str
    fields: dict[str, Any]


class Vote(NamedTuple):
    """A vote that a node granted. life: which process of the node granted it."""

    candidate: int
    epoch: int
    is_pre_vote: bool


def log_events(directory: Path, node: int) -> Iterator[LogEvent]:
    """The log events of a node, over all its processes; a line that a crash cut off is skipped."""
    with (directory / f"node-{node}.log").open(errors="replace") as lines:
        for line in lines:
            try:
                fields = json.loads(line)
            except ValueError:
                continue
            if isinstance(fields, dict) and "event" in fields:
                yield LogEvent(str(fields.pop("timestamp", "")), node, fields.pop("event"), fields)


def check_log_events(directory: Path) -> list[str]:
    """Violations in the log events of all nodes, as text."""
    by_node = {node: list(log_events(directory, node)) for node in NODES}
    wrong: list[str] = []
    granted: dict[Vote, set[int]] = {}
    for node, said in by_node.items():
        wrong += _votes(node, said, granted)
    return [*wrong, *_leaders(by_node, granted)]


def observations(directory: Path) -> Iterator[Observation]:
    """All roles that the nodes log.

    A node logs a change of role before it is on disk, so a crash may undo the last one of a process: it is left out.
    """
    for node in NODES:
        life = 0
        waiting: Observation | None = None
        for at, _, event, fields in log_events(directory, node):
            if event == "node_starting":
                life += 1
                waiting = None
            elif event == "controller_active" and waiting is not None and waiting.epoch == fields["epoch"]:
                waiting = waiting._replace(log_end=fields["next_offset"])
            elif event == "role_changed":
                if waiting is not None:
                    yield waiting
                leader = NOBODY if fields["leader_id"] is None else fields["leader_id"]
                waiting = Observation(
                    LOG_ID + node, life, fields["epoch"], fields["now"], leader, source=f"what node {node} said at {at}"
                )


def _votes(node: int, said: list[LogEvent], granted: dict[Vote, set[int]]) -> Iterator[str]:
    """Add the votes that a node granted to `granted`."""
    given: dict[int, int] = {}  # in this life: epoch -> candidate
    for logged in said:
        if logged.event == "node_starting":
            given.clear()
        vote = _vote(node, logged)
        if vote is None:
            continue
        granted.setdefault(vote, set()).add(node)
        if not vote.is_pre_vote and given.setdefault(vote.epoch, vote.candidate) != vote.candidate:
            yield f"{logged.at} S02: node {node} votes for {given[vote.epoch]} and for {vote.candidate} in {vote.epoch}"


def _vote(node: int, logged: LogEvent) -> Vote | None:
    """The vote that a log event grants, also to the node itself; None where it grants none."""
    fields = logged.fields
    if logged.event == "vote_answered" and fields["granted"]:
        return Vote(fields["candidate_id"], fields["epoch"], fields["pre_vote"])
    if logged.event == "role_changed" and fields["now"] == "Candidate":
        return Vote(node, fields["epoch"], False)
    if logged.event == "role_changed" and fields["now"] == "Prospective":
        return Vote(node, fields["epoch"], True)
    return None


def _leaders(by_node: dict[int, list[LogEvent]], granted: dict[Vote, set[int]]) -> Iterator[str]:
    majority = len(NODES) // 2 + 1
    for node, said in by_node.items():
        for at, _, event, fields in said:
            if event != "role_changed":
                continue
            epoch = fields["epoch"]
            if fields["now"] == "Leader" and len(granted.get(Vote(node, epoch, False), ())) < majority:
                yield f"{at} S01: node {node} leads epoch {epoch} without the votes of a majority"
            if fields["now"] == "Candidate" and len(granted.get(Vote(node, epoch - 1, True), ())) < majority:
                yield f"{at} S21: node {node} stands in epoch {epoch} without the pre-votes of a majority"
