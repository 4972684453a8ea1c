"""Rounds of ConfirmLeadership: which voters have proved that this leader was still leader (Raft 6.4, without a clock).

A voter sends its next Fetch only after it has received the answer to the one before. So when the leader answers a Fetch
after a question was asked, the next Fetch on that connection was sent after the question, by a voter in this epoch. A
majority of such voters proves that no later leader had been elected, or had committed anything, before the question.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Rounds:
    """The open questions of one leadership. asked: the number of questions so far; the n-th question is round n."""

    __slots__ = ("_answered", "_distrusted", "_open", "_seen", "asked")

    def __init__(self) -> None:
        self.asked = 0
        self._open: deque[tuple[int, int]] = deque()
        self._answered: dict[int, int] = {}  # connection -> newest round at the time of the last answer on it
        self._seen: dict[int, int] = {}  # voter id -> newest round that the voter has proved
        self._distrusted: set[int] = set()

    def ask(self, number: int) -> None:
        self.asked += 1
        self._open.append((self.asked, number))

    def on_answered(self, connection: int) -> None:
        """A Fetch of a voter is answered now."""
        self._answered[connection] = self.asked

    def needs_answer(self, connection: int) -> bool:
        """Whether a question is open since which no Fetch was answered on this connection."""
        return bool(self._open) and self._answered.get(connection, -1) < self.asked

    def record_fetch(self, voter_id: int, connection: int) -> None:
        """A voter fetches in this epoch: it has proved the rounds up to the last answer on this connection."""
        if connection not in self._distrusted:
            self._seen[voter_id] = max(self._seen.get(voter_id, 0), self._answered.get(connection, 0))

    def distrust(self, connection: int) -> None:
        """A peer sent a Fetch before the previous one was answered: the order of its requests proves nothing."""
        self._distrusted.add(connection)

    def forget(self, connection: int) -> None:
        """The connection is closed."""
        self._answered.pop(connection, None)
        self._distrusted.discard(connection)

    def take_confirmed(self, voter_ids: Iterable[int], own_id: int) -> list[int]:
        """Remove and return the numbers of the questions that a majority of the voters has confirmed."""
        if not self._open:
            return []
        rounds = sorted((self.asked if each == own_id else self._seen.get(each, 0) for each in voter_ids), reverse=True)
        confirmed = rounds[len(rounds) // 2]
        numbers = []
        while self._open and self._open[0][0] <= confirmed:
            numbers.append(self._open.popleft()[1])
        return numbers
