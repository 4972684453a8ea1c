"""The count of votes, or pre-votes, of one election."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raft.voters import VoterSet


class Tally:
    """Who granted and who refused, among the voters of the moment it began.

    held_until_ms: until when nobody is asked and a majority is not acted on; None where this replica did not yield.
    """

    __slots__ = ("_outdated", "_votes", "held_until_ms", "ids", "majority")

    def __init__(self, voters: VoterSet, own_id: int) -> None:
        """An election in which this replica has its own vote."""
        self.ids = voters.ids
        self.majority = voters.majority
        self._votes = {own_id: True}
        self._outdated: set[int] = set()
        self.held_until_ms: int | None = None

    def record(self, voter_id: int, granted: bool) -> None:
        """An answer; one voter counts once, and the later answer is the one that counts."""
        if not granted and voter_id in self._outdated:
            self._outdated.discard(voter_id)  # it is asked again
        elif voter_id in self.ids:
            self._votes[voter_id] = granted

    def ask_again(self, voter_id: int) -> None:
        """A voter has changed its mind since it refused, or since it was asked: its refusal does not count, once."""
        if self._votes.get(voter_id) is None:
            self._outdated.add(voter_id)
        elif not self._votes[voter_id]:
            del self._votes[voter_id]

    def answer_of(self, voter_id: int) -> bool | None:
        """What a voter said; None where it has not answered."""
        return self._votes.get(voter_id)

    @property
    def granting(self) -> tuple[int, ...]:
        """Ids of who granted, ascending."""
        return tuple(voter_id for voter_id in self.ids if self._votes.get(voter_id))

    @property
    def unanswered(self) -> tuple[int, ...]:
        """Ids of who has not answered, ascending."""
        return tuple(voter_id for voter_id in self.ids if voter_id not in self._votes)

    @property
    def is_won(self) -> bool:
        return len(self.granting) >= self.majority

    @property
    def is_lost(self) -> bool:
        """Whether even all who have not answered could not make a majority."""
        return len(self.granting) + len(self.unanswered) < self.majority
