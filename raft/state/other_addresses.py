"""Where a voter may be when it does not answer at its address in the voter set, and where voters have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.interface.config import Endpoint
from raft.interface.limits import OVERRIDE_PEER

if TYPE_CHECKING:
    from raft.interface.config import RaftConfig, Voter


class Place(NamedTuple):
    """An address beside those of the voter set. peer: its number in a `Send`; voter_id: None where any voter may be
    there.
    """

    peer: int
    endpoint: Endpoint
    voter_id: int | None


class OtherAddresses:
    """places: the overrides, and the bootstrap servers; empty where the replica searches for no voter.

    It is all in memory: what counts is the voter set, and an address found here is asked for a voter by its key.
    """

    __slots__ = ("_found", "places")

    def __init__(self, config: RaftConfig) -> None:
        listener = config.listener.upper()
        overrides = [
            Place(OVERRIDE_PEER - voter_id, endpoint, voter_id) for voter_id, endpoint in config.voter_overrides
        ]
        servers = [
            Place(-2 - place, Endpoint(listener, endpoint.host, endpoint.port), None)
            for place, endpoint in enumerate(config.bootstrap_servers)
        ]
        self.places = (*overrides, *servers) if config.finds_moved_voters else ()
        self._found: dict[int, tuple[Voter, Endpoint]] = {}

    def record(self, voter: Voter, peer: int) -> Endpoint:
        """A voter answered at one of the places to a request that named its key; returns the address."""
        endpoint = next(place.endpoint for place in self.places if place.peer == peer)
        self._found[voter.key.id] = (voter, endpoint)
        return endpoint

    def of(self, voter: Voter) -> Endpoint | None:
        """Where a voter has answered, as long as its entry in the voter set is the same; else None."""
        entry = self._found.get(voter.key.id)
        return entry[1] if entry is not None and entry[0] == voter else None

    def forget(self, voter_id: int) -> None:
        """A request to a voter failed: the next one goes to its address in the voter set."""
        self._found.pop(voter_id, None)
