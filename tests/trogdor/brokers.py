"""Stock brokers on a quorum under chaos, each a process that may be killed, restarted and stopped."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import time
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports
from simulations.chaos.quorum import CLUSTER_ID
from tests.interop.cluster import STOCK, NodeProcess

if TYPE_CHECKING:
    from simulations.chaos.quorum import Quorum
    from tests.interop.stock import Stock

# Topics have three replicas: with three brokers none can be created while one is in controlled shutdown, as by stock.
BROKERS = (101, 102, 103, 104)
HEAP = "-Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
START_S = 90.0
STOP_S = 90.0
# Every internal topic has three replicas, as by default, and fewer partitions: fifty of each take a minute here.
SETTINGS = {
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "6",
    "transaction.state.log.num.partitions": "6",
    "group.initial.rebalance.delay.ms": "0",
    # A broker that is stopped for some seconds leaves the ISR.
    "replica.lag.time.max.ms": "3000",
}
# What a broker logs where it cannot take over metadata.
METADATA_FAULT = re.compile(r"Encountered .*\bfault\b.*")


class Brokers:
    """Brokers 101 to 104. died: those that ended unexpectedly."""

    def __init__(self, quorum: Quorum, stock: Stock) -> None:
        self._stock = stock
        self.died: list[str] = []
        ports = dict(zip(BROKERS, free_ports(len(BROKERS)), strict=True))
        self.servers = ",".join(f"127.0.0.1:{port}" for port in ports.values())
        self.nodes = {broker: self._node(quorum, broker, port) for broker, port in ports.items()}

    def _node(self, quorum: Quorum, broker: int, port: int) -> NodeProcess:
        root = quorum.directory
        node = NodeProcess(
            broker, "broker", STOCK, port, root / f"broker-{broker}", root / f"broker-{broker}.properties",
            root / f"broker-{broker}.log", self._stock, HEAP,
        )  # fmt: skip
        settings = {
            "process.roles": "broker",
            "node.id": str(broker),
            "controller.quorum.voters": quorum.voters,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(node.directory),
            **SETTINGS,
        }
        node.properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return node

    def start(self) -> None:
        """Format and start all brokers, and wait until they serve."""
        for node in self.nodes.values():
            done = self._stock.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(node.properties))
            assert done.returncode == 0, done.stderr
            node.start()
        end = time.monotonic() + START_S
        while not all(self.serves(broker) for broker in self.nodes):
            self.look()
            assert not self.died, self.died
            assert time.monotonic() < end, "not all brokers serve"
            time.sleep(0.2)

    def serves(self, broker: int) -> bool:
        """Whether a broker listens: it does so once it is unfenced."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.nodes[broker].port), 1.0):
            return True
        return False

    def restart(self, broker: int) -> None:
        """End a broker by SIGTERM, which moves its leaders away first, and start it again."""
        code = self.nodes[broker].stop(STOP_S)
        if code not in {0, 128 + signal.SIGTERM}:
            self.died.append(f"broker {broker} left with exit code {code} after SIGTERM")
        self.nodes[broker].start()

    def look(self) -> None:
        """Note each broker that ended by itself, and start it again."""
        for broker, node in self.nodes.items():
            if node.process is not None and node.process.poll() is not None:
                self.died.append(f"broker {broker} ended by itself with exit code {node.process.returncode}")
                node.process = None
                node.start()

    def faults_of_metadata(self) -> list[str]:
        """The records that brokers could not apply."""
        return [
            f"broker {broker}: {line}"
            for broker, node in self.nodes.items()
            for line in METADATA_FAULT.findall(node.said())
        ]

    def close(self) -> None:
        for node in self.nodes.values():
            node.kill()
