"""Figures of a three-node quorum, ours and stock Kafka's, measured alike and in one run."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.client import Connection, Fleet, create_topics
from tests.benchmarks.fence import SESSION_S, LeadershipLost, measure_change
from tests.benchmarks.processes import compile_modules, memory_mib
from tests.interop.ask import describe_quorum
from tests.interop.cluster import OURS, STOCK, Cluster, eventually

if TYPE_CHECKING:
    from ssl import SSLContext

    from tests.benchmarks.fence import Fenced
    from tests.interop.cluster import NodeProcess
    from tests.interop.stock import Stock

# After the creation of very many partitions; standbys may yet replay them.
SETTLED_S = 5
# Of CPU time in 1.5 s: a node that has nothing to do needs less, stock's too.
QUIET_CPU_MS = 400

Figures = dict[str, str]

# The heap that stock Kafka's own start script asks for.
STOCK_HEAP = "-Xms1G -Xmx1G -XX:+UseG1GC -XX:MaxGCPauseMillis=20"
# That is too small for so many partitions.
LARGE = 1_000_000
LARGE_HEAP = "-Xmx4G -XX:+UseG1GC -XX:MaxGCPauseMillis=20"


class Trial:
    """One quorum under measurement. kind: OURS or STOCK; settings: more lines of the properties."""

    def __init__(self, kind: str, stock: Stock, settings: dict[str, str] | None = None) -> None:
        compile_modules()
        self.kind = kind
        self.root = Path(tempfile.mkdtemp(prefix=f"bench-{kind}-"))
        self.cluster = Cluster(self.root, stock, settings={"broker.session.timeout.ms": "3000", **(settings or {})})
        self.cluster.heap = STOCK_HEAP
        self.cluster.plan([kind] * 3, 0)
        self.cluster.format(controllers_by=kind)
        self.figures: Figures = {}

    @property
    def leader(self) -> NodeProcess:
        return self.cluster.controllers[self.cluster.await_leader()]

    def start(self) -> None:
        """Cold start of three formatted nodes up to the first answered write."""
        begin = time.perf_counter()
        self.cluster.start()
        self.await_write(begin + 60)
        self.figures["cold start → first commit (s)"] = f"{time.perf_counter() - begin:.2f}"
        time.sleep(1)
        sizes = [memory_mib(node) for node in self.cluster.controllers.values()]
        self.figures["resident memory, empty (MiB)"] = f"{min(sizes):.0f}–{max(sizes):.0f}"

    def await_write(self, until: float) -> None:
        """Ask every node in turn, without pause, until one registers a broker: that answer is a committed write."""
        fleet_id = 1
        while time.perf_counter() < until:
            for node in self.cluster.controllers.values():
                try:
                    Fleet(self.cluster_of(node), [fleet_id], interval=60).end()
                except (OSError, AssertionError):
                    continue
                return
            time.sleep(0.005)
        raise AssertionError("no write was answered")

    def cluster_of(self, node: NodeProcess) -> Cluster:
        return _OneNode(node, self.cluster.context)  # type: ignore[return-value]

    def commits(self, count: int) -> None:
        taken = self.time_commits(count, warm=300)
        self.figures["commit of CreateTopics, p50 / p99 (ms)"] = (
            f"{statistics.median(taken):.2f} / {quantile(taken, 99):.2f}"
        )

    def time_commits(self, count: int, warm: int) -> list[float]:
        """CreateTopics of one topic with one partition, one client, one after the other; ms, without the first ones."""
        fleet = Fleet(self.cluster, [11])
        connection = Connection(self.leader.port, 60)
        taken = []
        for number in range(count + warm):
            request = create_topics([f"t-{number}"])
            begin = time.perf_counter()
            answer = connection.ask(request, 7)
            taken.append((time.perf_counter() - begin) * 1000)
            assert answer.topics[0].error_code == 0, answer
        connection.close()
        fleet.end()
        return taken[warm:]

    def throughput(self, clients: int, seconds: float) -> None:
        self.figures[f"commits per second, {clients} clients"] = f"{self.rate(clients, seconds):.0f}"

    def rate(self, clients: int, seconds: float) -> float:
        """The same from several clients at once; commits per second."""
        fleet = Fleet(self.cluster, [12])
        port = self.leader.port
        done = [0] * clients
        end = time.perf_counter() + seconds

        def work(index: int) -> None:
            connection = Connection(port)
            while time.perf_counter() < end:
                connection.ask(create_topics([f"c-{index}-{done[index]}"]), 7)
                done[index] += 1
            connection.close()

        threads = [threading.Thread(target=work, args=(index,)) for index in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        fleet.end()
        return sum(done) / seconds

    def heartbeats_beside_a_writer(self, seconds: float) -> None:
        """Heartbeats that change nothing, while one client creates topics without pause."""
        fleet = Fleet(self.cluster, [13], interval=0.01)
        port = self.leader.port
        time.sleep(1)
        fleet.forget()
        connection = Connection(port)
        number = 0
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            connection.ask(create_topics([f"h-{number}"]), 7)
            number += 1
        latencies = list(fleet.brokers[13].latencies_ms)
        connection.close()
        fleet.end()
        self.figures["heartbeat beside a writer, p50 / p99 (ms)"] = (
            f"{statistics.median(latencies):.2f} / {quantile(latencies, 99):.2f}"
        )

    def failovers(self, rounds: int) -> None:
        taken = self.time_failovers(rounds)
        self.figures["SIGKILL → next commit, median [min–max] (ms)"] = (
            f"{statistics.median(taken):.0f} [{min(taken):.0f}–{max(taken):.0f}]"
        )

    def time_failovers(self, rounds: int, seconds: float = 30.0) -> list[float]:
        """SIGKILL of the active controller, then ask the others until one answers a write; ms. seconds: after which
        that has failed.
        """
        taken = []
        for _ in range(rounds):
            node = self.leader
            # The others follow, and have all records of the leader.
            self.await_level_followers(node)
            begin = time.perf_counter()
            node.kill()
            self.await_write(begin + seconds)
            taken.append((time.perf_counter() - begin) * 1000)
            node.start()
            self.await_level_followers(self.leader)
            self.await_quiet()
        return taken

    def await_quiet(self, seconds: float = 600.0) -> None:
        """Wait until no node has much to do: one that was started may have its log, and not have loaded it yet."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            before = self._cpu_ms()
            time.sleep(1.5)
            if all(after - begin < QUIET_CPU_MS for after, begin in zip(self._cpu_ms(), before, strict=True)):
                return
        raise AssertionError(f"the nodes are not quiet within {seconds:.0f} s")

    def await_level_followers(self, leader: NodeProcess, seconds: float = 60.0) -> None:
        eventually(lambda: self._followers_are_level(leader), "level followers", seconds)

    def _followers_are_level(self, leader: NodeProcess) -> bool:
        found = describe_quorum(leader.port, self.cluster.context)
        ends = [voter.log_end_offset for voter in found.current_voters]
        return found.error_code == 0 and len(ends) == 3 and min(ends) >= found.high_watermark - 2

    def partitions(self, count: int, brokers: int, replication: int = 3) -> Fleet:
        """Create `count` partitions in topics of 100, over brokers without processes."""
        fleet = Fleet(self.cluster, list(range(21, 21 + brokers)))
        connection = Connection(self.leader.port, seconds=120)
        begin = time.perf_counter()
        for number in range(count // 100):
            answer = connection.ask(create_topics([f"big-{number}"], partitions=100, replication=replication), 7)
            assert answer.topics[0].error_code == 0, answer
        self.figures[f"create {count:,} partitions, 1 × 100 a request (s)"] = f"{time.perf_counter() - begin:.1f}"
        sizes = [memory_mib(node) for node in self.cluster.controllers.values()]
        self.figures["… resident memory then (MiB)"] = f"{min(sizes):.0f}–{max(sizes):.0f}"
        connection.close()
        return fleet

    def fence(self, fleet: Fleet, replication: int = 3) -> None:
        """One broker stops its heartbeats; where it then has all leaderships to get back, it sends one again. Another
        asks for its controlled shutdown.
        """
        port = self.leader.port
        silent = min(fleet.brokers)
        before = self._cpu_ms()
        self._add("fence", measure_change(port, fleet, silent, lambda: fleet.silent.add(silent), SESSION_S))
        # With the writer, the heartbeats and the polls of some 5 s.
        spent = sorted(after - begin for after, begin in zip(self._cpu_ms(), before, strict=True))
        self.figures["fence: CPU of each node since the last heartbeat (ms)"] = ", ".join(f"{ms:.0f}" for ms in spent)
        if replication == 1:
            returned = threading.Thread(target=fleet.brokers[silent].heartbeat, daemon=True)
            self._add("unfence", measure_change(port, fleet, silent, returned.start))
            returned.join()
        fleet.silent.clear()
        leaving = max(fleet.brokers)
        asked = threading.Thread(target=fleet.brokers[leaving].heartbeat, kwargs={"shut_down": True}, daemon=True)
        fleet.silent.add(leaving)
        self._add("controlled shutdown", measure_change(port, fleet, leaving, asked.start))
        asked.join()
        fleet.silent.clear()

    def _cpu_ms(self) -> list[float]:
        """The CPU time that each node has had so far."""
        processes = [node.process for node in self.cluster.controllers.values()]
        return [
            sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{process.pid}/task").glob("*/schedstat"))
            / 1e6
            for process in processes
            if process is not None
        ]

    def _add(self, change: str, seen: Fenced) -> None:
        figures = self.figures
        figures[f"{change} one of the brokers: records"] = f"{seen.records:,}"
        figures[f"{change}: begun after (ms)"] = f"{seen.delayed_ms:.0f}"
        figures[f"{change}: first record seen → high watermark above the last (ms)"] = f"{seen.committed_ms:.0f}"
        for what, taken in (("write", seen.writes), ("heartbeat of another broker", seen.heartbeats)):
            spread = f"{quantile(taken, 50):.1f} / {quantile(taken, 99):.1f} / {max(taken):.1f}" if taken else "–"
            figures[f"{change}: {what} meanwhile, p50 / p99 / longest (ms)"] = f"{spread} of {len(taken)}"

    def restart_standby(self) -> None:
        _, level_s = self.time_restart()
        self.figures["restart of a standby with that log → its log is level (s)"] = f"{level_s:.2f}"

    def time_restart(self, seconds: float = 60.0) -> tuple[float, float]:
        """Stop a standby that has the whole log, and start it again: the time of the stop, and of the start until its
        log end offset equals the leader's; s. seconds: after which it has failed.
        """
        leader = self.leader
        node = next(node for node in self.cluster.controllers.values() if node is not leader)
        begin = time.perf_counter()
        node.stop()
        stopped = time.perf_counter()
        started_ms = time.time() * 1000
        node.start()
        eventually(lambda: self._has_fetched(leader, node, started_ms), "the standby level", seconds)
        return stopped - begin, time.perf_counter() - stopped

    def _has_fetched(self, leader: NodeProcess, node: NodeProcess, since_ms: float) -> bool:
        """Whether a node has asked the leader since then, and has all committed records."""
        found = describe_quorum(leader.port, self.cluster.context)
        return any(
            voter.replica_id == node.id
            and voter.log_end_offset >= found.high_watermark
            and voter.last_fetch_timestamp > since_ms
            for voter in found.current_voters
        )

    def end(self) -> None:
        self.cluster.end()


class _OneNode:
    """The part of a cluster's interface that a Fleet needs, for one node, which may or may not lead."""

    def __init__(self, node: NodeProcess, context: SSLContext | None) -> None:
        self.controllers = {node.id: node}
        self.id = node.id
        self.context = context

    def await_leader(self) -> int:
        return self.id


def quantile(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def print_figures(head: str, figures: dict[str, Figures]) -> None:
    """A table in Markdown, with a column for each quorum, by its name, and the rows of the first one."""
    print(f"| {head} | {' | '.join(figures)} |")
    print("|---|" + "---|" * len(figures))
    for row in next(iter(figures.values())):
        print(f"| {row} | {' | '.join(each.get(row, '') for each in figures.values())} |")


def stock_heap(partitions: int) -> str:
    """The options for the heap of stock's controllers with so many partitions."""
    return LARGE_HEAP if partitions >= LARGE else STOCK_HEAP


def measure_fence(trial: Trial, partitions: int, brokers: int, replication: int) -> Figures:
    """The figures of a fence alone."""
    for node in trial.cluster.controllers.values():
        node.heap = stock_heap(partitions)
    try:
        trial.start()
        time.sleep(SESSION_S + 1)  # the broker of the start is fenced, and gets no partitions
        fleet = trial.partitions(partitions, brokers, replication)
        time.sleep(SETTLED_S)
        trial.fence(fleet, replication)
        fleet.end()
    except LeadershipLost as error:
        print(f"{trial.kind} was not measured to the end: {error}")
    finally:
        trial.end()
    return trial.figures


def measure(trial: Trial, partitions: int, rounds: int) -> Figures:
    try:
        trial.start()
        trial.commits(700)
        trial.throughput(16, 4)
        trial.heartbeats_beside_a_writer(3)
        trial.failovers(rounds)
        fleet = trial.partitions(partitions, 10)
        trial.fence(fleet)
        fleet.end()
        trial.restart_standby()
    finally:
        trial.end()
    return trial.figures


__all__ = ["OURS", "STOCK", "Figures", "Trial", "measure", "measure_fence", "print_figures"]
