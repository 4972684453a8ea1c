"""docs/operations.md as an operator follows it: its sections, their commands, and the quorums that they are run on."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from records.messages.brokers import BrokerRegistrationRequest
from records.schema import replace
from records.uuids import uuid_text
from simulations.chaos.ports import free_ports
from tests.deploy.model_brokers import create, heartbeat, register
from tests.interop.cluster import BIN, CLUSTER_ID, OURS, Cluster
from tests.interop.dynamic import Dynamic, format_node
from tests.interop.stock import DEFAULT, Stock
from tools.client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.cluster import NodeProcess

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operations.md"
Done = subprocess.CompletedProcess[str]


def sections() -> dict[str, str]:
    """Heading -> its text."""
    parts = re.split(r"(?m)^#+ (.*)$", PAGE.read_text())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SECTIONS = sections()


def commands(section: str) -> list[str]:
    """The commands of a section in order, without their comments."""
    lines = re.findall(r"(?m)^    (\S.*)$", re.sub(r"(?s)```.*?```", "", SECTIONS[section]))
    return [re.sub(r"\s{2,}#.*$", "", line) for line in lines]


class Operator:
    """Runs the commands of one section on the machines of a quorum."""

    def __init__(self, found: Cluster, section: str) -> None:
        self.found, self.section = found, section
        self.left = commands(section)
        self.ran: set[str] = set()
        self.place = found.root / "operator"
        self.place.mkdir(exist_ok=True)
        self.names: dict[str, str] = {
            "/copies": str(found.root / "copies"), "/backup": str(found.root / "backup"),
            "/var/log/kafka/audit.log": str(found.root / "audit.log"),
        }  # fmt: skip
        self.environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(self.place)}

    def run(self, start: str, node_id: int = 1, *, code: int | None = 0, more: str = "", typed: str = "") -> Done:
        """The next command, which begins like this. more: options that keep the test short."""
        assert self.left, f"{start}: no command is left in {self.section}"
        line = self.left.pop(0)
        assert line.startswith(start), f"{line!r} comes before {start!r}"
        return self.run_line(line + more, node_id, code, typed)

    def run_again(self, line: str, node_id: int = 1, *, code: int | None = 0, typed: str = "") -> Done:
        """A command of the section, whole, once more: on the next machine."""
        assert line in commands(self.section), f"{line} is not in {self.section}"
        return self.run_line(line, node_id, code, typed)

    def run_in_text(self, line: str, node_id: int = 1, *, code: int | None = 0) -> Done:
        """A command that stands within a sentence."""
        assert f"`{line}`" in re.sub(r"\s+", " ", SECTIONS[self.section]), f"`{line}` is not in {self.section}"
        return self.run_line(line, node_id, code, "")

    def begin(self, start: str, node_id: int = 1) -> subprocess.Popen[str]:
        """The next command, which runs until it is ended."""
        line = self.left.pop(0)
        assert line.startswith(start), f"{line!r} comes before {start!r}"
        return subprocess.Popen(
            ["bash", "-c", f"exec {self.here(line, node_id)}"], cwd=self.place, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def run_line(self, line: str, node_id: int = 1, code: int | None = 0, typed: str = "") -> Done:
        """Any command, with the names of this test."""
        keyboard, terminal = pty.openpty()
        try:
            os.write(keyboard, typed.encode())
            done = subprocess.run(
                ["bash", "-euc", self.here(line, node_id)], cwd=self.place, env=self.environment, capture_output=True,
                text=True, timeout=150, check=False, stdin=terminal if typed else subprocess.DEVNULL,
            )  # fmt: skip
        finally:
            os.close(keyboard)
            os.close(terminal)
        assert code is None or done.returncode == code, f"{line}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def here(self, line: str, node_id: int) -> str:
        """The command with the names of this test."""
        node = self.found.controllers[node_id]
        names = "|".join(rf"\b{word}" if word[0].isalnum() else re.escape(word) for word in self.names)
        line = re.sub(names, lambda at: self.names[at[0]], line)
        line = re.sub(r"\bc(\d):9093\b", lambda at: f"127.0.0.1:{self.found.controllers[int(at[1])].port}", line)
        line = re.sub(r"(/etc/kafka/)?\bcontroller\.properties\b", str(node.properties), line)
        line = line.replace("/var/lib/kafka/metadata", str(node.directory)).replace("CLUSTER_ID", CLUSTER_ID)
        line = re.sub(r"\bc(\d):9646\b", lambda at: self.watch_address(int(at[1])), line)
        return re.sub(r"(?<=-c )FILE\b", str(node.properties), line)

    def watch_address(self, node_id: int) -> str:
        found = re.search("kraft.grpc.listener=(.*)", self.found.controllers[node_id].properties.read_text())
        assert found is not None
        return found[1]


@contextlib.contextmanager
def section(found: Cluster, heading: str) -> Iterator[Operator]:
    """An operator who does what a section says, and leaves out nothing."""
    operator = Operator(found, heading)
    yield operator
    assert operator.left == [], f"{heading}: not run"


@contextlib.contextmanager
def quorum(
    root: Path, voters: str, count: int = 3, settings: dict[str, str] | None = None, release: str = DEFAULT
) -> Iterator[Cluster]:
    """Controllers of ours that run, with static or dynamic voters, their own ports and the audit log.

    release: of Kafka, that they are nodes of.
    """
    made = Dynamic if voters == "dynamic" else Cluster
    found = made(root, Stock(release, quick=True), settings=settings or {})
    found.plan([OURS] * count, 0)
    taken = {node.port for node in found.controllers.values()}
    ports = [port for port in free_ports(3 * count) if port not in taken]
    for node in found.controllers.values():
        own = {
            "kraft.http.listener": f"127.0.0.1:{ports[node.id - 1]}", "kraft.audit.log": f"{root}/audit.log-{node.id}",
            "kraft.grpc.listener": f"127.0.0.1:{ports[count + node.id - 1]}",
        }  # fmt: skip
        node.properties.write_text("".join([node.properties.read_text(), *(f"{key}={own[key]}\n" for key in own)]))
    named = ",".join(f"{each.id}@127.0.0.1:{each.port}:{uuid_text(bytes([each.id] * 16))}"
                     for each in found.controllers.values())  # fmt: skip
    for number in found.controllers:
        format_node(found, number, *(("--initial-controllers", named) if made is Dynamic else ()))
    try:
        found.start()
        found.await_leader()
        yield found
    finally:
        found.end()


def settle(found: Cluster, *node_ids: int) -> None:
    """Wait until these voters have caught up, or all of them."""
    nodes = [word for number in node_ids for word in ("--node", str(number))]
    subprocess.run(
        [BIN / "kraftctl", "wait", *nodes, "--timeout", "60", "--bootstrap-controller", found.bootstrap_controller],
        check=True, capture_output=True,
    )  # fmt: skip


def wipe(node: NodeProcess) -> None:
    node.kill()
    shutil.rmtree(node.directory)


def examples(heading: str) -> list[str]:
    """What a section shows of the output."""
    return re.findall(r"(?s)```text\n(.*?)```", SECTIONS[heading])


def populate(found: Cluster) -> None:
    """Three brokers, a topic that is created anew, and a broker that is fenced."""
    settle(found)
    leader = found.await_leader()

    def ask(_leader: int, request: Any) -> Any:
        if isinstance(request, BrokerRegistrationRequest):
            request = replace(request, cluster_id=CLUSTER_ID)
        with Connection("127.0.0.1", found.controllers[leader].port, "test", 10.0) as connection:
            return connection.ask(request)

    brokers: Any = SimpleNamespace(ask=ask)
    epochs = {broker_id: register(brokers, leader, broker_id, "") for broker_id in (1, 2, 3)}
    for broker_id, epoch in epochs.items():
        heartbeat(brokers, leader, broker_id, epoch)
    create(brokers, leader, "orders", {0: (1, 2), 1: (2, 3)})
    heartbeat(brokers, leader, 3, epochs[3], fence=True)
