"""`kraftctl up`: runs a quorum, uses its data again, measures a failover, and starts ended nodes again."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from kraft_quorum.client import Client
from simulations.chaos.ports import free_ports_in_a_row
from tools.kraftctl.nodes.http_page import Caller, HttpPage
from tools.kraftctl.run.local_processes import Processes
from tools.kraftctl.run.local_quorum import LocalQuorum
from tools.offline.lock import lock_holder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="finds the process by /proc, or needs prctl")


@contextmanager
def up(directory: Path, port: int | None = None, *more: str) -> Iterator[subprocess.Popen[str]]:
    ports = () if port is None else ("--port", str(port))
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.kraftctl.main", "up", "--dir", str(directory), *ports, *more],
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
        if match := re.search(pattern, line):
            return match
    raise AssertionError(seen)


def leader_of(process: subprocess.Popen[str]) -> tuple[int, int]:
    """The leader and its epoch, by the next line that names them."""
    leader, epoch = next_line(process.stdout, r"leader: node (\d), epoch (\d+)").groups()
    return int(leader), int(epoch)


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
    raise AssertionError((lines, process.stderr and process.stderr.read()))


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


def kraftctl_up(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A `kraftctl up` that ends by itself."""
    command = [sys.executable, "-m", "tools.kraftctl.main", "up", "--dir", str(directory), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def node_processes(directory: Path) -> dict[int, int | None]:
    """Node -> the process that holds the lock of its directory."""
    return {node: lock_holder(f"{directory}/node-{node}/.lock") for node in (1, 2, 3)}


def await_true(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def node_without_up(directory: Path, node: int) -> Iterator[subprocess.Popen[bytes]]:
    """A node of a quorum that `up` formatted, started by hand."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.kraftctl.main", "start", "-c", str(directory / f"node-{node}.properties")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await_true(lambda: lock_holder(f"{directory}/node-{node}/.lock") == process.pid)
        yield process
    finally:
        process.kill()
        process.wait()


def epoch_of(output: list[str]) -> int:
    """The epoch in the line that names the leader, the last of the output."""
    return int(output[-1].rpartition("epoch ")[2])


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
    # The first election may need a second epoch: what holds is that the second run goes on after the first.
    assert epoch_of(again) > epoch_of(first)
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


@ON_LINUX
def test_the_failover_of_a_killed_leader_is_measured_and_the_node_started_again(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        leader, epoch = leader_of(process)

        kill(tmp_path / "data", leader)

        killed, elected, next_epoch, leader_ms, commit_ms = map(int, next_line(process.stderr, FAILOVER).groups())
        assert killed == leader
        assert next_epoch > epoch
        assert elected != leader
        assert 0 < leader_ms <= commit_ms
        next_line(process.stdout, f"node {leader} is started again")
        assert process.poll() is None


@ON_LINUX
def test_without_restarts_a_lost_majority_is_reported(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port, "--no-restart") as process:
        leader, _ = leader_of(process)
        one, other = (node for node in (1, 2, 3) if node != leader)

        kill(tmp_path / "data", one)
        next_line(process.stderr, f"node {one} was killed by SIGKILL; node {leader} leads as before")
        next_line(process.stderr, f"node {one} stays down")
        kill(tmp_path / "data", other)
        next_line(process.stderr, f"node {other} .*; 1 of 3 voters run, and a majority of 2 is needed: no commits")
        kill(tmp_path / "data", leader)

        assert process.wait(60) == 1


@ON_LINUX
def test_a_leader_and_a_follower_that_end_together_are_a_lost_majority(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port, "--no-restart") as process:
        leader, _ = leader_of(process)
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
    with up(tmp_path / "data", port, "--nodes", "1") as process:
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
        # The first of the three that ends stops the others.
        assert re.search(r"node [123] exited with code 1: kraftctl start: .*kraft\.log\.level", reported), reported


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


def test_a_second_up_with_other_ports_changes_nothing_of_the_running_quorum(tmp_path: Path, port: int) -> None:
    data = tmp_path / "data"
    with up(data, port, "--nodes", "1") as process:
        output_until_a_leader(process)
        before = {path.name: path.read_text() for path in sorted(data.glob("*.properties"))}

        second = kraftctl_up(data, "--port", str(free_ports_in_a_row(3)))

        assert {path.name: path.read_text() for path in sorted(data.glob("*.properties"))} == before
        assert (second.returncode, second.stdout) == (1, "")
        assert second.stderr == (
            f"kraftctl up: process {process.pid} runs the quorum in {data} already; "
            f"`kraftctl up --status --dir {data}` shows it, `kraftctl up --stop --dir {data}` stops it\n"
        )


@pytest.mark.parametrize(("number", "nodes"), [(signal.SIGHUP, 3), (signal.SIGQUIT, 1)])
def test_a_closed_terminal_stops_the_nodes(tmp_path: Path, port: int, number: signal.Signals, nodes: int) -> None:
    # Under nohup it is ignored, which a child inherits.
    before = signal.signal(number, signal.SIG_DFL)
    with up(tmp_path / "data", port, "--nodes", str(nodes)) as process:
        signal.signal(number, before)
        output_until_a_leader(process)

        process.send_signal(number)

        assert process.wait(60) == 0
        assert node_processes(tmp_path / "data") == {1: None, 2: None, 3: None}


def test_an_output_that_nobody_reads_any_more_stops_the_nodes(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port, "--nodes", "1") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()

        assert process.wait(60) == 1
        assert process.stderr is not None
        assert process.stderr.read() == "kraftctl up: the quorum is stopped: [Errno 32] Broken pipe\n"
        assert node_processes(tmp_path / "data") == {1: None, 2: None, 3: None}
        process.stdout = None


def test_under_nohup_a_closed_terminal_stops_nothing(tmp_path: Path, port: int) -> None:
    options = ["--dir", str(tmp_path / "data"), "--port", str(port), "--nodes", "1"]
    command = [sys.executable, "-m", "tools.kraftctl.main", "up", *options]
    with subprocess.Popen(["nohup", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        output_until_a_leader(process)

        process.send_signal(signal.SIGHUP)

        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.terminate()
        assert process.wait(60) == 0


def test_status_shows_the_running_quorum_and_stop_ends_it(tmp_path: Path, port: int) -> None:
    data = tmp_path / "data"
    with up(data, port) as process:
        leader, epoch = leader_of(process)
        nodes = node_processes(data)

        shown = kraftctl_up(data, "--status")
        as_json = kraftctl_up(data, "--status", "--json")
        stopped = kraftctl_up(data, "--stop")

        assert shown.returncode == 0, shown.stderr
        rows = [re.split("  +", line) for line in shown.stdout.splitlines()]
        assert rows[0] == ["node", "address", "process", "role", "epoch", "log end", "lag"]
        assert {int(row[0]): (row[1], int(row[2]), row[3]) for row in rows[1:4]} == {
            node: (f"127.0.0.1:{port + node - 1}", nodes[node], "leader" if node == leader else "follower")
            for node in (1, 2, 3)
        }
        assert rows[4] == [f"leader: node {leader}, epoch {epoch}"]
        assert rows[5] == [f"kraftctl up: process {process.pid}"]
        status = json.loads(as_json.stdout)
        offsets = [(node.pop("end_offset"), node.pop("lag")) for node in status["nodes"]]
        assert all(end > 0 and lag >= 0 for end, lag in offsets)
        assert (as_json.returncode, status) == (
            0,
            {
                "leader_id": leader,
                "epoch": epoch,
                "up_runs": True,
                "up_process": process.pid,
                "nodes": [
                    {
                        "id": node,
                        "address": f"127.0.0.1:{port + node - 1}",
                        "process": nodes[node],
                        "role": "leader" if node == leader else "follower",
                        "epoch": epoch,
                    }
                    for node in (1, 2, 3)
                ],
            },
        )
        assert (stopped.returncode, stopped.stdout) == (0, f"the quorum in {data} is stopped\n")
        assert process.wait(1) == 0
        assert node_processes(data) == {1: None, 2: None, 3: None}
    assert kraftctl_up(data, "--stop").stdout == f"nothing runs in {data}\n"
    after = kraftctl_up(data, "--status")
    assert (after.returncode, after.stdout.splitlines()[-2:]) == (1, ["no leader", "kraftctl up: not running"])
    down = kraftctl_up(data, "--status", "--json")
    assert (down.returncode, json.loads(down.stdout)) == (
        1,
        {
            "leader_id": None,
            "epoch": None,
            "up_runs": False,
            "up_process": None,
            "nodes": [
                {
                    "id": node,
                    "address": f"127.0.0.1:{port + node - 1}",
                    "process": None,
                    "role": "down",
                    "epoch": None,
                    "end_offset": None,
                    "lag": None,
                }
                for node in (1, 2, 3)
            ],
        },
    )


def test_json_is_refused_without_status(tmp_path: Path) -> None:
    refused = kraftctl_up(tmp_path / "data", "--json")

    assert (refused.returncode, refused.stderr.splitlines()[-1]) == (1, "kraftctl up: --json is only for --status")
    assert not (tmp_path / "data").exists()


def test_status_of_a_directory_without_a_quorum_is_an_error(tmp_path: Path) -> None:
    shown = kraftctl_up(tmp_path / "none", "--status")

    assert (shown.returncode, shown.stderr) == (1, f"kraftctl up: {tmp_path}/none has no quorum of `kraftctl up`\n")
    assert not (tmp_path / "none").exists()


@ON_LINUX
def test_the_nodes_end_with_an_up_that_is_killed(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        output_until_a_leader(process)
        nodes = node_processes(tmp_path / "data")

        process.kill()
        process.wait()

        assert None not in nodes.values()
        await_true(lambda: node_processes(tmp_path / "data") == {1: None, 2: None, 3: None})


@ON_LINUX
def test_a_process_whose_parent_ended_before_it_could_bind_to_it_does_not_start(tmp_path: Path) -> None:
    from tools.kraftctl.run import bound_process

    command = [sys.executable, bound_process.__file__, "1", "/bin/touch", str(tmp_path / "started")]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (1, "process 1, which started this one, has ended\n")
    assert not (tmp_path / "started").exists()


def test_processes_are_started_by_the_main_thread_alone(tmp_path: Path) -> None:
    """The kernel signals a bound process when the thread that started it ends, not when the process of it does."""
    refused = []

    def start() -> None:
        with pytest.raises(AssertionError, match="main thread"):
            Processes(tmp_path).start("a", ["/bin/true"])
        refused.append(True)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()

    assert refused == [True]


def test_nodes_that_run_without_up_are_named_and_stopped_on_request(tmp_path: Path, port: int) -> None:
    data = tmp_path / "data"
    LocalQuorum(data, 3, port).prepare()
    before = (data / "node-2.properties").read_text()
    with node_without_up(data, 1) as one, node_without_up(data, 3) as three:
        refused = kraftctl_up(data, "--port", str(free_ports_in_a_row(3)))
        stopped = kraftctl_up(data, "--stop")

        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr == (
            f"kraftctl up: node 1 (process {one.pid}) and node 3 (process {three.pid}) of {data} run without a "
            f"`kraftctl up`; `kraftctl up --stop --dir {data}` stops them\n"
        )
        assert (data / "node-2.properties").read_text() == before
        assert (stopped.returncode, stopped.stdout) == (0, f"the quorum in {data} is stopped\n")
        assert (one.wait(1), three.wait(1)) == (0, 0)


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_up_offers_to_stop_them(tmp_path: Path, port: int, answer: str) -> None:
    data = tmp_path / "data"
    LocalQuorum(data, 3, port).prepare()
    command = [sys.executable, "-m", "tools.kraftctl.main", "up", "--dir", str(data)]
    terminal, its_end = pty.openpty()
    with node_without_up(data, 2) as node:
        process = subprocess.Popen(command, stdin=its_end, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            os.write(terminal, f"{answer}\n".encode())
            if answer == "y":
                output_until_a_leader(process)
                assert node.wait(10) == 0
            else:
                assert process.wait(60) == 1
                assert node.poll() is None
        finally:
            process.terminate()
            _, errors = process.communicate(timeout=60)
            os.close(terminal)
            os.close(its_end)
    assert f"node 2 (process {node.pid}) of {data} runs without a `kraftctl up`; stop it? [y/N] " in errors


@ON_LINUX
def test_the_failover_of_a_leader_that_was_not_shown_yet_is_measured(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        # The nodes have just started: `up` looks at them half a second later, and they elect in less.
        await_true(lambda: None not in node_processes(tmp_path / "data").values())
        process.send_signal(signal.SIGSTOP)
        pages = {node: HttpPage(("127.0.0.1", port + 99 + node), Caller(), 5) for node in (1, 2, 3)}
        leaders: list[tuple[int, int]] = []

        def has_leader() -> bool:
            for node, page in pages.items():
                try:
                    if (view := page.view()).is_active:
                        leaders.append((node, view.epoch))
                except OSError:
                    continue
            return bool(leaders)

        await_true(has_leader)
        leader, former_epoch = leaders[0]
        kill(tmp_path / "data", leader)
        for page in pages.values():
            page.close()
        process.send_signal(signal.SIGCONT)

        killed, elected, epoch, leader_ms, commit_ms = map(int, next_line(process.stderr, FAILOVER).groups())
        assert killed == leader
        assert epoch > former_epoch
        assert elected != killed
        assert 0 < leader_ms <= commit_ms


def test_make_up_takes_a_port_and_a_directory(tmp_path: Path, port: int) -> None:
    root = Path(__file__).parents[4]
    command = ["make", "-n", "-o", ".venv/.ready", "-C", str(root), "up", f"PORT={port}", f"DIR={tmp_path}"]

    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"NODES": "5"})
    plain = subprocess.run(command[:-2], capture_output=True, text=True, check=True, env=os.environ | {"PORT": "80"})

    assert f"kraftctl up --port {port} --dir {tmp_path}\n" in shown.stdout
    # PORT of the environment is another program's.
    assert "kraftctl up\n" in plain.stdout
