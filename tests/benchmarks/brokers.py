"""`python -m tests.benchmarks.brokers`: 10,000 brokers on a quorum of three, ours and stock Kafka's, in one run.

Each broker has a connection to the active controller, from one of a few client processes, and sends a heartbeat every
2 s, while a client creates topics. In the middle the three controllers are restarted one after the other, the leader
last. Then all connections are closed, and all brokers connect again at once. The timeouts have their defaults: a broker
is fenced when the controller has had no heartbeat of it for 9 s.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import shutil
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from records.frame import decode_record
from records.metadata.brokers import BrokerRegistrationChangeRecord
from tests.benchmarks import broker_clients
from tests.benchmarks.broker_clients import Plan, Seen
from tests.benchmarks.processes import cpu_s, memory_mib
from tests.benchmarks.quorum import OURS, STOCK, print_figures, quantile
from tests.benchmarks.scale import log_directory
from tests.benchmarks.security import PLAIN, TLS, Protected
from tests.interop.ask import describe_quorum
from tests.interop.cluster import eventually
from tests.interop.stock import Stock
from tests.interop.writer import Writer
from tests.raft.network.certificates import certificate
from tools.offline.log_file import LogFile
from tools.offline.stored_records import records_of

if TYPE_CHECKING:
    from pathlib import Path

# Above the ids of the controllers, and of the broker that a trial registers at its start.
FIRST_ID = 1000
CLIENT_PROCESSES = 4
# The pause between two topics: a table of topics that grows faster would be what is measured.
PAUSE_S = 0.01
# Sessions before and after a measurement: a broker that was not in time is fenced by then.
SETTLE_S = 10.0
PHASE_S = 600.0
# The longest that a restarted controller may take until all is as before.
CATCH_UP_S = 300.0

Figures = dict[str, str]


class Clients:
    """The client processes."""

    def __init__(self, brokers: int, ports: tuple[int, ...], certificate: str | None) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for number in range(CLIENT_PROCESSES):
            ids = range(FIRST_ID + number, FIRST_ID + brokers, CLIENT_PROCESSES)
            own, its = spawn.Pipe()
            process = spawn.Process(target=broker_clients.run, args=(Plan(ids, ports, certificate), its), daemon=True)
            process.start()
            self.pipes.append(own)
            self.processes.append(process)

    def do(self, phase: str) -> list[Seen]:
        """Let all processes do something, to its end; what they have seen since the last time."""
        for pipe in self.pipes:
            pipe.send(phase)
        found = []
        for pipe in self.pipes:
            assert pipe.poll(PHASE_S), f"{phase}: not within {PHASE_S:.0f} s"
            found.append(pipe.recv())
        return found

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.join()


class Window(NamedTuple):
    """A part of the measurement: its figures of heartbeats and commits."""

    heartbeats: list[float]
    commits: list[float]

    def add_to(self, figures: Figures, what: str) -> None:
        for name, taken in (("heartbeat", self.heartbeats), ("commit of CreateTopics", self.commits)):
            at = [f"{value:,.1f}" for value in (quantile(taken, 50), quantile(taken, 99), max(taken))]
            figures[f"{name}, {what}: p50 / p99 / longest (ms)"] = " / ".join(at)


class Crowded(Protected):
    """A quorum with very many brokers."""

    def __init__(self, kind: str, stock: Stock, protocol: str, brokers: int) -> None:
        super().__init__(kind, stock, protocol, {"broker.session.timeout.ms": "9000"})
        self.brokers = brokers
        ports = tuple(node.port for node in self.cluster.controllers.values())
        self.clients = Clients(brokers, ports, str(certificate("/O=Test/CN=client")) if protocol == TLS else None)

    def measure(self, seconds: float) -> Figures:
        try:
            self.start()
            self.figures.clear()
            self._connect()
            with Writer(self.cluster, PAUSE_S, has_brokers=True) as writer:
                self._run(writer, seconds)
                self._reconnect(writer)
            missing = writer.missing()
            assert not missing, f"acknowledged topics are missing: {missing[:10]}"
            for node in self.cluster.controllers.values():
                node.stop()
            self.figures["brokers fenced, in the log"] = str(self._fenced())
        finally:
            self.clients.end()
            self.end()
        return self.figures

    def _connect(self) -> None:
        leader = self.leader
        empty = memory_mib(leader)
        begin = time.perf_counter()
        self.clients.do("connect_all")
        self._tell(f"connected in {time.perf_counter() - begin:.1f} s")
        connected = memory_mib(leader)
        begin = time.perf_counter()
        self.clients.do("register_all")
        self._tell(f"registered in {time.perf_counter() - begin:.1f} s")
        self.clients.do("beat_from_now")
        time.sleep(SETTLE_S)
        full = memory_mib(leader)
        self.figures["memory of the leader: empty, connected, with registered brokers (MiB)"] = (
            f"{empty:.0f}, {connected:.0f}, {full:.0f}"
        )
        self.figures["… for each connection (KiB)"] = f"{(connected - empty) * 1024 / self.brokers:.1f}"

    def _run(self, writer: Writer, seconds: float) -> None:
        self.clients.do("look")
        leader = self.leader
        begin, spent = time.perf_counter(), cpu_s(leader)
        time.sleep(seconds / 2)
        middle = time.perf_counter()
        share = (cpu_s(leader) - spent) / (middle - begin)
        self._restart()
        restarted = time.perf_counter() + SETTLE_S
        self._tell(f"restarted in {restarted - SETTLE_S - middle:.1f} s")
        time.sleep(SETTLE_S + seconds / 2)
        end = time.perf_counter()
        seen = self.clients.do("look")
        during = self._window(writer, seen, middle, restarted)
        before, after = self._window(writer, seen, begin, middle), self._window(writer, seen, restarted, end)
        quiet = Window(before.heartbeats + after.heartbeats, before.commits + after.commits)
        quiet.add_to(self.figures, "without a restart")
        during.add_to(self.figures, "during the rolling restart")
        quiet_s = middle - begin + end - restarted
        self.figures["heartbeats a second, without a restart"] = f"{len(quiet.heartbeats) / quiet_s:,.0f}"
        self.figures["CPU of the leader before the restart (share of a core)"] = f"{share:.2f}"
        self._tell(f"clients: {sum(each.cpu for each in seen):.0f} s of CPU since their start")
        self.figures["… connections that failed and were tried again, in the restart"] = (
            f"{sum(each.failures for each in seen):,}"
        )
        self.figures["lag of the clients, p99 / longest (ms)"] = " / ".join(
            f"{value * 1000:.0f}" for value in self._lags(seen)
        )
        self.figures["longest time between two commits, during the restart (ms)"] = (
            f"{writer.longest_pause_ms(middle, restarted):.0f}"
        )
        self.figures["brokers fenced, in an answer"] = self._fenced_in_answers(seen)

    def _lags(self, seen: list[Seen]) -> tuple[float, float]:
        lags = [lag for each in seen for lag in each.lags]
        return quantile(lags, 99), max(lags)

    def _window(self, writer: Writer, seen: list[Seen], begin: float, end: float) -> Window:
        """The requests that were begun in the window."""
        heartbeats = [
            taken * 1000
            for each in seen
            for begun, taken in zip(each.begun, each.taken, strict=True)
            if begin <= begun < end
        ]
        commits = [
            taken for at, taken in zip(writer.times, writer.taken_ms, strict=False) if begin <= at - taken / 1000 < end
        ]
        return Window(heartbeats, commits)

    def _restart(self) -> None:
        """Stop and start each controller when all have caught up, the leader last."""
        led = self.leader
        for node in [*(node for node in self.cluster.controllers.values() if node is not led), led]:
            began = time.perf_counter()
            node.stop()
            stopped = time.perf_counter()
            started_ms = time.time() * 1000
            node.start()
            eventually(lambda: self._all_fetch(started_ms), "all voters have caught up", CATCH_UP_S)  # noqa: B023
            self._tell(f"node {node.id}: stop {stopped - began:.1f} s, caught up {time.perf_counter() - stopped:.1f} s")

    def _all_fetch(self, since_ms: float) -> bool:
        """Whether all voters have fetched since then, and have all committed records but those of the last moment."""
        leader = self.cluster.controllers.get(self.cluster.leader())
        if leader is None:
            return False
        found = describe_quorum(leader.port, self.context)
        return all(
            voter.log_end_offset >= found.high_watermark - 50
            and (voter.replica_id == leader.id or voter.last_fetch_timestamp > since_ms)
            for voter in found.current_voters
        )

    def _reconnect(self, writer: Writer) -> None:
        begin = time.perf_counter()
        seen = self.clients.do("reconnect_all")
        commits = self._window(writer, seen, begin, time.perf_counter()).commits
        served = [after for each in seen for after in each.served]
        at = f"{quantile(served, 50):.1f} / {quantile(served, 99):.1f} / {max(served):.1f}"
        self.figures["all reconnect at once: a broker is served after, p50 / p99 / longest (s)"] = at
        self.figures["… connections that failed and were tried again"] = f"{sum(each.failures for each in seen):,}"
        self.figures["… commit meanwhile, p50 / longest (ms)"] = (
            f"{quantile(commits, 50):,.1f} / {max(commits):,.1f}" if commits else "none"
        )
        time.sleep(SETTLE_S)
        self.figures["… brokers fenced, in an answer"] = self._fenced_in_answers(self.clients.do("look"))

    def _fenced_in_answers(self, seen: list[Seen]) -> str:
        return str(len(set().union(*(each.fenced for each in seen))))

    def _fenced(self) -> int:
        """How often one of the brokers was fenced, by the log of a node that has stopped."""
        return max(fenced_in(log_directory(node)) for node in self.cluster.controllers.values())

    def _tell(self, text: str) -> None:
        print(f"{self.root.name}: {text}", file=sys.stderr, flush=True)


def fenced_in(directory: Path) -> int:
    """The records of a log that fence one of the brokers."""
    count = 0
    for path in sorted(directory.glob("*.log")):
        with LogFile(str(path)) as file:
            for batch in file.batches():
                for record in () if batch.is_control else records_of(batch):
                    change = decode_record(record.value or b"")[0]
                    if isinstance(change, BrokerRegistrationChangeRecord):
                        count += change.fenced == 1 and change.broker_id >= FIRST_ID
    return count


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.brokers", description=__doc__)
    parser.add_argument("--brokers", type=int, default=10_000, help="(default 10000)")
    parser.add_argument("--minutes", type=float, default=10.0, help="beside the restart (default 10)")
    parser.add_argument("--tls", action="store_true", help="TLS with client certificates on all connections")
    parser.add_argument("--only", choices=[OURS, STOCK], action="append", help="one kind (repeatable)")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sys.setswitchinterval(0.0005)
    stock = Stock("4.3.1")
    kinds = options.only or ([OURS, STOCK] if shutil.which("java") and shutil.which("mvn") else [OURS])
    if STOCK in kinds:
        stock.bring()
    figures: dict[str, Figures] = {}
    for kind in kinds:
        crowded = Crowded(kind, stock, TLS if options.tls else PLAIN, options.brokers)
        figures[kind] = crowded.figures
        try:
            crowded.measure(options.minutes * 60)
        except AssertionError as error:
            print(f"{kind} was not measured to its end: {error}")
    print_figures(f"{options.brokers:,} brokers, {TLS if options.tls else PLAIN}", figures)


if __name__ == "__main__":
    main()
