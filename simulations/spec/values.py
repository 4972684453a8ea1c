"""What the specification of KRaft speaks of, as plain values: roles, logs, nodes (KIP-595, KIP-630, KIP-996).

Written from the protocol, beside the product's code and not from it; nothing here imports `raft`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

UNATTACHED, PROSPECTIVE, CANDIDATE = "Unattached", "Prospective", "Candidate"
LEADER, FOLLOWER, RESIGNED = "Leader", "Follower", "Resigned"

NOBODY = -1


def _same(old: int, new: int) -> bool:
    return new == old


def _up(old: int, new: int) -> bool:
    return new > old


def _one_up(old: int, new: int) -> bool:
    return new == old + 1


def _not_down(old: int, new: int) -> bool:
    return new >= old


FOLLOWS: dict[str, dict[str, Callable[[int, int], bool]]] = {
    UNATTACHED: {UNATTACHED: _not_down, PROSPECTIVE: _same, FOLLOWER: _not_down},
    PROSPECTIVE: {PROSPECTIVE: _same, UNATTACHED: _not_down, CANDIDATE: _one_up, FOLLOWER: _not_down},
    CANDIDATE: {PROSPECTIVE: _same, UNATTACHED: _up, LEADER: _same, FOLLOWER: _not_down},
    LEADER: {UNATTACHED: _up, FOLLOWER: _up, RESIGNED: _same},
    FOLLOWER: {UNATTACHED: _up, PROSPECTIVE: _same, FOLLOWER: _not_down},
    RESIGNED: {UNATTACHED: _up, FOLLOWER: _up, PROSPECTIVE: _same},
}
"""By role, the roles that may follow it, and what the epoch does then."""
