"""The two nodes: a stock controller and one of ours, each alone, each a process with a directory of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from controller.config.dynamic import DynamicConfig
from controller.config.effective import ConfigSource
from controller.config.node import NodeConfig
from controller.config.values.node_values import RELEASE
from records.messages.configs import DescribeConfigsRequest
from records.resource_types import ResourceType
from tests.interop.ask import ask, describe_quorum
from tests.interop.cluster import CLUSTER_ID, OURS, STOCK, eventually
from tests.interop.stock import SMALL, Stock
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from collections.abc import Mapping

BIN = Path(sys.executable).parent
NODE_ID = 1
# Nothing may happen by the passing of time: no fencing, no balancing, no snapshot, no record that only marks time.
SETTINGS = {
    "process.roles": "controller",
    "node.id": str(NODE_ID),
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
    "log.dirs": "data",
    "controller.quorum.append.linger.ms": "0",
    "metadata.max.idle.interval.ms": "0",
    "broker.session.timeout.ms": "86400000",
    "auto.leader.rebalance.enable": "false",
    "metadata.log.max.snapshot.interval.ms": "0",
}
# As formatting: everything in a directory is named relative to the directory that the process runs in.
FILE = "server.properties"


@dataclass
class WireNode:
    """One node. directory: where its process runs, which holds its configuration, its log and its data."""

    kind: str
    port: int
    directory: Path
    stock: Stock
    process: subprocess.Popen[bytes] | None = None

    def write(self, settings: Mapping[str, str]) -> None:
        """The configuration file."""
        here = f"127.0.0.1:{self.port}"
        own = {"listeners": f"CONTROLLER://{here}", "controller.quorum.voters": f"{NODE_ID}@{here}"}
        # Stock ignores our release, and describes the key as any unknown one, as ours does.
        whole = {**SETTINGS, **own, **settings, RELEASE: KAFKA.name}
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / FILE).write_text("".join(f"{key}={value}\n" for key, value in whole.items()))

    def format(self, by: str = "", *options: str) -> subprocess.CompletedProcess[str]:
        """Run `kafka-storage format` of ours or of stock; of the node's own kind where `by` is empty."""
        arguments = ("format", "-t", CLUSTER_ID, "-c", FILE, *options)
        return self.tool(by or self.kind, "storage", *arguments)

    def tool(self, kind: str, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command line tool of ours or of stock in the node's directory."""
        ours = [str(BIN / f"kafka-{name}"), *arguments]
        command = ours if kind == OURS else self.stock.tool_command(name, *arguments)
        return subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=120, check=False)

    def start(self) -> None:
        ours = [str(BIN / "kraftctl"), "start", "-c", FILE]
        stock = self.stock.java("kafka.Kafka", FILE, heap=SMALL, level="INFO", target="SYSTEM_OUT")
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ours if self.kind == OURS else stock, cwd=self.directory, stdout=log, stderr=log, start_new_session=True
            )

    def await_leader(self) -> None:
        eventually(self.is_leader, f"{self.kind} is the active controller; see {self.directory / 'log'}")

    def is_leader(self) -> bool:
        found = describe_quorum(self.port)
        return found.error_code == 0 and found.leader_id == NODE_ID and found.high_watermark > 0

    def is_applicable(self) -> bool:
        """Whether our node can apply its dynamic values together; those of its file are in effect where it cannot."""
        own = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=ResourceType.BROKER, resource_name=str(NODE_ID), configuration_keys=None
        )
        answer = ask(self.port, DescribeConfigsRequest(resources=(own,), include_synonyms=True), 4)
        layers: dict[int, dict[str, str]] = {ConfigSource.DYNAMIC_BROKER: {}, ConfigSource.DYNAMIC_DEFAULT_BROKER: {}}
        for entry in answer.results[0].configs:
            for layer in entry.synonyms:
                if layer.source in layers and layer.value is not None:
                    layers[layer.source][layer.name] = layer.value
        lines = (self.directory / FILE).read_text().splitlines()
        static = NodeConfig(dict(line.split("=", 1) for line in lines))
        dynamic = DynamicConfig(static, *layers.values())
        return dynamic.config is not static or not (dynamic.node or dynamic.cluster)

    def has_failed_to_apply(self) -> bool:
        """Whether stock has logged that it could not apply the last change of its dynamic values."""
        _, _, last = (self.directory / "log").read_text(errors="replace").rpartition("[DynamicConfigPublisher ")
        return f"configs of {NODE_ID} could not be applied" in last or "default configs could not be applied" in last

    def stop(self) -> int:
        """SIGTERM, and wait; the exit code."""
        assert self.process is not None
        self.process.terminate()
        code = self.process.wait(60)
        self.process = None
        return code

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def two_nodes(root: Path, stock: Stock, ports: list[int]) -> tuple[WireNode, WireNode]:
    """Stock's and ours."""
    return WireNode(STOCK, ports[0], root / STOCK, stock), WireNode(OURS, ports[1], root / OURS, stock)
