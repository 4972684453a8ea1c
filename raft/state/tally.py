"""The count of votes, or pre-votes, of one election."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raft.interface.config import Endpoint
    from raft.interface.voters import VoterSet


class Tally:
    """The votes granted and refused, by the voters at the start of the election.

    held_until_ms: until then no voter is asked and a majority has no effect; None where this replica did not yield.
    search_ms: when voters are searched for at other addresses, None before the first request; searched: the places, as
    peers, at which they were, with the id of the voter. leader_endpoints: of the present leader, where a peer named
    others than the ones known; else empty.
    """

    __slots__ = ("_outdated", "_votes", "held_until_ms", "ids", "leader_endpoints", "majority", "search_ms", "searched")

    def __init__(self, voters: VoterSet, own_id: int) -> None:
        """A new election; this replica has granted its own vote."""
        self.ids = voters.ids
        self.majority = voters.majority
        self._votes = {own_id: True}
        self._outdated: set[int] = set()
        self.held_until_ms: int | None = None
        self.leader_endpoints: tuple[Endpoint, ...] = ()
        self.search_ms: int | None = None
        self.searched: set[tuple[int, int]] = set()

    def record(self, voter_id: int, granted: bool) -> None:
        """Count an answer; a later answer of the same voter replaces the earlier one."""
        if not granted and voter_id in self._outdated:
            self._outdated.discard(voter_id)  # it is asked again
        elif voter_id in self.ids:
            self._votes[voter_id] = granted

    def ask_again(self, voter_id: int) -> None:
        """A voter may grant now what it refused, or will refuse, once: drop its refusal, so that it is asked again."""
        if self._votes.get(voter_id) is None:
            self._outdated.add(voter_id)
        elif not self._votes[voter_id]:
            del self._votes[voter_id]

    def answer_of(self, voter_id: int) -> bool | None:
        """The answer of a voter: whether it granted; None where it has not answered."""
        return self._votes.get(voter_id)

    @property
    def granting(self) -> tuple[int, ...]:
        """Ids of the voters that granted, ascending."""
        return tuple(voter_id for voter_id in self.ids if self._votes.get(voter_id))

    @property
    def silent_voters(self) -> tuple[int, ...]:
        """Ids of the voters that have not answered, ascending."""
        return tuple(voter_id for voter_id in self.ids if voter_id not in self._votes)

    @property
    def is_won(self) -> bool:
        return len(self.granting) >= self.majority

    @property
    def is_lost(self) -> bool:
        """Whether no majority is possible, even if all voters that have not answered grant."""
        return len(self.granting) + len(self.silent_voters) < self.majority
