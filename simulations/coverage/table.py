"""The table of cells: the outcomes that messages of each kind can have in each role, and which are unreachable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.spec.values import CANDIDATE, FOLLOWER, LEADER, PROSPECTIVE, RESIGNED, UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Callable

Cell = tuple[str, str, str]
"""Role, kind of message, outcome."""

ROLES = (UNATTACHED, PROSPECTIVE, CANDIDATE, LEADER, FOLLOWER, RESIGNED)

LATE, MALFORMED, OTHER = "late", "malformed", "another error"

CLUSTER, INVALID, FENCED = "INCONSISTENT_CLUSTER_ID", "INVALID_REQUEST", "FENCED_LEADER_EPOCH"
UNKNOWN_EPOCH, NOT_LEADER, LEAVING = "UNKNOWN_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER", "BROKER_NOT_AVAILABLE"
OTHER_KEY, OTHER_SET, OWN_ID = "INVALID_VOTER_KEY", "INCONSISTENT_VOTER_SET", "UNKNOWN_SERVER_ERROR"
NO_SNAPSHOT, NO_POSITION = "SNAPSHOT_NOT_FOUND", "POSITION_OUT_OF_RANGE"
NO_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"

ERRORS: dict[str, frozenset[str]] = {
    "Vote": frozenset((CLUSTER, INVALID, FENCED, OTHER_KEY)),
    "PreVote": frozenset((CLUSTER, INVALID, FENCED, OTHER_KEY)),
    "Begin": frozenset((CLUSTER, INVALID, FENCED, OTHER_SET, OTHER_KEY)),
    "End": frozenset((CLUSTER, INVALID, FENCED, OTHER_SET)),
    "Fetch": frozenset((CLUSTER, INVALID, FENCED, UNKNOWN_EPOCH, NOT_LEADER, LEAVING, OWN_ID)),
    "FetchSnapshot": frozenset((
        CLUSTER, INVALID, NO_PARTITION, FENCED, UNKNOWN_EPOCH, NOT_LEADER, LEAVING, NO_SNAPSHOT, NO_POSITION, OWN_ID,
    )),
}  # fmt: skip
"""Kind of request -> errors that its answer may have."""

GIVEN: dict[str, tuple[str, ...]] = {
    "Vote": ("granted", "refused"),
    "PreVote": ("granted", "refused"),
    "Begin": ("taken",),
    "End": ("taken",),
    "Fetch": ("records", "nothing", "diverging", "snapshot"),
    "FetchSnapshot": ("bytes",),
}
"""Kind of request -> its other outcomes."""

ANSWERED: dict[str, tuple[str, ...]] = {
    "Vote": ("granted", "refused"),
    "PreVote": ("granted", "refused"),
    "Begin": ("taken",),
    "End": ("taken",),
    "Fetch": ("records", "nothing", "damaged", "diverging", "unused", "snapshot"),
    "FetchSnapshot": ("written", "unused"),
}
"""The outcomes of an answer without an error; `damaged` if none of its records is valid, `unused` if its instruction
cannot be followed.
"""

ASKS: dict[str, frozenset[str]] = {
    "Vote": frozenset((CANDIDATE,)),
    "PreVote": frozenset((PROSPECTIVE,)),
    "Begin": frozenset((LEADER,)),
    "End": frozenset((RESIGNED,)),
    "Fetch": frozenset((UNATTACHED, FOLLOWER)),
    "FetchSnapshot": frozenset((FOLLOWER,)),
}
"""Kind of request -> roles that send it and wait for the answer."""

NAMED_BY_ALL = frozenset((CLUSTER, INVALID, NO_PARTITION, FENCED, UNKNOWN_EPOCH, NOT_LEADER))
_OF_LEADER = frozenset(("Fetch", "FetchSnapshot"))


def answer_to(name: str) -> str:
    """The kind of answer to a kind of request."""
    return f"{name}Answer"


def _request_of(kind: str) -> str:
    return kind.removesuffix("Answer")


def _is_answer(kind: str) -> bool:
    return kind.endswith("Answer")


UNREACHABLE: tuple[tuple[str, Callable[[str, str, str], bool]], ...] = (
    (
        "only a leader serves the log, and checks the requested offset",
        lambda role, kind, outcome: kind in _OF_LEADER and role != LEADER and outcome not in NAMED_BY_ALL,
    ),
    (
        "a leader serves a FetchSnapshot within the step, so its leadership cannot end before the answer",
        lambda role, kind, outcome: (role, kind, outcome) == (LEADER, "FetchSnapshot", NOT_LEADER),
    ),
    (
        "an answer to a request of another role is late",
        lambda role, kind, outcome: _is_answer(kind) and outcome != LATE and role not in ASKS[_request_of(kind)],
    ),
    (
        "a replica without a leader lacks at least the first record of the epoch",
        lambda role, kind, outcome: (role, kind, outcome) == (UNATTACHED, "FetchAnswer", "nothing"),
    ),
    (
        "every node has the metadata log",
        lambda _role, kind, outcome: _is_answer(kind) and outcome == NO_PARTITION,
    ),
)
"""Reasons why a message cannot have this outcome in this role."""


def why_not(cell: Cell) -> str:
    """Why a cell is unreachable; "" where it is not."""
    return next((reason for reason, holds in UNREACHABLE if holds(*cell)), "")


def cells() -> list[Cell]:
    """All cells."""
    all_cells = []
    for role in ROLES:
        for name, errors in ERRORS.items():
            all_cells += [(role, name, outcome) for outcome in (*GIVEN[name], *sorted(errors))]
            outcomes = (*ANSWERED[name], *sorted(errors), OTHER, MALFORMED, LATE)
            all_cells += [(role, answer_to(name), outcome) for outcome in outcomes]
    return all_cells


def reachable() -> list[Cell]:
    """The reachable cells."""
    return [cell for cell in cells() if not why_not(cell)]
