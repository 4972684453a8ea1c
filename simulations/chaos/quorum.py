"""Three real nodes on loopback, each a process of its own behind the proxy of `simulations.chaos.network`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from records.errors import ApiError
from records.metadata_log import PARTITION_DIRECTORY
from records.wire import DecodeError
from simulations.chaos.equipment import OF_THE_MACHINE
from simulations.chaos.network import Network
from simulations.chaos.ports import free_ports
from tools.client.connection import Connection
from tools.client.quorum import describe_request

if TYPE_CHECKING:
    from typing import Any

    from simulations.chaos.equipment import Equipment


NODES = (1, 2, 3)
CLUSTER_ID = "Q2hhb3NDaGFvc0NoYW9zQw"
# The timeout of a client's request, in seconds.
ASK_S = 2.0


class Quorum:
    """The nodes under one directory. lives: how often each was started; failures: how often each ended with an error
    where it had to; died: the processes that ended unexpectedly.

    equipment: of the nodes; the caller closes the disks. start_s: the time after which a new process handles SIGTERM,
    on a busy machine; end_s: the time in which a node shuts down.
    """

    start_s = 5.0
    end_s = 10.0

    def __init__(
        self, directory: Path, settings: dict[str, str] | None = None, equipment: Equipment = OF_THE_MACHINE
    ) -> None:
        self.directory = directory
        self.disks, self.clocks, self.syncs = equipment
        self.ports = dict(zip(NODES, free_ports(len(NODES)), strict=True))
        self.network = Network(self.ports)
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.stopped: set[int] = set()
        self.lives = dict.fromkeys(NODES, 0)
        self.failures = dict.fromkeys(NODES, 0)
        self.died: list[str] = []
        self._started: dict[int, float] = {}
        self._settings = settings or {}
        self._prepare()

    @property
    def voters(self) -> str:
        return ",".join(f"{node}@127.0.0.1:{port}" for node, port in self.network.ports.items())

    def log_directory(self, node: int) -> Path:
        return self.directory / f"node-{node}" / PARTITION_DIRECTORY

    def start(self, node: int) -> None:
        """Start a node that is not running."""
        environment = {**os.environ, **self.clocks.environment(node)} if self.clocks else None
        with (self.directory / f"node-{node}.log").open("ab") as log:
            self._started[node] = time.monotonic()
            self.lives[node] += 1
            self.processes[node] = subprocess.Popen(
                self.command(node), stdout=log, stderr=log, start_new_session=True, env=environment
            )

    def command(self, node: int) -> list[str]:
        """The command line of a node."""
        if self.syncs is not None:
            return self.syncs.command(node, self._properties(node))
        return [str(_beside("kraftctl")), "start", "-c", str(self._properties(node))]

    def signal(self, node: int, number: signal.Signals) -> None:
        """Send a signal to a running node; after SIGCONT a stopped one continues."""
        process = self.processes.get(node)
        if process is None:
            return
        process.send_signal(number)
        if number == signal.SIGSTOP:
            self.stopped.add(node)
        elif number == signal.SIGCONT:
            self.stopped.discard(node)
        elif number == signal.SIGKILL:
            self.stopped.discard(node)
            process.wait()
            del self.processes[node]

    def end(self, node: int) -> None:
        """Send SIGTERM, and wait: a node that shuts down cleanly does so in time and with exit code 0.

        A node that was only just started may not handle signals yet.
        """
        process = self.processes.pop(node, None)
        if process is None:
            return
        process.terminate()
        try:
            code = process.wait(self.end_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = -signal.SIGKILL
        is_new = time.monotonic() - self._started[node] < self.start_s
        if code != 0 and not (code == -signal.SIGTERM and is_new):
            self.died.append(f"node {node} left with exit code {code} after SIGTERM")

    def await_failure(self, node: int, seconds: float) -> None:
        """Wait until a node that cannot go on has ended by itself, with exit code 1; kill it after these seconds."""
        process = self.processes.pop(node, None)
        if process is None:
            return
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        if code == 1:
            self.failures[node] += 1
        else:
            self.died.append(f"node {node} left with exit code {code} where it had to end with an error")

    def look(self) -> None:
        """Note each node that stopped by itself, and restart it."""
        for node, process in list(self.processes.items()):
            code = process.poll()
            if code is not None:
                self.died.append(f"node {node} ended by itself with exit code {code}")
                self.start(node)

    def runs(self, node: int) -> bool:
        """Whether the process exists."""
        return node in self.processes and node not in self.stopped

    def leader(self) -> int:
        """The node that says that it leads in the latest epoch; 0 if none does."""
        leaders = [(epoch, node) for node in NODES for epoch in (self.leading_epoch(node),) if epoch >= 0]
        return max(leaders)[1] if leaders else 0

    def leading_epoch(self, node: int) -> int:
        """The epoch in which this node says that it leads; -1 if it does not."""
        if not self.runs(node):
            return -1
        try:
            description = self.describe(node, 0.5)
        except (OSError, DecodeError, ApiError):
            return -1
        return int(description.leader_epoch) if description.error_code == 0 and description.leader_id == node else -1

    def ask(self, node: int, request: Any, seconds: float = ASK_S) -> Any:
        """The answer of a node, without the proxy. Raises OSError, DecodeError, ApiError."""
        with Connection("127.0.0.1", self.ports[node], "chaos", seconds) as connection:
            return connection.ask(request)

    def describe(self, node: int, seconds: float = ASK_S) -> Any:
        """The metadata partition as this node describes it."""
        return self.ask(node, describe_request(), seconds).topics[0].partitions[0]

    def close(self) -> None:
        """End all nodes, and close the proxy."""
        self.network.heal()
        for node in list(self.stopped):
            self.signal(node, signal.SIGCONT)
        for node in NODES:
            self.end(node)
        self.network.close()

    def _prepare(self) -> None:
        for node in NODES:
            settings = {
                "process.roles": "controller",
                "node.id": str(node),
                "controller.quorum.voters": self.voters,
                "controller.listener.names": "CONTROLLER",
                "listeners": f"CONTROLLER://127.0.0.1:{self.ports[node]}",
                "advertised.listeners": f"CONTROLLER://127.0.0.1:{self.network.ports[node]}",
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                "log.dirs": str(self.directory / f"node-{node}"),
                **self._settings,
            }
            self._properties(node).write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
            command = [str(_beside("kafka-storage")), "format", "-t", CLUSTER_ID, "-c", str(self._properties(node))]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode:
                raise OSError(f"kafka-storage format: {done.stderr.strip()}")

    def _properties(self, node: int) -> Path:
        return self.directory / f"node-{node}.properties"


def _beside(script: str) -> Path:
    """The path of a command of this project, from the same installation as the interpreter."""
    return Path(sys.executable).parent / script
