"""Questions whether a leader leads still, and who has proved it (Raft 6.4, without a clock).

A voter whose Fetch of this epoch comes on a connection, after an answer of ours that left on that connection after the
question, sent it after the question: it waits for the one before it asks the next. So it was in this epoch then. With
a majority of such voters, none of a later epoch was elected before the question: nothing was committed behind our back.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Rounds:
    """The questions of one leadership. asked: how many there were; the n-th question is round n."""

    __slots__ = ("_answered", "_distrusted", "_open", "_seen", "asked")

    def __init__(self) -> None:
        self.asked = 0
        self._open: deque[tuple[int, int]] = deque()
        self._answered: dict[int, int] = {}  # connection -> newest round when the last answer left on it
        self._seen: dict[int, int] = {}  # voter id -> newest round after which it is known to follow
        self._distrusted: set[int] = set()

    def ask(self, number: int) -> None:
        self.asked += 1
        self._open.append((self.asked, number))

    def answered(self, connection: int) -> None:
        """A Fetch of a voter is answered."""
        self._answered[connection] = self.asked

    def wants(self, connection: int) -> bool:
        """Whether a question is open that no answer on this connection has followed yet."""
        return bool(self._open) and self._answered.get(connection, -1) < self.asked

    def heard(self, voter_id: int, connection: int) -> None:
        """A voter fetches in this epoch."""
        if connection not in self._distrusted:
            self._seen[voter_id] = max(self._seen.get(voter_id, 0), self._answered.get(connection, 0))

    def distrust(self, connection: int) -> None:
        """A peer asked before it had the answer to what it asked before: its order tells nothing."""
        self._distrusted.add(connection)

    def forget(self, connection: int) -> None:
        """The connection is gone."""
        self._answered.pop(connection, None)
        self._distrusted.discard(connection)

    def settle(self, voter_ids: Iterable[int], own_id: int) -> list[int]:
        """The numbers of the questions that a majority of the voters now answers; they are no longer open."""
        if not self._open:
            return []
        rounds = sorted((self.asked if each == own_id else self._seen.get(each, 0) for each in voter_ids), reverse=True)
        confirmed = rounds[len(rounds) // 2]
        numbers = []
        while self._open and self._open[0][0] <= confirmed:
            numbers.append(self._open.popleft()[1])
        return numbers
