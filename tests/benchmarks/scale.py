"""Figures of a quorum by the number of its partitions, ours and stock Kafka's, measured alike and in one run.

Each quorum of three starts from a checkpoint, which our writer makes: a broker for every 200 partitions, topics of 100
partitions, replication factor 3. These brokers have no processes, and a session that outlasts the measurement. Both
sides write a snapshot after 4 MiB of records.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.client import Connection, Fleet, create_topics
from tests.benchmarks.processes import cpu_s, memory_mib
from tests.benchmarks.quorum import LARGE, STOCK, Trial, quantile, stock_heap
from tests.benchmarks.state import cluster, write_checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.interop.cluster import NodeProcess
    from tests.interop.stock import Stock

SIZES = (10_000, 100_000, 1_000_000, 2_000_000)
PARTITIONS_OF_TOPIC = 100
PARTITIONS_OF_BROKER = 200
# Those of the checkpoint; the ids of what a trial registers are smaller.
FIRST_BROKER = 100_000
SETTINGS = {
    "broker.session.timeout.ms": "3600000",
    "metadata.log.max.record.bytes.between.snapshots": str(4 << 20),
}
ROUNDS = 3
START_S = 600.0
# Of one request to create topics, below Kafka's bound of 10,000 records.
TOPICS, PARTITIONS = 100, 10
REQUESTS = 20

# Of one by itself, and of one beside a writer.
SNAPSHOT_NAMES = (
    ("a snapshot is written (s)", "… heartbeat meanwhile, p99 (ms)", "… heartbeat meanwhile, longest (ms)"),
    ("a snapshot beside a writer (s)", "… heartbeat beside both, p99 (ms)", "… heartbeat beside both, longest (ms)"),
)

# What is measured of a quorum: name, with its unit -> value.
Measured = dict[str, float]


def checkpoint(partitions: int, root: Path) -> Path:
    """The checkpoint of a cluster with so many partitions."""
    brokers = max(3, partitions // PARTITIONS_OF_BROKER)
    topics = partitions // PARTITIONS_OF_TOPIC
    return write_checkpoint(cluster(partitions, topics, range(FIRST_BROKER, FIRST_BROKER + brokers)), root)


class Scaled(Trial):
    """One quorum whose nodes begin with a checkpoint."""

    def __init__(self, kind: str, stock: Stock, partitions: int, path: Path) -> None:
        super().__init__(kind, stock, SETTINGS)
        self.measured: Measured = {}
        # A start of stock's with so many takes minutes.
        self.rounds = 1 if kind == STOCK and partitions >= LARGE else ROUNDS
        for node in self.cluster.controllers.values():
            node.heap = stock_heap(partitions)
            directory = log_directory(node)
            directory.mkdir(exist_ok=True)
            (directory / path.name).hardlink_to(path)
            (directory / f"{path.name.partition('-')[0]}.log").touch()

    def measure(self) -> None:
        try:
            self.cold_start()
            taken = self.time_commits(300, warm=100)
            self.measured["commit of CreateTopics, p50 (ms)"] = quantile(taken, 50)
            self.measured["… p99 (ms)"] = quantile(taken, 99)
            self.create(REQUESTS)
            alone = self.snapshot(0, is_alone=True)
            self.await_quiet()
            beside = self.snapshot(1, is_alone=False)
            for names, values in zip(SNAPSHOT_NAMES, (alone, beside), strict=True):
                self.measured |= zip(names, values, strict=True)
            self.measured["resident memory, peak of a node (MiB)"] = max(
                memory_mib(node, "VmHWM") for node in self.nodes
            )
            what = "SIGKILL of the leader → next commit, median (ms)"
            self.measured[what] = statistics.median(self.time_failovers(self.rounds, START_S))
            stop_s, level_s = self.time_restart(START_S)
            self.await_quiet()
            self.measured["a standby stops (s)"] = stop_s
            self.measured["a standby starts → its log is level (s)"] = level_s
            self.measured["commits per second, 16 clients"] = self.rate(16, 4)
            self.stop()
        finally:
            self.end()

    def cold_start(self) -> None:
        begin = time.perf_counter()
        self.cluster.start()
        self.await_write(begin + START_S)
        self.measured["cold start → first commit (s)"] = time.perf_counter() - begin
        # Each process replays the checkpoint: the slowest one counts.
        self.await_level_followers(self.leader, START_S)
        self.await_quiet()
        self.measured["… CPU time of a node until then, most (s)"] = max(map(cpu_s, self.nodes))
        self.measured["resident memory, most (MiB)"] = max(map(memory_mib, self.nodes))

    def create(self, requests: int) -> None:
        """CreateTopics in requests of 100 topics with 10 partitions each, one after the other."""
        leader = self.leader
        connection = Connection(leader.port, 60)
        before, begin = cpu_s(leader), time.perf_counter()
        for number in range(requests):
            create_many(connection, f"many-{number}")
        taken, spent = time.perf_counter() - begin, cpu_s(leader) - before
        connection.close()
        created = requests * TOPICS * PARTITIONS
        self.measured["partitions created per second, 1,000 a request"] = created / taken
        self.measured["… CPU time of the leader for a partition (µs)"] = spent / created * 1e6

    def snapshot(self, number: int, *, is_alone: bool) -> tuple[float, float, float]:
        """The leader writes a snapshot while a broker sends heartbeats: how long it takes, in s; p99 and the longest of
        the heartbeats, in ms. A writer of topics makes it due, and ends then if it is to be alone.
        """
        leader = self.leader
        broker_id = 13 + number
        fleet = Fleet(self.cluster, [broker_id], interval=0.01)
        ended = threading.Event()
        writer = threading.Thread(target=create_until, args=(leader.port, f"beside-{number}", ended), daemon=True)
        writer.start()
        begin = await_part(leader, there=True)
        if is_alone:
            ended.set()
        end = await_part(leader, there=False)
        ended.set()
        writer.join(60)
        broker = fleet.brokers[broker_id]
        answers = list(zip(broker.answered_s, broker.latencies_ms, strict=False))
        fleet.end()
        during = [ms for at, ms in answers if begin < at < end + ms / 1000]
        # Where none was answered meanwhile, the next one has waited for all of it.
        during = during or [ms for at, ms in answers if at >= end][:1]
        return end - begin, quantile(during, 99), max(during)

    def stop(self) -> None:
        begin = time.perf_counter()
        self.leader.stop(60)
        self.measured["the leader stops, and hands over (s)"] = time.perf_counter() - begin

    @property
    def nodes(self) -> list[NodeProcess]:
        return list(self.cluster.controllers.values())


def log_directory(node: NodeProcess) -> Path:
    return node.directory / "__cluster_metadata-0"


def create_many(connection: Connection, prefix: str) -> None:
    names = [f"{prefix}-{number}" for number in range(TOPICS)]
    answer = connection.ask(create_topics(names, partitions=PARTITIONS, replication=3), 7)
    assert all(topic.error_code == 0 for topic in answer.topics), answer.topics[0]


def create_until(port: int, prefix: str, ended: threading.Event) -> None:
    connection = Connection(port, 120)
    for number in count():
        if ended.is_set():
            break
        create_many(connection, f"{prefix}-{number}")
    connection.close()


def await_part(node: NodeProcess, *, there: bool, seconds: float = 120.0) -> float:
    """When a node begins to write a snapshot, or has ended; s of `perf_counter`."""
    directory = log_directory(node)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        if any(path.suffix == ".part" for path in directory.iterdir()) == there:
            return time.perf_counter()
        time.sleep(0.002)
    raise AssertionError("no snapshot was written" if there else "the snapshot was not ended")


def measure(stock: Stock, sizes: Sequence[int], kinds: Sequence[str]) -> dict[tuple[int, str], Measured]:
    """The figures of each size and kind, in turn; of one that fails those until then. Progress goes to stderr."""
    found = {}
    for partitions in sizes:
        with tempfile.TemporaryDirectory(prefix="scale-") as name:
            path = checkpoint(partitions, Path(name))
            # This process must not stop to collect what it has of the checkpoint, while a heartbeat waits for it.
            gc.collect()
            gc.freeze()
            for kind in kinds:
                trial = Scaled(kind, stock, partitions, path)
                found[partitions, kind] = trial.measured
                try:
                    trial.measure()
                except (AssertionError, OSError) as error:
                    print(f"{partitions:,}, {kind}: {error}", file=sys.stderr)
                print(f"{partitions:,}, {kind}: {trial.measured}", file=sys.stderr, flush=True)
    return found


def table(found: dict[tuple[int, str], Measured]) -> str:
    """Markdown: a row for each figure, ours and stock's of a size beside each other; a dash where one is missing."""
    heads = [f"{partitions:,}, {kind}" for partitions, kind in found]
    lines = [f"| partitions | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    whats = dict.fromkeys(what for each in found.values() for what in each)
    rows = [f"| {what} | {' | '.join(text(each.get(what)) for each in found.values())} |" for what in whats]
    return "\n".join([*lines, *rows])


def text(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
