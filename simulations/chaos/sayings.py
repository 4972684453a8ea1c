"""What nodes say of themselves in their logs (`kraft.log.format=json`), held against the protocol when all is over.

S01: a leader has its epoch for itself, and the votes of a majority; S02: a life of a node grants one vote in an epoch;
S03, S14: roles follow each other as the table says (the very judge of the simulation); S21: who stands was granted
pre-votes; S24: all name the same leader of an epoch.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from simulations.chaos.quorum import NODES
from simulations.properties.roles import Roles
from simulations.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulations.ledger import Ledger
    from simulations.process import Process


class Saying(NamedTuple):
    """A line of a node's log. at: the wall clock's time, as text that sorts by it."""

    at: str
    node: int
    event: str
    fields: dict[str, Any]


class Vote(NamedTuple):
    """Granted by a node, in one of its lives."""

    candidate: int
    epoch: int
    is_pre_vote: bool


def sayings(directory: Path, node: int) -> Iterator[Saying]:
    """What a node wrote, all its lives one after the other; a line that a crash cut off is passed over."""
    with (directory / f"node-{node}.log").open(errors="replace") as lines:
        for line in lines:
            try:
                fields = json.loads(line)
            except ValueError:
                continue
            if isinstance(fields, dict) and "event" in fields:
                yield Saying(str(fields.pop("timestamp", "")), node, fields.pop("event"), fields)


def judge_sayings(directory: Path) -> list[str]:
    """What cannot be of all that the nodes say."""
    by_node = {node: list(sayings(directory, node)) for node in NODES}
    wrong = [text for node, said in by_node.items() for text in _roles(node, said)]
    granted: dict[Vote, set[int]] = {}
    for node, said in by_node.items():
        wrong += _votes(node, said, granted)
    return [*wrong, *_leaders(by_node, granted)]


def _roles(node: int, said: list[Saying]) -> Iterator[str]:
    """One life after the other goes by the judge of the simulation."""
    roles = Roles(cast("Ledger", None))
    process = cast("Process", SimpleNamespace(node=SimpleNamespace(id=node)))
    roles.started(process)
    for saying in said:
        if saying.event == "node_starting":
            roles.started(process)
        try:
            roles.noted(process, saying.event, saying.fields)
        except Violation as violation:
            yield f"{saying.at} {violation.property_id}: {violation.text}"


def _votes(node: int, said: list[Saying], granted: dict[Vote, set[int]]) -> Iterator[str]:
    """Adds who granted what to `granted`."""
    given: dict[int, int] = {}  # in this life: epoch -> candidate
    for saying in said:
        if saying.event == "node_starting":
            given.clear()
        vote = _vote(node, saying)
        if vote is None:
            continue
        granted.setdefault(vote, set()).add(node)
        if not vote.is_pre_vote and given.setdefault(vote.epoch, vote.candidate) != vote.candidate:
            yield f"{saying.at} S02: node {node} votes for {given[vote.epoch]} and for {vote.candidate} in {vote.epoch}"


def _vote(node: int, saying: Saying) -> Vote | None:
    """The vote that a node gives, to itself too, by what it says; None where it gives none."""
    fields = saying.fields
    if saying.event == "vote_answered" and fields["granted"]:
        return Vote(fields["candidate_id"], fields["epoch"], fields["pre_vote"])
    if saying.event == "role_changed" and fields["now"] == "Candidate":
        return Vote(node, fields["epoch"], False)
    if saying.event == "role_changed" and fields["now"] == "Prospective":
        return Vote(node, fields["epoch"], True)
    return None


def _leaders(by_node: dict[int, list[Saying]], granted: dict[Vote, set[int]]) -> Iterator[str]:
    majority = len(NODES) // 2 + 1
    known: dict[int, int] = {}
    for node, said in by_node.items():
        for at, _, event, fields in said:
            if event != "role_changed":
                continue
            epoch, leader = fields["epoch"], fields["leader_id"]
            if leader is not None and known.setdefault(epoch, leader) != leader:
                yield f"{at} S01: node {node} knows {leader} to lead epoch {epoch}, another {known[epoch]}"
            if fields["now"] == "Leader" and len(granted.get(Vote(node, epoch, False), ())) < majority:
                yield f"{at} S01: node {node} leads epoch {epoch} without the votes of a majority"
            if fields["now"] == "Candidate" and len(granted.get(Vote(node, epoch - 1, True), ())) < majority:
                yield f"{at} S21: node {node} stands in epoch {epoch} without the pre-votes of a majority"
