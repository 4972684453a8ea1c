"""Long requests have their turns, L17: one at a time; after one that took some time, none for as long, if a short
request, or one of a broker, came in the second before its end, or since it was begun; those of brokers come first, and
rest after those of brokers alone; the user whose last one is the oldest comes next; no request of the quorum and no
heartbeat is among them; what waited for the end of one is not lost, and does not wait for the next; and nothing waits
for a change that is still being decided, but where another change has overtaken it.

The time that they take is that of the simulated thread (`world.long_thread`): steps themselves take none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.long_steps import Phase
from controller.interface.effects import Requeue
from controller.node.long_requests import BROKERS
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.core.controller import Controller
    from controller.interface.effects import Effect
    from controller.interface.inputs import RequestContext
    from controller.node.long_requests import LongRequests, Waiting

# Vote, BeginQuorumEpoch, EndQuorumEpoch, Fetch, FetchSnapshot, and what brokers send to stay: BrokerHeartbeat.
URGENT = frozenset({1, 52, 53, 54, 59, 63})
# CreateTopics, DeleteTopics, CreateAcls, DeleteAcls, AlterConfigs, CreatePartitions, IncrementalAlterConfigs,
# AlterClientQuotas, AlterUserScramCredentials: the largest, by users.
DECIDED_BESIDE = frozenset({19, 20, 30, 31, 33, 37, 44, 49, 51})
# Who sent nothing for so long, in s, needs no rest.
OTHERS_S = 1.0
HEARTBEAT = 63
# Of the clock, in s: times are rounded to a microsecond.
SLACK_S = 0.000_01


class LongTurns:
    """Checks the queue of one process. served: how many requests were begun, by user."""

    def __init__(self, node_id: int, now_s: Callable[[], float], controller: Controller) -> None:
        self.served: dict[str, int] = {}
        self._node_id = node_id
        self._now_s = now_s
        self._controller = controller
        self._waiting: list[tuple[str, int]] = []
        self._turns: dict[str, int] = {}
        self._present: str | None = None
        self._not_before_s = self._brokers_not_before_s = 0.0
        self._other_came_s: float | None = None
        self._begun_s = 0.0
        self._held = 0

    def follow(self, queue: LongRequests) -> None:
        """Check what comes into a queue, and what leaves it."""
        add, done, drop = queue.add, queue.on_done, queue.drop

        def check_added(request: Waiting) -> None:
            entry = request.principal, request.connection
            if request.principal == BROKERS:
                self._other_came_s = self._now_s()
            self._waiting.append(entry)

            def begin() -> None:
                self._begins(*entry)
                request.begin()

            add(request._replace(begin=begin))

        def check_done(principal: str, taken_s: float) -> None:
            self._present = None
            now_s = self._now_s()
            rested_s = now_s + taken_s
            came_s = self._other_came_s
            if came_s is not None and came_s >= min(now_s - OTHERS_S + SLACK_S, self._begun_s):
                self._not_before_s = max(self._not_before_s, rested_s)
            if principal == BROKERS:
                self._brokers_not_before_s = max(self._brokers_not_before_s, rested_s)
            done(principal, taken_s)

        def check_drop(connection: int) -> None:
            self._waiting = [entry for entry in self._waiting if entry[1] != connection]
            drop(connection)

        queue.add, queue.on_done, queue.drop = check_added, check_done, check_drop  # type: ignore[method-assign]

    def on_short(self, api_key: int) -> None:
        """A request came that is not long."""
        if api_key != HEARTBEAT:
            self._other_came_s = self._now_s()

    def took(self, context: RequestContext, done: Sequence[Effect]) -> None:
        """A long request was served, with these effects."""
        held, self._held = self._held, 0
        again = sum(len(each.events) for each in done if isinstance(each, Requeue))
        if again < held:
            raise self._violation(f"of {held} inputs that waited for the end of one, {again} come again")
        if context.api_key in URGENT:
            raise self._violation(f"a request of API {context.api_key} waits among the long ones")

    def on_stepped(self) -> None:
        """A step of the controller has ended."""
        long = self._controller.long
        self._held = len(long.held)
        step = long.present
        if step is None or not long.held or step.context.api_key not in DECIDED_BESIDE:
            return
        if step.phase is not Phase.APPLYING and not step.is_again:
            raise self._violation(f"{len(long.held)} inputs wait while API {step.context.api_key} is decided")

    def _begins(self, principal: str, connection: int) -> None:
        self._waiting.remove((principal, connection))
        now_s = self._now_s()
        if self._present is not None:
            raise self._violation(f"{principal}'s is begun while {self._present}'s is served")
        not_before_s = self._brokers_not_before_s if principal == BROKERS else self._not_before_s
        if now_s < not_before_s - SLACK_S:
            left_ms = (not_before_s - now_s) * 1000
            raise self._violation(f"{principal}'s is begun {left_ms:.2f} ms before the rest after the last one is over")
        turn = self._turns.get(principal, 0)
        if principal != BROKERS and any(other == BROKERS for other, _ in self._waiting):
            raise self._violation(f"{principal}'s is begun while one of a broker waits")
        turn = -1 if principal == BROKERS else turn
        before = [other for other, _ in self._waiting if self._turns.get(other, 0) < turn]
        if before:
            raise self._violation(f"{principal} has another turn, though {before[0]} had none for longer")
        held: list[Any] = self._controller.long.held
        if held:
            raise self._violation(f"{principal}'s is begun while {len(held)} inputs wait for the end of the last one")
        self._present = principal
        self._begun_s = now_s
        self.served[principal] = self.served.get(principal, 0) + 1
        self._turns[principal] = sum(self.served.values())

    def _violation(self, text: str) -> Violation:
        return Violation("L17", f"node {self._node_id}, long requests: {text}")
