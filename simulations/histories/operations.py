"""A recorded history: the operations of clients, their answers, and their times (Herlihy and Wing 1990)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda _self: "?", "__slots__": ()})()
"""The answer of an unanswered operation, which may have taken effect at any time since its call, or not at all."""


@dataclass(slots=True)
class Operation:
    """One request of a client. asked: the operation, hashable; answer: UNKNOWN without one.

    invoked, returned: positions in the order of all events of the history; returned is None if no answer came.
    """

    client: str | int
    asked: Any
    answer: Any
    invoked: int
    returned: int | None

    def __str__(self) -> str:
        end = "…" if self.returned is None else str(self.returned)
        return f"[{self.invoked}, {end}] client {self.client}: {self.asked} -> {self.answer}"


class Recorder:
    """Records a history while it happens. operations: by the order of their calls. now: the present time; moments: the
    time of each event of the history, the first at 0.
    """

    def __init__(self, now: Callable[[], int] = lambda: 0) -> None:
        self.operations: list[Operation] = []
        self.moments: list[int] = []
        self._now = now
        self._clock = 0

    def ask(self, client: str | int, asked: Any) -> Operation:
        """A client calls an operation; it may take effect at any time until `answer`."""
        operation = Operation(client, asked, UNKNOWN, self._tick(), None)
        self.operations.append(operation)
        return operation

    def answer(self, operation: Operation, answer: Any) -> None:
        """Record the answer of an operation."""
        assert operation.returned is None, f"answered twice: {operation}"
        operation.answer = answer
        operation.returned = self._tick()

    def forget(self, operation: Operation) -> None:
        """Remove an operation that certainly had no effect, such as one that was never sent."""
        self.operations.remove(operation)

    def _tick(self) -> int:
        self._clock += 1
        self.moments.append(self._now())
        return self._clock
