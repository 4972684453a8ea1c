"""Three nodes as the systemd unit starts them: `kraftctl start` by an unprivileged user, on a read-only install."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports
from tests.benchmarks.client import Broker
from tests.controller.server.processes import CLUSTER_ID
from tests.deploy.checks.containers import Container, own, run_in_container
from tests.deploy.writer import Writer
from tests.http_answers import http_answer
from tests.interop.ask import describe_quorum
from tests.interop.cluster import BIN, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.deploy.checks.dockerfile import Image

NODES = (1, 2, 3)
# A small disk: it has room for the log of a short test, and not much more.
DISK = "24m"
LEFT_BYTES = 64 << 10


class Machines:
    """Three machines of one image, each with a configuration, a data directory and at most one running node."""

    def __init__(self, image: Image, root: Path) -> None:
        self.image = image
        self.root = root
        ports = free_ports(2 * len(NODES))
        self.ports = dict(zip(NODES, ports[:3], strict=True))
        self.http = dict(zip(NODES, ports[3:], strict=True))
        self.nodes: dict[int, Container] = {}
        voters = ",".join(f"{node}@127.0.0.1:{port}" for node, port in self.ports.items())
        for node in NODES:
            own(self.data(node), image)
            (image.root / "etc" / "kafka" / f"controller-{node}.properties").write_text(
                f"process.roles=controller\nnode.id={node}\ncontroller.quorum.voters={voters}\n"
                f"controller.listener.names=CONTROLLER\nlisteners=CONTROLLER://127.0.0.1:{self.ports[node]}\n"
                f"listener.security.protocol.map=CONTROLLER:PLAINTEXT\nlog.dirs=/var/lib/kafka/data/log\n"
                f"kraft.http.listener=127.0.0.1:{self.http[node]}\nbroker.session.timeout.ms=600000\n"
            )

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def data(self, node: int) -> Path:
        return self.root / f"data-{node}"

    def config(self, node: int) -> str:
        return f"/etc/kafka/controller-{node}.properties"

    def format(self, node: int) -> None:
        run_in_container(
            self.image, self.data(node), "kafka-storage", "format", "-t", CLUSTER_ID, "-c", self.config(node)
        )

    def start(self, node: int) -> None:
        self.nodes[node] = Container(self.image, self.data(node), ["kraftctl", "start", "-c", self.config(node)], {})

    def leader(self) -> int:
        """The active controller, by the running nodes; 0 if there is none."""
        for node in self.nodes:
            try:
                found = describe_quorum(self.ports[node])
            except OSError:
                continue
            if found.error_code == 0:
                return int(found.leader_id)
        return 0

    def ready(self, node: int) -> bool:
        try:
            return http_answer(f"http://127.0.0.1:{self.http[node]}/readyz", 2)[0] == 200
        except OSError:
            return False

    def wait_until_caught_up(self) -> None:
        """Wait with `kraftctl wait` until all voters have caught up."""
        command = [str(BIN / "kraftctl"), "wait", "--bootstrap-controller", self.bootstrap, "--timeout", "30"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@contextmanager
def machines(image: Image, root: Path) -> Iterator[Machines]:
    found = Machines(image, root)
    try:
        for node in NODES:
            found.format(node)
            found.start(node)
        eventually(found.leader, "a leader", 30)
        found.wait_until_caught_up()
        yield found
    finally:
        for container in found.nodes.values():
            container.kill()


def test_no_write_is_lost_when_the_leader_is_killed_or_a_minority_stopped(image: Image, tmp_path: Path) -> None:
    with machines(image, tmp_path) as found:
        first = found.leader()
        broker = Broker(11, found.ports[first])
        broker.heartbeat()
        broker.connection.close()
        writer = Writer(list(found.ports.values()))

        found.nodes.pop(first).kill()
        eventually(lambda: found.leader() not in {0, first}, "another leader", 20)
        found.start(first)
        found.wait_until_caught_up()
        away = next(node for node in NODES if node != found.leader())
        found.nodes[away].signal(signal.SIGSTOP)
        before = len(writer.acknowledged)
        eventually(lambda: len(writer.acknowledged) > before + 20, "writes without the minority", 20)
        found.nodes[away].signal(signal.SIGCONT)
        found.wait_until_caught_up()
        writer.end()
        eventually(lambda: all(found.ready(node) for node in NODES), "all are ready", 20)
        status = subprocess.run(
            [str(BIN / "kraftctl"), "status", "--bootstrap-controller", found.bootstrap, "--json"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip

        assert writer.failure is None
        assert [voter["lag"] is not None for voter in json.loads(status.stdout)["voters"]] == [True] * 3
        for node in found.nodes.values():
            node.signal(signal.SIGTERM)
        assert [node.end()[0] for node in found.nodes.values()] == [0, 0, 0]


def test_a_node_with_a_full_disk_exits_and_continues_without_loss_once_there_is_room(
    image: Image, tmp_path: Path
) -> None:
    disk = tmp_path / "data-3"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)], check=True)
    try:
        with machines(image, tmp_path) as found:
            eventually(lambda: found.leader() != 0, "a leader", 20)
            broker = Broker(11, found.ports[found.leader()])
            broker.heartbeat()
            broker.connection.close()
            filler = disk / "filler"
            filler.write_bytes(bytes(shutil.disk_usage(disk).free - LEFT_BYTES))
            writer = Writer(list(found.ports.values()))

            code, said = found.nodes.pop(3).end(60)
            before = len(writer.acknowledged)
            eventually(lambda: len(writer.acknowledged) > before + 20, "writes without the node", 20)
            filler.unlink()
            found.start(3)
            found.wait_until_caught_up()
            writer.end()

            assert (code, "No space left on device" in said) == (1, True), said
            assert writer.failure is None
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_the_node_can_write_nothing_of_its_installation(image: Image, tmp_path: Path) -> None:
    own(tmp_path / "data", image)
    code = "import os, sys; print(sorted(d for d, _, _ in os.walk('/') if os.access(d, os.W_OK) and d[:5] != '/proc'))"

    said = run_in_container(image, tmp_path / "data", "/opt/kraft/bin/python3", "-c", code)

    assert said.strip() == "['/var/lib/kafka/data']"
