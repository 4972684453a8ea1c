"""A broker with many leaderships is fenced and unfenced again, and one shuts down, beside a writer and heartbeats."""

from __future__ import annotations

import threading
import time
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from records.errors import Error, error_name
from records.messages.quorum import DescribeQuorumRequest
from tests.benchmarks.client import Connection, create_topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.client import Fleet

# Smaller steps of the log end are of the writer.
JUMP = 500
SESSION_S = 3.0
# A change is over after so much quiet.
QUIET_S = 1.0


class LeadershipLost(Exception):
    """Another controller leads, or none answers, so nothing more can be measured."""


class Asked(NamedTuple):
    """A request: when it was sent and answered, in s."""

    begin: float
    end: float


class Fenced(NamedTuple):
    """What was seen of one change, in ms. delayed_ms: from what starts it until its first record.

    waits: of the writes and of the heartbeats that were under way meanwhile.
    """

    records: int
    delayed_ms: float
    committed_ms: float
    writes: list[float]
    heartbeats: list[float]


class Writer:
    """Creates topics, one after the other, until it is ended."""

    def __init__(self, port: int) -> None:
        self.asked: list[Asked] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._write, args=(port,), daemon=True)
        self._thread.start()

    def _write(self, port: int) -> None:
        connection = Connection(port, 60)
        for number in count():
            if self._done.is_set():
                break
            begin = time.perf_counter()
            try:
                answer = connection.ask(create_topics([f"beside-{time.time_ns()}-{number}"]), 7)
            except TimeoutError:
                self.asked.append(Asked(begin, time.perf_counter()))
                break
            if answer.topics[0].error_code == Error.NOT_CONTROLLER:
                break
            assert answer.topics[0].error_code == 0, answer
            self.asked.append(Asked(begin, time.perf_counter()))
        connection.close()

    def end(self) -> None:
        self._done.set()
        self._thread.join(60)


def ask_quorum(connection: Connection) -> Any:
    """The metadata partition's part of a DescribeQuorum answer. Raises LeadershipLost."""
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
    found = connection.ask(DescribeQuorumRequest(topics=(topic,)), 2).topics[0].partitions[0]
    if found.error_code:
        raise LeadershipLost(f"the controller of before answers {error_name(found.error_code)}")
    return found


def measure_change(port: int, fleet: Fleet, silent: int, begin: Callable[[], None], start_s: float = 0.0) -> Fenced:
    """Watch the change that `begin` brings about, after `start_s`. Raises LeadershipLost."""
    if fleet.timed_out:
        raise LeadershipLost("a heartbeat was not answered in time")
    writer = Writer(port)
    time.sleep(0.5)
    fleet.forget()
    connection = Connection(port)
    first = last = 0.0
    seen = ask_quorum(connection)
    before = end = target = max(voter.log_end_offset for voter in seen.current_voters)
    started = time.perf_counter()
    begin()
    while time.perf_counter() < started + 60:
        seen = ask_quorum(connection)
        now = time.perf_counter()
        former, end = end, max(voter.log_end_offset for voter in seen.current_voters)
        if end - former > JUMP:
            first, last, target = first or now, 0.0, end
            before = former if first == now else before
        if first and not last and seen.high_watermark >= target:
            last = now
        if last and now > last + QUIET_S:
            break
        time.sleep(0.002)
    connection.close()
    writer.end()
    # The poll sees the first record up to a step late; a request that waits for that step was sent before.
    during = [asked for asked in writer.asked if asked.end > first - 0.005 and asked.begin < last]
    beats = [
        Asked(end_s - ms / 1000, end_s)
        for broker in fleet.brokers.values() if broker.id != silent
        for end_s, ms in zip(broker.answered_s, broker.latencies_ms, strict=False)
    ]  # fmt: skip
    beside = [beat for beat in beats if beat.end > first - 0.005 and beat.begin < last]
    return Fenced(
        target - before,
        (first - started - start_s) * 1000,
        (last - first) * 1000,
        [(asked.end - asked.begin) * 1000 for asked in during],
        [(beat.end - beat.begin) * 1000 for beat in beside],
    )
