"""Rounds of Trogdor's workloads: topics are created, written to, read back and deleted."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

from tests.trogdor import specs

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.interop.stock import Stock
    from tests.trogdor.processes import Trogdor

# Of each writer, in messages a second.
PER_S = 100
ROUND_S = 40
# So many rounds go on at a time: ConsumeBench looks once a minute whether it is done.
LANES = 2
# A tool whose request was answered too late tries again, and is then told that the topic is not there, or is there.
TRIES = 4
POLL_S = 0.5


class Rounds:
    """Rounds one after the other. wrong: what is wrong so far; counts: of rounds, tasks, topics and messages.

    lane: 1 to `LANES`, the number of the first round; seconds: how long a round writes.
    """

    def __init__(self, trogdor: Trogdor, stock: Stock, servers: str, lane: int, seconds: int) -> None:
        self.wrong: list[str] = []
        self.counts: Counter[str] = Counter()
        self._trogdor = trogdor
        self._stock = stock
        self._servers = servers
        self._lane = lane
        self._messages = max(1, PER_S * seconds // specs.PER_TRANSACTION) * specs.PER_TRANSACTION

    def run(self, until: float, say: Callable[[str], object]) -> None:
        """Rounds, at least one, of which none begins after `until`, of the monotonic clock."""
        for number in count(self._lane, LANES):
            begin, before = time.monotonic(), len(self.wrong)
            try:
                self._play(number)
            except (OSError, subprocess.TimeoutExpired) as error:
                self.wrong.append(f"round {number} was given up: {error}")
            self.counts["rounds"] += 1
            wrong = self.wrong[before:]
            say(f"round {number}: {time.monotonic() - begin:.0f} s, {'; '.join(wrong) or 'all well'}")
            if time.monotonic() >= until:
                return

    def _play(self, number: int) -> None:
        messages = self._messages
        create = self._trogdor.create
        create(f"round-trip-{number}", specs.round_trip(self._servers, number, messages, PER_S))
        create(f"produce-{number}", specs.produce(self._servers, number, messages, PER_S))
        create(f"transactions-{number}", specs.transactions(self._servers, number, messages, PER_S))
        self._await_topics(f"produce-{number}", f"transactions-{number}")
        create(f"consume-{number}", specs.consume(self._servers, number, 2 * messages))

        self.wrong += specs.check_counts(
            f"round-trip-{number}", self._end(f"round-trip-{number}"), totalUniqueSent=messages, totalReceived=messages
        )
        self.wrong += specs.check_counts(f"produce-{number}", self._end(f"produce-{number}"), totalSent=messages)
        self.wrong += specs.check_counts(
            f"transactions-{number}", self._end(f"transactions-{number}"),
            totalSent=messages, transactionsCommitted=messages // specs.PER_TRANSACTION,
        )  # fmt: skip
        self.wrong += specs.check_consumed(f"consume-{number}", self._end(f"consume-{number}"), 2 * messages)
        self._check_offsets(f"round-trip-{number}-", messages)
        self._check_offsets(f"produced-{number}-", messages)
        self._delete(number)
        self.counts["messages read back by RoundTripWorkload"] += messages
        self.counts["messages of ProduceBench"] += 2 * messages
        self.counts["transactions"] += messages // specs.PER_TRANSACTION
        self.counts["messages of ConsumeBench"] += 2 * messages
        self.counts["topics"] += specs.ROUND_TRIP_TOPICS + specs.PRODUCED_TOPICS + specs.IDLE_TOPICS + 1

    def _end(self, task: str) -> specs.Task:
        self.counts["tasks"] += 1
        return self._trogdor.await_done(task, specs.TASK_S + 60)

    def _await_topics(self, *tasks: str) -> None:
        """Wait until the tasks have created their topics, or have ended."""
        for task in tasks:
            while is_creating(self._trogdor.state(task)):
                time.sleep(POLL_S)

    def _check_offsets(self, topics: str, messages: int) -> None:
        """The topics hold each message once: a producer that tries again does not write twice."""
        for _ in range(TRIES):
            done = self._stock.tool("get-offsets", "--bootstrap-server", self._servers, "--topic", f"{topics}.*")
            if done.returncode == 0:
                break
        found = specs.end_offsets(done.stdout, topics)
        if found != messages:
            self.wrong.append(f"{topics}* have {found} records of {messages} messages: {done.stdout} {done.stderr}")

    def _delete(self, number: int) -> None:
        """Delete the topics of a round, by a task that runs stock's tool."""
        topics = f"(round-trip|produced|idle|transactions)-{number}(-[0-9]+)?"
        words = self._stock.tool_command("topics", "--bootstrap-server", self._servers, "--delete", "--topic", topics)
        for attempt in range(1, TRIES + 1):
            task = f"delete-{number}-{attempt}"
            self._trogdor.create(task, specs.command(words if attempt == 1 else [*words, "--if-exists"]))
            wrong = specs.check_ended(task, self._end(task))
            if not wrong:
                return
            self.counts["deletions that were tried again"] += 1
        self.wrong += wrong


def is_creating(state: specs.Task) -> bool:
    """Whether a workload that runs, or will, has not said yet that its topics exist."""
    status = state.get("status")
    return state["state"] in {"PENDING", "RUNNING"} and (
        not status or (isinstance(status, str) and not status.startswith("Created "))
    )


def check_deleted(stock: Stock, servers: str) -> list[str]:
    """All topics of all rounds are deleted."""
    done = stock.tool("topics", "--bootstrap-server", servers, "--list", "--exclude-internal")
    if done.returncode != 0:
        return [f"the topics cannot be listed: {done.stderr}"]
    return [f"the topic {name} was not deleted" for name in done.stdout.split()]
