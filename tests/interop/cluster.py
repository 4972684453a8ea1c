"""A cluster on loopback: controllers of ours or of stock Kafka, and stock brokers, each a process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from controller.config.values.node_values import RELEASE
from records.features.levels import CURRENT, KAFKA_4_3
from records.messages.cluster import DescribeClusterRequest
from simulations.chaos.ports import free_ports
from tests.controller.server.processes import called
from tests.interop.ask import ask, describe_quorum
from tools.kafka.storage import run as run_storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from ssl import SSLContext

    from tests.interop.stock import Stock

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
OURS = "ours"
STOCK = "stock"
BIN = Path(sys.executable).parent


def run_tool(tool: str, *arguments: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run one of our commands to its end. seconds: its timeout."""
    return subprocess.run([str(BIN / tool), *arguments], capture_output=True, text=True, timeout=seconds, check=False)


def eventually(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Wait until the condition holds; fails with `what` at the timeout. An OSError means that it does not hold yet."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError):
            if condition():
                return
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)


@dataclass
class NodeProcess:
    """One controller or broker: its configuration, its directory, and its process while it runs."""

    id: int
    role: str
    kind: str
    port: int
    directory: Path
    properties: Path
    log: Path
    stock: Stock
    heap: str = ""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert self.process is None, f"node {self.id} runs already"
        with self.log.open("ab") as log:
            self.process = self._open(log)

    def _open(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        if self.kind == STOCK:
            return self.stock.server(self.properties, log, *([self.heap] if self.heap else []))
        command = [str(BIN / "kraftctl"), "start", "-c", str(self.properties)]
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def signal(self, number: int) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self, seconds: float = 30.0) -> int:
        """SIGTERM, and wait; the exit code."""
        assert self.process is not None
        self.process.terminate()
        code = self.process.wait(seconds)
        self.process = None
        return code

    def said(self) -> str:
        return self.log.read_text(errors="replace")


@dataclass
class Cluster:
    """Controllers 1, 2 … and brokers 101, 102 … under one directory. context: of a client, where listeners have TLS."""

    root: Path
    stock: Stock
    controllers: dict[int, NodeProcess] = field(default_factory=dict)
    brokers: dict[int, NodeProcess] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    heap: str = ""
    context: SSLContext | None = None

    @property
    def voters(self) -> str:
        return ",".join(f"{node.id}@127.0.0.1:{node.port}" for node in self.controllers.values())

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{node.port}" for node in self.brokers.values())

    @property
    def bootstrap_controller(self) -> str:
        return ",".join(f"127.0.0.1:{node.port}" for node in self.controllers.values())

    def plan(self, kinds: list[str], brokers: int) -> None:
        """Choose ids and ports, and write every node's properties."""
        ports = free_ports(len(kinds) + brokers)
        for number, kind in enumerate(kinds, start=1):
            self.controllers[number] = self._node(number, "controller", kind, ports[number - 1])
        for number in range(brokers):
            self.brokers[101 + number] = self._node(101 + number, "broker", STOCK, ports[len(kinds) + number])
        for node in [*self.controllers.values(), *self.brokers.values()]:
            self._write(node)

    def _node(self, number: int, role: str, kind: str, port: int) -> NodeProcess:
        directory = self.root / f"node-{number}"
        return NodeProcess(
            number, role, kind, port, directory, self.root / f"node-{number}.properties",
            self.root / f"node-{number}.log", self.stock, self.heap,
        )  # fmt: skip

    def _write(self, node: NodeProcess) -> None:
        listener = "CONTROLLER" if node.role == "controller" else "PLAINTEXT"
        settings = {
            "process.roles": node.role,
            "node.id": str(node.id),
            "controller.quorum.voters": self.voters,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"{listener}://127.0.0.1:{node.port}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(node.directory),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "5",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            **self.settings,
        }
        if node.role == "controller":
            # Ours is of the release beside it, so that both may be compared; its format is at that release's level.
            if node.kind == OURS and self.is_older:
                settings = {RELEASE: KAFKA_4_3.name, **settings}
            settings = {
                key: value for key, value in settings.items() if not key.startswith(("offsets.", "transaction."))
            }
        node.properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    @property
    def is_older(self) -> bool:
        """Whether stock is of a release before that of a node of ours without `kraft.release`."""
        return self.stock.version < CURRENT.name

    def format(self, *options: str, controllers_by: str = OURS) -> None:
        """Format all directories: controllers' by our tool or by stock's, brokers' by stock's."""
        for node in [*self.controllers.values(), *self.brokers.values()]:
            arguments = ["format", "-t", CLUSTER_ID, "-c", str(node.properties), *options]
            if node.role == "controller" and controllers_by == OURS:
                # A stock node of 4.3 takes the format of 4.4 for none, and begins without the other features.
                is_given = any(option == "--release-version" or "metadata.version" in option for option in options)
                # Brokers before 4.3 do not join a quorum at its level.
                needs_level = (node.kind == STOCK and self.is_older) or self.stock.version < KAFKA_4_3.name
                if needs_level and not is_given:
                    arguments += ["--release-version", self.stock.release]
                done = called(run_storage, arguments)
            else:
                done = self.stock.tool("storage", *arguments)
            assert done.returncode == 0, done.stderr

    def start(self) -> None:
        for node in [*self.controllers.values(), *self.brokers.values()]:
            node.start()

    def leader(self) -> int:
        """The id of the active controller, asked of every live one; 0 while none answers as leader."""
        for node in self.controllers.values():
            if node.process is not None:
                with contextlib.suppress(OSError):
                    found = describe_quorum(node.port, self.context)
                    if found.error_code == 0 and found.leader_id == node.id:
                        return node.id
        return 0

    def high_watermark(self) -> int:
        return int(describe_quorum(self.controllers[self.leader()].port, self.context).high_watermark)

    def await_leader(self, seconds: float = 30.0) -> int:
        found: list[int] = []

        def is_there() -> bool:
            found.append(self.leader())
            return bool(found[-1])

        eventually(is_there, "an active controller", seconds)
        return found[-1]

    def await_admin_clients(self) -> None:
        """Wait until each running controller takes admin clients: it refuses them until it has the metadata version."""
        request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2)

        def are_taken() -> bool:
            running = [node for node in self.controllers.values() if node.process is not None]
            return all(ask(node.port, request, 1, context=self.context).error_code == 0 for node in running)

        eventually(are_taken, "controllers take admin clients")

    def tool(self, name: str, *arguments: str, stdin: str | None = None, seconds: float = 90) -> str:
        """Run a stock tool that must succeed; returns what it printed."""
        done = self.stock.tool(name, *arguments, stdin=stdin, seconds=seconds)
        assert done.returncode == 0, f"{name} {arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def end(self) -> None:
        for node in [*self.brokers.values(), *self.controllers.values()]:
            node.kill()


@contextlib.contextmanager
def cluster(
    root: Path, stock: Stock, kinds: list[str], brokers: int, *options: str, settings: dict[str, str] | None = None,
    controllers_by: str = OURS,
) -> Iterator[Cluster]:  # fmt: skip
    """A formatted, started cluster; its processes end with the block, its logs stay in `root`."""
    found = Cluster(root, stock, settings=settings or {})
    try:
        found.plan(kinds, brokers)
        found.format(*options, controllers_by=controllers_by)
        found.start()
        found.await_leader()
        yield found
    finally:
        found.end()


__all__ = ["CLUSTER_ID", "OURS", "STOCK", "Cluster", "NodeProcess", "cluster", "eventually", "signal"]
