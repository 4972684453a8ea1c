"""`kraftctl up`: runs a quorum, uses its data again, measures a failover, and starts ended nodes again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from controller.ctl.local_quorum import LocalQuorum
from kraft_quorum.client import Client
from tests.controller.server.processes import free_ports_in_a_row

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def up(directory: Path, port: int | None = None, *more: str) -> Iterator[subprocess.Popen[str]]:
    ports = () if port is None else ("--port", str(port))
    process = subprocess.Popen(
        [sys.executable, "-m", "controller.ctl.main", "up", "--dir", str(directory), *ports, *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def next_line(lines: IO[str] | None, pattern: str) -> re.Match[str]:
    """The next line that matches."""
    assert lines is not None
    seen = []
    for line in lines:
        seen.append(line)
        if found := re.search(pattern, line):
            return found
    raise AssertionError(seen)


def leader_of(process: subprocess.Popen[str]) -> int:
    """The leader in the next line that names one."""
    return int(next_line(process.stdout, r"leader: node (\d)")[1])


def kill(directory: Path, node: int) -> None:
    os.kill(process_of(directory / f"node-{node}.properties"), signal.SIGKILL)


def output_until_a_leader(process: subprocess.Popen[str]) -> list[str]:
    """The output up to the first line that names a leader."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if line.startswith("leader:"):
            return lines
    raise AssertionError(lines)


def process_of(properties: Path) -> int:
    """The process id of the node that runs with this file."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"start" in arguments and os.fsencode(properties) in arguments:
            return int(path.parent.name)
    raise AssertionError("no such process")


FAILOVER = (
    r"node (\d) was killed by SIGKILL; node (\d) leads epoch (\d+) after (\d+) ms, "
    r"and its first commit came after (\d+) ms"
)


@pytest.fixture
def port() -> int:
    """The first of three free ports, whose pages' ports are free too."""
    return free_ports_in_a_row(3)


def test_a_second_run_uses_the_data_and_ports_of_the_first(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        first = output_until_a_leader(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    cluster = (tmp_path / "data" / "node-1" / "meta.properties").read_text()

    with up(tmp_path / "data") as process:
        again = output_until_a_leader(process)

    assert first[:3] == again[:3] == [f"127.0.0.1:{port + number}" for number in range(3)]
    assert first[-1].endswith("epoch 1")
    assert not again[-1].endswith("epoch 1")
    assert (tmp_path / "data" / "node-1" / "meta.properties").read_text() == cluster


def test_existing_data_moves_to_other_ports(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        output_until_a_leader(process)
    properties = tmp_path / "data" / "node-2.properties"
    properties.write_text(properties.read_text() + "# a line of the user\nkraft.log.level=WARN\n")
    other = free_ports_in_a_row(3)

    with up(tmp_path / "data", other) as process:
        lines = output_until_a_leader(process)

    assert lines[:3] == [f"127.0.0.1:{other + number}" for number in range(3)]
    assert f"listeners=CONTROLLER://127.0.0.1:{other + 1}\n" in properties.read_text()
    assert "# a line of the user\nkraft.log.level=WARN\n" in properties.read_text()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the process by /proc")
def test_the_failover_of_a_killed_leader_is_measured_and_the_node_started_again(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        leader = leader_of(process)

        kill(tmp_path / "data", leader)

        killed, elected, epoch, leader_ms, commit_ms = map(int, next_line(process.stderr, FAILOVER).groups())
        assert (killed, epoch) == (leader, 2)
        assert elected != leader
        assert 0 < leader_ms <= commit_ms
        next_line(process.stdout, f"node {leader} is started again")
        assert process.poll() is None


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the process by /proc")
def test_without_restarts_a_lost_majority_is_reported(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port, "--no-restart") as process:
        leader = leader_of(process)
        one, other = (node for node in (1, 2, 3) if node != leader)

        kill(tmp_path / "data", one)
        next_line(process.stderr, f"node {one} was killed by SIGKILL; node {leader} leads as before")
        next_line(process.stderr, f"node {one} stays down")
        kill(tmp_path / "data", other)
        next_line(process.stderr, f"node {other} .*; 1 of 3 voters run, and a majority of 2 is needed: no commits")
        kill(tmp_path / "data", leader)

        assert process.wait(60) == 1


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the process by /proc")
def test_a_leader_and_a_follower_that_end_together_are_a_lost_majority(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port, "--no-restart") as process:
        leader = leader_of(process)
        follower = leader % 3 + 1
        pids = [process_of(tmp_path / "data" / f"node-{node}.properties") for node in (leader, follower)]

        for pid in pids:
            os.kill(pid, signal.SIGKILL)

        # In the order in which the processes ended.
        said = [next_line(process.stderr, r"node (\d) was killed by SIGKILL; (.*)") for _ in pids]
        assert {int(line[1]) for line in said} == {leader, follower}
        assert said[1][2].startswith("1 of 3 voters run, and a majority of 2 is needed")


def test_one_node_is_a_quorum(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port, "--nodes", "1") as process:
        assert output_until_a_leader(process)[0] == f"127.0.0.1:{port}"

    with up(tmp_path / "data", port, "--nodes", "3") as process:
        assert process.wait(60) == 1
        assert process.stderr is not None
        assert "has a quorum of 1 nodes, and --nodes 3 asks for another number" in process.stderr.read()


def test_a_second_quorum_on_the_same_ports_is_refused(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        output_until_a_leader(process)

        with up(tmp_path / "other", port) as second:
            assert second.wait(60) == 1
            assert second.stdout is not None
            assert second.stdout.read() == ""
            assert second.stderr is not None
            assert second.stderr.read() == (
                f"kraftctl up: port {port} for node 1 cannot be used (Address already in use); stop the process that "
                "listens there, perhaps another `kraftctl up`, or choose other ports with --port\n"
            )


def test_a_node_that_cannot_start_ends_with_its_reason(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        output_until_a_leader(process)
    for node in (1, 2, 3):
        properties = tmp_path / "data" / f"node-{node}.properties"
        properties.write_text(properties.read_text() + "kraft.log.level=LOUD\n")

    with up(tmp_path / "data") as process:
        assert process.wait(60) == 1
        assert process.stderr is not None
        reported = process.stderr.read()
        assert "node 1 exited with code 1: kraftctl start: " in reported
        assert "kraft.log.level" in reported


def test_the_nodes_serve_the_watch_service_whose_ports_move_with_the_others(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        lines = output_until_a_leader(process)
        targets = [f"127.0.0.1:{port + 200 + number}" for number in range(3)]
        with Client(targets) as client:
            status = client.status()

    assert f"watch service: {' '.join(targets)}" in lines
    assert status["node_id"] in {1, 2, 3}
    quorum = LocalQuorum(tmp_path / "data", None, free_ports_in_a_row(3))
    quorum.prepare()
    assert f"kraft.grpc.listener=127.0.0.1:{quorum.ports[2] + 200}\n" in quorum.properties_of(2).read_text()

    quorum.has_watch = False
    quorum.prepare()
    assert ("kraft.grpc.listener" in quorum.properties_of(2).read_text(), quorum.watch_ports) == (False, {})
