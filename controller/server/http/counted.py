"""Counts and times what passes between the cores and their driver: metrics that need a clock, which the cores lack.

A node without an HTTP port does not count: the counting wraps the actions of effects only if requested
(`Node.observe`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, Any

from controller.interface import effects as controller_effects
from raft.interface import effects as raft_effects

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.interface.access import Access
    from controller.state.partitions.partitions import Rows
    from raft.state.replica import Replica

# Upper bounds of the histogram of commit latencies, in seconds.
BUCKETS_S = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, math.inf)
# Averages and maxima cover the last one to two of these windows, as in Kafka (metrics.sample.window.ms, two samples).
WINDOW_S = 30.0
ROLES_KEPT = 20
ELECTING = {"Prospective", "Candidate"}
SETTLED = {"Leader", "Follower"}


class Window:
    """Sum, count and maximum of the values in the current window and the one before."""

    __slots__ = ("_begin_s", "_former", "_now")

    def __init__(self, now_s: float) -> None:
        self._begin_s = now_s
        self._now = self._former = (0.0, 0, -math.inf)

    def add(self, value: float, now_s: float) -> None:
        self._forget_old(now_s)
        total, count, highest = self._now
        self._now = (total + value, count + 1, max(highest, value))

    def mean(self, now_s: float) -> float:
        """NaN where nothing came."""
        self._forget_old(now_s)
        count = self._now[1] + self._former[1]
        return (self._now[0] + self._former[0]) / count if count else math.nan

    def highest(self, now_s: float) -> float:
        """NaN where nothing came."""
        self._forget_old(now_s)
        largest = max(self._now[2], self._former[2])
        return largest if largest > -math.inf else math.nan

    def rate(self, now_s: float) -> float:
        """The sum per second, over a time of at least one window."""
        self._forget_old(now_s)
        return (self._now[0] + self._former[0]) / (WINDOW_S + now_s - self._begin_s)

    def _forget_old(self, now_s: float) -> None:
        passed = int((now_s - self._begin_s) / WINDOW_S)
        if passed > 0:
            self._former = self._now if passed == 1 else (0.0, 0, -math.inf)
            self._now = (0.0, 0, -math.inf)
            self._begin_s += passed * WINDOW_S


class Histogram:
    """The number of values in each bucket of BUCKETS_S, their count and sum."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * len(BUCKETS_S)
        self.sum = 0.0

    @property
    def count(self) -> int:
        return sum(self.counts)

    def add(self, value: float) -> None:
        self.counts[bisect_left(BUCKETS_S, value)] += 1
        self.sum += value

    def cumulate(self) -> list[tuple[float, int]]:
        """Each bound, with the number of values up to it."""
        return list(zip(BUCKETS_S, accumulate(self.counts), strict=True))


class Counted:
    """What was counted since the port was opened. Times are in seconds of `clock_s`.

    commits: on the leader, the times from the append of a batch to its commit. appended, fetched: records. elections:
    those that this node started. roles: the last changes of this node's role, the newest last. brokers: ids of all
    brokers seen registered, up to a limit. under_replicated: what `Reading` found last, and the version of the
    partitions then.
    """

    def __init__(
        self, replica: Replica, wall_ms: Callable[[], int], clock_s: Callable[[], float] = perf_counter
    ) -> None:
        self._replica = replica
        self.wall_ms = wall_ms
        self.clock_s = clock_s
        now_s = clock_s()
        self.commits = Histogram()
        self.commit_ms_per_record = Window(now_s)
        self.election_ms = Window(now_s)
        self.appended_rate = Window(now_s)
        self.fetched_rate = Window(now_s)
        self.allowed_rate = Window(now_s)
        self.denied_rate = Window(now_s)
        self._decisions = (0, 0)
        self.appended = self.fetched = self.elections = 0
        self.roles: deque[dict[str, Any]] = deque(maxlen=ROLES_KEPT)
        self.brokers: set[int] = set()
        self.under_replicated: tuple[int, Rows] | None = None
        self._election_s: float | None = None
        self._looks: dict[type, Callable[[Any], None]] = {
            controller_effects.Append: self._on_proposed,
            raft_effects.Append: self._on_appended,
            raft_effects.HighWatermark: self._on_committed,
            raft_effects.Noted: self._on_noted,
        }
        # end offset -> the time when the batch was proposed, and the number of its records
        self._uncommitted: deque[tuple[int, float, int]] = deque()

    def around(self, kind: type, act: Callable[[Any], None]) -> Callable[[Any], None]:
        """For `Node.wrap_effects`: see the effects of some classes pass before they are performed."""
        look = self._looks.get(kind)
        return act if look is None else _both(look, act)

    def see_decisions(self, access: Access | None) -> None:
        """Count what the authorizer decided since the last call; called once a second."""
        if access is None:
            return
        counts = access.allowed_count, access.denied_count
        now_s = self.clock_s()
        for window, count, before in zip((self.allowed_rate, self.denied_rate), counts, self._decisions, strict=True):
            window.add(count - before, now_s)
        self._decisions = counts

    def _on_proposed(self, effect: controller_effects.Append) -> None:
        count = effect.last_offset - effect.base_offset + 1
        self._uncommitted.append((effect.last_offset + 1, self.clock_s(), count))

    def _on_appended(self, effect: raft_effects.Append) -> None:
        count = effect.end_offset - effect.base_offset
        if self._replica.epoch == effect.epoch and self._replica.leader_id == self._replica.key.id:
            self.appended += count
            self.appended_rate.add(count, self.clock_s())
        else:
            self.fetched += count
            self.fetched_rate.add(count, self.clock_s())

    def _on_committed(self, effect: raft_effects.HighWatermark) -> None:
        waiting = self._uncommitted
        if not waiting:
            return
        now_s = self.clock_s()
        while waiting and waiting[0][0] <= effect.offset:
            _, began_s, count = waiting.popleft()
            took_s = now_s - began_s
            self.commits.add(took_s)
            self.commit_ms_per_record.add(took_s * 1000 / count, now_s)

    def _on_noted(self, effect: raft_effects.Noted) -> None:
        if effect.name != "role_changed":
            return
        now = effect.fields["now"]
        self.roles.append({"time_ms": self.wall_ms(), **effect.fields})
        self._uncommitted.clear()
        if now in ELECTING:
            if self._election_s is None:
                self._election_s = self.clock_s()
                self.elections += 1
        elif now in SETTLED and self._election_s is not None:
            now_s = self.clock_s()
            self.election_ms.add((now_s - self._election_s) * 1000, now_s)
            self._election_s = None


def _both(look: Callable[[Any], None], act: Callable[[Any], None]) -> Callable[[Any], None]:
    def both(effect: Any) -> None:
        look(effect)
        act(effect)

    return both
