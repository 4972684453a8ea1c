"""The rolling restart of three real nodes, while a client writes."""

from __future__ import annotations

import os
import socketserver
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.client import Broker
from tests.deploy.writer import Writer
from tests.interop.cluster import BIN, OURS, Cluster, cluster, eventually
from tests.interop.secured import ADMIN, secured
from tests.interop.stock import Stock
from tests.interop.test_security import active
from tools.offline.load import load_image

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(__file__).parents[2] / "deploy" / "rolling-restart.sh"


class Hooks(socketserver.ThreadingTCPServer):
    """A service manager for the script: receives a node's id, restarts the node and answers `done`."""

    daemon_threads = True

    def __init__(self, found: Cluster) -> None:
        self.cluster = found
        self.restarted: list[tuple[int, int]] = []  # (node, the leader before)
        super().__init__(("127.0.0.1", 0), Restart)

    def command(self, node: int) -> str:
        """The command of the script for a node; it fails if the restart fails."""
        port = self.server_address[1]
        ask = f'exec 3<>/dev/tcp/127.0.0.1/{port} && echo {node} >&3 && read -r answer <&3 && [ "$answer" = done ]'
        return f"{node}=bash -c '{ask}'"


class Restart(socketserver.StreamRequestHandler):
    """One restart: SIGTERM, the end of the old process, the start of the new one."""

    def handle(self) -> None:
        assert isinstance(self.server, Hooks)
        number = int(self.rfile.readline())
        led = self.server.cluster.leader() or active(self.server.cluster)
        node = self.server.cluster.controllers[number]
        code = node.stop()
        node.start()
        self.server.restarted.append((number, led))
        self.wfile.write(b"done\n" if code == 0 else b"failed\n")


@contextmanager
def hooks(found: Cluster) -> Iterator[Hooks]:
    with Hooks(found) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def roll(found: Cluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_script("-b", found.bootstrap_controller, *arguments)


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(SCRIPT), *arguments]
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90, check=False)


@pytest.fixture(name="quorum", scope="module")
def _quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    settings = {"broker.session.timeout.ms": "600000"}
    with cluster(tmp_path_factory.mktemp("quorum"), Stock(), [OURS] * 3, 0, settings=settings) as found:
        yield found


def topics_on_disk(found: Cluster, number: int) -> set[str]:
    """The topics in a stopped node's log."""
    image = load_image(str(found.controllers[number].directory / "__cluster_metadata-0" / f"{0:020}.log"))
    assert not image.problems
    return {topic.name for topic in image.topics.values()}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["1=true", "2=true"], "no command for voter 3; voters are 1 2 3"),
        (["1=true", "2=true", "3=true", "4=true"], "node 4 is not a voter; voters are 1 2 3"),
        (["1=true", "1=true"], "node 1 is named twice"),
        (["one=true"], "'one=true' is not NODE=COMMAND"),
        (["1="], "'1=' is not NODE=COMMAND"),
    ],
)
def test_commands_that_do_not_match_the_voters_are_refused(quorum: Cluster, arguments: list[str], text: str) -> None:
    done = roll(quorum, *arguments)

    assert (done.returncode, done.stderr) == (1, f"rolling-restart: {text}\n")


def test_no_further_node_is_restarted_when_a_restart_fails(quorum: Cluster) -> None:
    leader = quorum.await_leader()
    first, second = (number for number in quorum.controllers if number != leader)

    with hooks(quorum) as server:
        done = roll(quorum, f"{first}=exit 3", server.command(second), server.command(leader))

    assert (done.returncode, server.restarted) == (1, [])
    left = " ".join(str(number) for number in sorted(quorum.controllers))
    assert done.stderr == f"rolling-restart: the command for node {first} failed; not restarted yet: {left}\n"


def test_no_node_is_restarted_while_a_voter_is_down(quorum: Cluster) -> None:
    away = next(number for number in quorum.controllers if number != quorum.await_leader())
    quorum.controllers[away].kill()

    with hooks(quorum) as server:
        done = roll(quorum, "-t", "1", *(server.command(node) for node in quorum.controllers))
    quorum.controllers[away].start()

    assert (done.returncode, server.restarted) == (1, [])
    assert f"node {away}" in done.stderr
    assert done.stderr.endswith("rolling-restart: the voters have not all caught up; no node was restarted\n")


def test_the_controllers_are_named_by_a_file_or_by_addresses(quorum: Cluster) -> None:
    properties = str(quorum.controllers[1].properties)

    named = run_script("-c", properties, "1=true", "2=true")
    neither = run_script("1=true")

    assert (named.returncode, named.stderr) == (1, "rolling-restart: no command for voter 3; voters are 1 2 3\n")
    assert (neither.returncode, neither.stderr.splitlines()[0]) == (
        2, "usage: rolling-restart.sh (-b HOST:PORT,… | -c FILE) [-s FILE] [-t SECONDS] NODE=COMMAND…",
    )  # fmt: skip


def test_a_secured_quorum_is_restarted_with_the_properties_of_a_client(tmp_path: Path) -> None:
    with secured(tmp_path, Stock(), [OURS] * 3, brokers=0) as quorum, hooks(quorum) as server:
        eventually(lambda: active(quorum), "a leader")
        leader = active(quorum)
        commands = [server.command(node) for node in quorum.controllers]

        refused = roll(quorum, "-t", "2", *commands)
        done = roll(quorum, "-s", quorum.asked(ADMIN), *commands)

        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.endswith("rolling-restart: the voters have not all caught up; no node was restarted\n")
        assert done.returncode == 0, done.stderr
        assert (sorted(node for node, _ in server.restarted), server.restarted[-1][0]) == ([1, 2, 3], leader)


@pytest.mark.slow
def test_no_write_is_lost_or_fails_while_every_node_is_restarted_the_leader_last(quorum: Cluster) -> None:
    leader = quorum.await_leader()
    broker = Broker(11, quorum.controllers[leader].port)
    broker.heartbeat()
    broker.connection.close()
    writer = Writer([node.port for node in quorum.controllers.values()])

    with hooks(quorum) as server:
        done = roll(quorum, *(server.command(node) for node in quorum.controllers))
    writer.end()

    assert done.returncode == 0, done.stderr
    assert [node for node, _ in server.restarted][-1] == leader
    assert [led for _, led in server.restarted] == [leader] * 3, "leadership moved only with the last restart"
    assert sorted(node for node, _ in server.restarted) == [1, 2, 3]
    assert quorum.await_leader() != leader
    assert writer.failure is None
    assert len(writer.acknowledged) > 20
    for number in quorum.controllers:
        quorum.controllers[number].kill()
    on_two = [number for number in quorum.controllers if topics_on_disk(quorum, number) >= set(writer.acknowledged)]
    assert len(on_two) >= 2
