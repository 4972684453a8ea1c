"""The periodic tasks of an active controller, and when the next one is due (`PeriodicTaskControlManager`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.handlers.elections import balance_leaders, elect_uncleanly
from controller.handlers.security.delegation_tokens import sweep
from controller.interface.results import Result
from records.metadata.transactions import NoOpRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.interface.env import Env
    from controller.interface.settings import Settings
    from controller.state.state import State

# A task that has more to do continues after the others have run.
AGAIN_MS = 10


@dataclass(slots=True)
class Task:
    """run: what it does. due_ms: monotonic."""

    name: str
    period_ms: int
    run: Callable[[State, Env], Result]
    due_ms: int = 0


class Tasks:
    """The tasks of an active controller, by name in the order in which they run when several are due.

    next_due_ms: when the next one is due; None where there is none. It is asked for after each input.
    """

    __slots__ = ("_tasks", "next_due_ms")

    def __init__(self, settings: Settings, now_ms: int) -> None:
        periods = [
            ("writeNoOpRecord", settings.metadata_max_idle_interval_ms, write_no_op),
            ("electUnclean", settings.unclean_leader_election_interval_ms, elect_uncleanly),
            ("expireDelegationTokens", settings.delegation_token_expiry_check_interval_ms, sweep),
        ]
        if settings.auto_leader_rebalance_enable:
            interval_ms = settings.leader_imbalance_check_interval_seconds * 1000
            periods.append(("electPreferred", interval_ms, balance_leaders))
        # An interval of 0 turns a task off.
        self._tasks = [Task(name, ms, run, now_ms + ms) for name, ms, run in periods if ms > 0]
        self.next_due_ms = self._earliest_ms()

    def due(self, now_ms: int) -> Task | None:
        """The task that has been due longest; None where none is due."""
        ready = [task for task in self._tasks if task.due_ms <= now_ms]
        return min(ready, key=lambda task: task.due_ms, default=None)

    def ran(self, task: Task, now_ms: int, *, again: bool) -> None:
        """Say when a task that just ran is due next."""
        task.due_ms = now_ms + (AGAIN_MS if again else task.period_ms)
        self.next_due_ms = self._earliest_ms()

    def _earliest_ms(self) -> int | None:
        return min((task.due_ms for task in self._tasks), default=None)


def write_no_op(_state: State, _env: Env) -> Result:
    """Write a NoOpRecord: it shows that the quorum commits, and allows a snapshot to be taken on an idle cluster
    (KIP-835).
    """
    return Result(None, [(NoOpRecord(), 0)])
