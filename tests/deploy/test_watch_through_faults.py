"""The watch service during faults: a watcher gets each change once and in order."""

from __future__ import annotations

import contextlib
import itertools
import resource
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kraft_quorum.client import Client, Files
from records.errors import ApiError
from records.wire import DecodeError
from simulations.chaos.clocks import library, move
from simulations.chaos.ports import free_ports
from simulations.chaos.quorum import NODES, Quorum
from tests.controller.server.alterations import BROKER, alteration
from tests.deploy.faketime import clock_of_its_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

TLS = Path(__file__).parents[1] / "data" / "tls"
KEY = "sasl.enabled.mechanisms"
CLOCK = "clock"


class Watched(Quorum):
    """Three nodes with the watch service and one certificate; a client that writes, and a client that watches.

    acknowledged: the number of values written: "0", "1", … . seen: offset and value of each change, in the order
    received; moved_s: how far the leader's clock is ahead, by the last change. targets: the watch services, by node.
    """

    def __init__(self, directory: Path) -> None:
        ports = free_ports(len(NODES))
        self.targets = {node: f"127.0.0.1:{port}" for node, port in zip(NODES, ports, strict=True)}
        self.certificate = directory / "grpc.pem"
        self.renew(directory, "node")
        tls = {
            "kraft.grpc.tls.certificate.path": str(directory / "grpc.pem"),
            "kraft.grpc.tls.key.path": str(directory / "grpc.key"),
            "kraft.grpc.tls.client.ca.path": str(TLS / "ca.pem"),
            "kraft.grpc.allow": "CN=watcher",
        }
        super().__init__(directory, tls)
        for node, target in self.targets.items():
            with self._properties(node).open("a") as properties:
                properties.write(f"kraft.grpc.listener={target}\n")
        self.acknowledged = 0
        self.seen: list[tuple[int, str]] = []
        self.moved_s = 0.0
        self.failure: BaseException | None = None
        self._ending = threading.Event()
        files = Files(str(TLS / "ca.pem"), str(TLS / "watcher.pem"), str(TLS / "watcher.key"))
        self.client = Client(list(self.targets.values()), tls=files)
        self._threads = [
            threading.Thread(target=self._guarded, args=(act,), daemon=True) for act in (self._write, self._watch)
        ]

    def begin(self) -> None:
        for node in NODES:
            self.start(node)
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        self._ending.set()
        self._threads[0].join()
        self.close()
        self.client.close()
        self._threads[1].join(30)

    def renew(self, directory: Path, name: str) -> None:
        for kind in ("key", "pem"):
            shutil.copy(TLS / f"{name}.{kind}", directory / f"new.{kind}")
            (directory / f"new.{kind}").rename(directory / f"grpc.{kind}")

    @property
    def watched(self) -> int:
        """The node that serves the watching client."""
        return next(node for node, target in self.targets.items() if target == self.client.target)

    def goes_on(self, seconds: float = 40.0) -> None:
        """Wait until a later write was seen; each earlier write must have been seen, once and in order."""
        wanted = self.acknowledged + 3
        eventually(lambda: self.failure or (self.seen and int(self.seen[-1][1]) >= wanted), "changes", seconds)
        assert self.failure is None
        seen = list(self.seen)
        offsets = [offset for offset, _ in seen]
        values = [int(value) for value, _ in itertools.groupby(value for _, value in seen)]
        assert offsets == sorted(set(offsets))
        assert values == list(range(len(values)))

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:  # raised again by the thread that waits
            if not self._ending.is_set():
                self.failure = error

    def _write(self) -> None:
        """Write each value until it is acknowledged: a write that was not acknowledged may still have succeeded."""
        while not self._ending.is_set():
            request = alteration(BROKER, "1", KEY, str(self.acknowledged))
            with contextlib.suppress(OSError, DecodeError, ApiError):
                leader = self.leader()
                if leader and self.ask(leader, request).responses[0].error_code == 0:
                    self.acknowledged += 1
            time.sleep(0.05)

    def _watch(self) -> None:
        for update in self.client.watch(0, {"where": {"name": [KEY]}}):
            self.seen += [(change["offset"], change["data"]["value"]) for change in update.changes]
            if update.changes:
                self.moved_s = update.changes[-1]["timestamp"] / 1000 - time.time()


def eventually(condition: Callable[[], object], what: str, seconds: float = 40.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.05)


@pytest.fixture(name="quorum", scope="module")
def _quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    directory = tmp_path_factory.mktemp("quorum")
    with clock_of_its_own(directory / CLOCK) if library() else contextlib.nullcontext():
        quorum = Watched(directory)
        try:
            quorum.begin()
            quorum.goes_on()
            yield quorum
        finally:
            quorum.finish()


def test_a_watch_continues_after_the_leader_is_killed(quorum: Watched) -> None:
    leader = quorum.leader()

    quorum.signal(leader, signal.SIGKILL)
    quorum.goes_on()
    quorum.start(leader)
    quorum.goes_on()


def test_a_watch_continues_after_its_node_is_restarted(quorum: Watched) -> None:
    before = quorum.watched

    quorum.end(before)
    quorum.goes_on()
    after = quorum.watched
    quorum.start(before)

    assert after != before
    assert quorum.died == []


def test_a_watch_continues_after_its_node_is_cut_off_from_the_quorum(quorum: Watched) -> None:
    before = quorum.watched

    for other in NODES:
        if other != before:
            quorum.network.cut(before, other)
            quorum.network.cut(other, before)
    quorum.goes_on()
    after = quorum.watched
    quorum.network.heal()

    # Its connections are intact: the node itself ends the streams, so that clients go to a node with a quorum.
    assert after != before
    quorum.goes_on()


def test_a_watch_continues_after_the_disk_of_its_node_is_full(quorum: Watched) -> None:
    before = quorum.watched
    process = quorum.processes[before]

    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    code = process.wait(30)
    del quorum.processes[before]
    quorum.goes_on()
    quorum.start(before)

    assert code == 1
    quorum.goes_on()


def test_a_watch_continues_after_the_certificate_is_renewed(quorum: Watched) -> None:
    before = quorum.watched

    quorum.renew(quorum.directory, "renewed")
    quorum.goes_on()
    still = quorum.watched
    quorum.end(before)  # and now it takes a new connection, to a node with the new certificate
    quorum.goes_on()
    quorum.start(before)

    assert still == before
    logs = [quorum.directory / f"node-{node}.log" for node in quorum.processes]
    eventually(lambda: any("certificate_renewed" in log.read_text() for log in logs), "a node has the new certificate")


@pytest.mark.parametrize("hours", [5, -5, 0])
def test_a_watch_continues_after_the_wall_clock_is_changed(quorum: Watched, hours: int) -> None:
    if library() is None:
        pytest.skip("libfaketime is not installed: apt-get install faketime")
    before = quorum.watched

    move(quorum.directory / CLOCK, hours)
    eventually(lambda: abs(quorum.moved_s - hours * 3600) < 60, "the leader sees the other time")
    quorum.goes_on()

    assert quorum.watched == before
