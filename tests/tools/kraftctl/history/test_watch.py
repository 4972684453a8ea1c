"""`kraftctl watch` prints what commits, by either way, and goes on when the leader is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from simulations.chaos.quorum import Quorum
from tests.controller.server.alterations import BROKER, alteration
from tests.controller.server.processes import free_port, running
from tests.records.golden import GOLDEN
from tools.client.connection import Connection
from tools.kraftctl.history.at import run as run_at
from tools.kraftctl.history.history import run as run_history
from tools.kraftctl.history.watch import between
from tools.kraftctl.points.changes import compare
from tools.kraftctl.points.places import Place, read
from tools.kraftctl.points.points import Point, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

KEY = "log.retention.ms"
# A watch that prints nothing is killed then, so that a test fails and does not hang.
LIMIT_S = 120.0
PASSWORD, SECRET = "ssl.key.password", "hunter2-of-the-operator"


def put(port: int, value: object, key: str = KEY) -> bool:
    """Whether the node leads, and has committed the value."""
    try:
        with Connection("127.0.0.1", port, "test") as connection:
            return not connection.ask(alteration(BROKER, "", key, str(value))).responses[0].error_code
    except OSError:
        return False


def eventually(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class Watching:
    """A `kraftctl watch` in a process of its own, which has begun."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tools.kraftctl.main", "watch", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self._limit = threading.Timer(LIMIT_S, self.process.kill)
        self._limit.daemon = True
        self._limit.start()
        self.first = self.process.stderr.readline()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def value(self) -> Any:
        """The value that the next change of `KEY` sets."""
        return json.loads(self.line())["fields"][KEY]["after"]

    def end(self) -> tuple[int, str]:
        """Ctrl-C: the exit code, and what it wrote to stderr since the first line."""
        self.process.send_signal(signal.SIGINT)
        _, complaints = self.process.communicate()
        self._limit.cancel()
        return self.process.returncode, complaints


@pytest.fixture(name="node", scope="module")
def _node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Addresses of the two ways to watch a quorum of one node: as an observer, and by the watch service."""
    port, service = free_port(), free_port()
    with running(tmp_path_factory.mktemp("node"), port, kraft_grpc_listener=f"127.0.0.1:{service}"):
        eventually(lambda: put(port, 1))
        yield f"127.0.0.1:{port}", f"127.0.0.1:{service}"


def port_of(node: tuple[str, str]) -> int:
    return int(node[0].rpartition(":")[2])


@pytest.mark.parametrize("way", ["--bootstrap-controller", "--grpc"])
def test_changes_are_printed_as_they_commit_until_ctrl_c(node: tuple[str, str], way: str) -> None:
    put(port_of(node), 1000)
    watching = Watching(way, node[way == "--grpc"], "--config", "broker:default")
    put(port_of(node), 2000)
    first = watching.line()
    put(port_of(node), 3000)

    assert f"config broker:default changed: {KEY} 1000 -> 2000\n" in first
    assert watching.line().endswith(f"config broker:default changed: {KEY} 2000 -> 3000\n")
    assert watching.end() == (0, "")


@pytest.mark.parametrize("way", ["--bootstrap-controller", "--grpc"])
def test_from_an_offset_the_changes_since_then_come_first(
    node: tuple[str, str], way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put(port_of(node), 4000)
    run_at(["end", "--bootstrap-controller", node[0], "--json"])
    offset = json.loads(capsys.readouterr().out)["end_offset"]
    put(port_of(node), 5000)
    put(port_of(node), 6000)

    watching = Watching(way, node[way == "--grpc"], "--json", "--type", "config", "--from", str(offset))
    change = json.loads(watching.line())

    assert change["offset"] >= offset
    assert change["fields"] == {KEY: {"before": "4000", "after": "5000"}}
    assert watching.value() == "6000"
    watching.end()


@pytest.mark.parametrize("way", ["--bootstrap-controller", "--grpc"])
def test_a_secret_is_not_printed_and_its_change_is(node: tuple[str, str], way: str) -> None:
    put(port_of(node), SECRET, PASSWORD)
    watching = Watching(way, node[way == "--grpc"], "--type", "config")
    put(port_of(node), f"{SECRET}-2", PASSWORD)

    assert watching.line().endswith(f"config broker:default changed: {PASSWORD} [hidden] -> [hidden]\n")
    watching.end()


def test_a_closed_pipe_ends_it_without_a_traceback(node: tuple[str, str]) -> None:
    watching = Watching("--bootstrap-controller", node[0])
    process = watching.process
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    put(port_of(node), 7000)

    _, complaints = process.communicate()
    assert (process.returncode, complaints) == (0, "")


def test_a_live_quorum_has_a_past(node: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    put(port_of(node), 8000)
    run_at(["end", "--bootstrap-controller", node[0], "--json"])
    offset = json.loads(capsys.readouterr().out)["end_offset"]
    put(port_of(node), 9000)
    path = "configs/broker:default"

    assert run_at([str(offset), path, "--bootstrap-controller", node[0]]) == 0
    assert f"{KEY} 8000" in capsys.readouterr().out
    assert run_at(["end", path, "--bootstrap-controller", node[0]]) == 0
    assert f"{KEY} 9000" in capsys.readouterr().out
    assert run_history(["--config", "broker:default", "--since", str(offset), "--bootstrap-controller", node[0]]) == 0
    assert f"{KEY} 8000 -> 9000" in capsys.readouterr().out


def test_no_quorum_has_exit_code_1_and_one_line() -> None:
    for way in ("--bootstrap-controller", "--grpc"):
        command = [sys.executable, "-m", "tools.kraftctl.main", "watch", way, "nowhere"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)

        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"kraftctl watch: {way} nowhere: HOST:PORT,… is expected\n"


def test_a_snapshot_that_replaces_the_state_is_shown_as_its_difference() -> None:
    place = Place(directory=str(GOLDEN / "4.3-static/node-1"))
    image, newer = (read(place, Reading(Point(offset=offset)), "test") for offset in (152, 533))

    changes = list(between(image, newer, lambda change: change.kind == "topic"))

    expected = compare(image.value_tables(), newer.value_tables(), lambda change: change.kind == "topic")
    assert [(each.offset, each.change) for each in changes] == [(532, change) for change in expected]
    assert expected


@pytest.mark.slow
def test_it_goes_on_after_each_of_two_leaders_is_killed(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path)
    try:
        for node in quorum.ports:
            quorum.start(node)
        eventually(quorum.leader)
        address = f"127.0.0.1:{next(iter(quorum.ports.values()))}"
        eventually(partial(led_to, quorum, 1))
        watching = Watching("--bootstrap-controller", address, "--json", "--type", "config")
        for value in (1000, 2000):
            eventually(partial(led_to, quorum, value))
            assert watching.value() == str(value)
            killed = quorum.leader()
            quorum.signal(killed, signal.SIGKILL)
            eventually(partial(led_to, quorum, value + 1))
            assert watching.value() == str(value + 1)
            quorum.start(killed)
            eventually(quorum.leader)
        assert watching.end()[0] == 0
    finally:
        for node in quorum.ports:  # nothing is tested of how they end
            quorum.signal(node, signal.SIGKILL)
        quorum.close()


def led_to(quorum: Quorum, value: int) -> bool:
    leader = quorum.leader()
    return bool(leader) and put(quorum.ports[leader], value)
