"""The tables of possible items: each cell once, and the unreachable ones with their reason."""

from __future__ import annotations

from collections import Counter

from simulations.coverage import moments, moves, table
from simulations.properties.roles import TRANSITIONS


def test_each_cell_occurs_once_and_is_reachable_or_has_a_reason() -> None:
    cells = table.cells()

    assert set(Counter(cells).values()) == {1}
    assert {cell for cell in cells if not table.why_not(cell)} == set(table.reachable())
    assert {role for role, _, _ in table.reachable()} == set(table.ROLES)


def test_an_unreachable_cell_says_why() -> None:
    assert table.why_not(("Leader", "Fetch", "records")) == ""
    assert table.why_not(("Follower", "Fetch", "records")).startswith("only a leader serves")
    assert table.why_not(("Leader", "VoteAnswer", "granted")) == "an answer to a request of another role is late"
    assert table.why_not(("Leader", "VoteAnswer", "late")) == ""


def test_each_reason_applies_to_some_cell() -> None:
    reasons = {table.why_not(cell) for cell in table.cells()}

    assert reasons == {"", *(reason for reason, _ in table.UNREACHABLE)}


def test_sequences_of_roles_consist_of_allowed_transitions() -> None:
    paths = moves.feasible()

    assert {path[:2] for path in paths} | {path[1:] for path in paths} <= set(TRANSITIONS)
    assert ("Prospective", "Candidate", "Leader") in paths
    assert moves.why_not(("Leader", "Candidate", "Leader")) == "one does not follow the other"
    assert moves.why_not(("Leader", "Resigned", "Prospective")).startswith("a resigned leader becomes prospective only")


def test_each_moment_has_a_name_of_its_own() -> None:
    names = moments.moments()

    assert len(names) == len(set(names)) > 40
