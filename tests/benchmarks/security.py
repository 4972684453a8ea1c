"""`python -m tests.benchmarks.security`: what TLS costs, ours and stock Kafka's, beside PLAINTEXT, from one run.

Each kind runs two quorums of three at once, one on PLAINTEXT and one with TLS and client certificates, and measures
them in turn, so that both see the same noise.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import sys
import threading
import time
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from records.messages.versions import ApiVersionsRequest
from tests.benchmarks.client import Connection, Fleet, create_topics, register
from tests.benchmarks.fetches import FetchWatch
from tests.benchmarks.quorum import OURS, STOCK, Trial, quantile
from tests.interop.cluster import eventually
from tests.interop.secured import stores
from tests.interop.stock import Stock
from tests.raft.network.certificates import certificate, client_context

if TYPE_CHECKING:
    from ssl import SSLContext

PLAIN, TLS = "PLAINTEXT", "SSL"
WARM = 300
TURN = 50
CONNECTIONS = 1000
OPENERS = 4


class Figure(NamedTuple):
    """One row of one kind: the values with PLAINTEXT and TLS, and their ratio where one means something."""

    plain: str
    tls: str
    ratio: str


class Protected(Trial):
    """A quorum whose listeners have a protocol. settings: more lines of the properties."""

    def __init__(self, kind: str, stock: Stock, protocol: str, settings: dict[str, str] | None = None) -> None:
        super().__init__(kind, stock, {"listener.security.protocol.map": f"CONTROLLER:{protocol}", **(settings or {})})
        if protocol == TLS:
            for node in self.cluster.controllers.values():
                lines = {**stores(self.root, "node"), "ssl.client.auth": "required"}
                with node.properties.open("a") as file:
                    file.write("".join(f"{key}={value}\n" for key, value in lines.items()))
            self.cluster.context = client_context(certificate("/O=Test/CN=client"))
        self.numbers = count()
        self.taken_ms: list[float] = []
        self.failover_ms: list[float] = []
        self.connection: Connection
        self.fleet: Fleet

    @property
    def context(self) -> SSLContext | None:
        return self.cluster.context

    def begin(self) -> None:
        """Register a broker, and warm up."""
        self.fleet = Fleet(self.cluster, [11])
        self.connection = Connection(self.leader.port, context=self.context)
        for _ in range(WARM):
            self.commit()
        self.taken_ms.clear()

    def commit(self) -> None:
        """CreateTopics of one topic with one partition."""
        request = create_topics([f"t-{next(self.numbers)}"])
        begin = time.perf_counter()
        answer = self.connection.ask(request, 7)
        self.taken_ms.append((time.perf_counter() - begin) * 1000)
        assert answer.topics[0].error_code == 0, answer

    def fail_over(self) -> None:
        """SIGKILL of the active controller, until another, over a connection that was open, answers a write."""
        node = self.leader
        self.await_level_followers(node)
        others = [
            Connection(each.port, context=self.context)
            for each in self.cluster.controllers.values()
            if each is not node
        ]
        begin = time.perf_counter()
        node.kill()
        while not any(map(registers, others)):
            assert time.perf_counter() < begin + 30, "no write was answered"
            time.sleep(0.002)
        self.failover_ms.append((time.perf_counter() - begin) * 1000)
        for connection in others:
            connection.close()
        node.start()
        eventually(lambda: self._followers_are_level(self.leader), "level followers")
        time.sleep(1)

    def storm(self) -> tuple[float, float, int, list[float]]:
        """Many new connections to the active controller, beside a writer: the seconds they take, the longest that a
        follower sent no Fetch, in ms, the number of new epochs, and the times of the commits meanwhile.
        """
        self.taken_ms.clear()
        opened: list[Connection] = []
        port = self.leader.port

        def work() -> None:
            for _ in range(CONNECTIONS // OPENERS):
                connection = Connection(port, context=self.context)
                connection.ask(ApiVersionsRequest(client_software_name="bench", client_software_version="1"), 3)
                opened.append(connection)

        openers = [threading.Thread(target=work) for _ in range(OPENERS)]
        with FetchWatch(port, self.context) as watch:
            begin = time.perf_counter()
            for thread in openers:
                thread.start()
            while any(thread.is_alive() for thread in openers):
                self.commit()
            seconds = time.perf_counter() - begin
        assert len(opened) == CONNECTIONS, f"{len(opened)} of {CONNECTIONS} connections"
        for connection in opened:
            connection.close()
        return seconds, max(watch.ages_ms), watch.new_epochs, list(self.taken_ms)


def registers(connection: Connection) -> bool:
    """Whether a broker can register over this connection: a committed write."""
    try:
        register(connection, 1)
    except (OSError, AssertionError):
        return False
    return True


def measure(kind: str, stock: Stock, commits: int, rounds: int) -> dict[str, Figure]:
    """The figures of one kind, by the name of the work."""
    pair = [Protected(kind, stock, protocol) for protocol in (PLAIN, TLS)]
    found: dict[str, Figure] = {}
    try:
        for trial in pair:
            trial.start()
            trial.begin()
        for _ in range(commits // TURN):
            for trial in pair:
                for _ in range(TURN):
                    trial.commit()
        found["commit of CreateTopics, p50 (ms)"] = compared(pair, 50)
        found["… p99 (ms)"] = compared(pair, 99)
        storms = [trial.storm() for trial in pair]
        found[f"{CONNECTIONS:,} new connections beside a writer (s)"] = ratio([each[0] for each in storms], 2)
        found["… longest time without a Fetch of a follower (ms)"] = ratio([each[1] for each in storms], 0)
        found["… new epochs"] = Figure(str(storms[0][2]), str(storms[1][2]), "")
        found["… commit meanwhile, p50 (ms)"] = ratio([quantile(each[3], 50) for each in storms], 2)
        for trial in pair:
            trial.connection.close()
            trial.fleet.end()
        for _ in range(rounds):
            for trial in pair:
                trial.fail_over()
        medians = [statistics.median(trial.failover_ms) for trial in pair]
        found["SIGKILL → next commit, median (ms)"] = ratio(medians, 0)
        spans = [f"{min(trial.failover_ms):.0f}–{max(trial.failover_ms):.0f}" for trial in pair]
        found["… least–greatest (ms)"] = Figure(spans[0], spans[1], "")
    finally:
        for trial in pair:
            trial.end()
    return found


def compared(pair: list[Protected], percent: int) -> Figure:
    return ratio([quantile(trial.taken_ms, percent) for trial in pair], 2)


def ratio(values: list[float], digits: int) -> Figure:
    plain, tls = values
    return Figure(f"{plain:.{digits}f}", f"{tls:.{digits}f}", f"{tls / plain:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.security", description=__doc__)
    parser.add_argument("--commits", type=int, default=1000, help="of each quorum (default 1000)")
    parser.add_argument("--rounds", type=int, default=7, help="kills of the active controller (default 7)")
    parser.add_argument("--only", choices=[OURS, STOCK], action="append", help="one kind (repeatable)")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    stock = Stock("4.3.1")
    can_run_stock = shutil.which("java") and shutil.which("mvn")
    if not can_run_stock and not options.only:
        print("No JDK with Maven here: our own figures alone.", file=sys.stderr)
    chosen = options.only or ([OURS, STOCK] if can_run_stock else [OURS])
    if STOCK in chosen:
        stock.bring()
    figures: dict[str, dict[str, Figure]] = {
        kind: measure(kind, stock, options.commits, options.rounds) for kind in chosen
    }
    heads: list[Any] = [f"{kind}: {name}" for kind in chosen for name in ("PLAINTEXT", "mTLS", "ratio")]
    print(f"| work | {' | '.join(heads)} |")
    print("|---|" + "---|" * len(heads))
    for row in figures[chosen[0]]:
        print(f"| {row} | {' | '.join(' | '.join(figures[kind][row]) for kind in chosen)} |")


if __name__ == "__main__":
    main()
