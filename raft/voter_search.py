"""A candidate asks voters that do not answer at their addresses also at others: their names may have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.limits import NEVER
from records.uuids import ZERO_UUID

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.config import ReplicaKey, Voter
    from raft.state.other_addresses import Place
    from raft.state.replica import Replica
    from raft.state.tally import Tally

VOTE_VERSION = 1
"""The first version of Vote that names the voter and its directory id: any other node answers INVALID_VOTER_KEY."""


def search(replica: Replica, tally: Tally, build: Callable[[ReplicaKey], Any], now_ms: int) -> int:
    """Send the Vote of each silent voter to the other addresses, each at most once in an election.

    build: the request for a voter. Returns when the search begins; NEVER where it has begun, or has nothing to ask.
    """
    if not replica.addresses.places or tally.is_won:
        return NEVER
    if tally.search_ms is None:
        tally.search_ms = now_ms + replica.config.search_after_ms
    if now_ms < tally.search_ms:
        return tally.search_ms
    for place in replica.addresses.places:
        if not replica.peers.is_ready(place.peer, now_ms):
            continue
        voter = next((each for each in _silent_voters(replica, tally) if _may_be_at(replica, tally, each, place)), None)
        if voter is not None:
            tally.searched.add((place.peer, voter.key.id))
            replica.send(place.peer, place.endpoint, build(voter.key), now_ms, VOTE_VERSION)
    return NEVER


def _silent_voters(replica: Replica, tally: Tally) -> list[Voter]:
    """Those that a Vote can name: the directory id of a static voter is not known."""
    voters = [replica.voters.get(voter_id) for voter_id in tally.silent_voters]
    return [voter for voter in voters if voter is not None and voter.key.directory_id != ZERO_UUID]


def _may_be_at(replica: Replica, tally: Tally, voter: Voter, place: Place) -> bool:
    """Whether to ask for a voter at a place: not again, not where it is asked anyway, not where another voter is."""
    if (place.peer, voter.key.id) in tally.searched or place.voter_id not in {None, voter.key.id}:
        return False
    if replica.endpoint_of(voter.key.id) == place.endpoint:
        return False
    others = (other for other in replica.voters if other.key.id != voter.key.id)
    return not any(
        (tally.answer_of(other.key.id) is not None or replica.addresses.of(other) is not None)
        and replica.endpoint_of(other.key.id) == place.endpoint
        for other in others
    )
