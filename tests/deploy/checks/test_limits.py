"""Three real nodes of which one, or all, have too little: memory, threads, files, a disk or a network that is slow.

docs/runbook.md has a row for each. A full disk and a clock that jumps: `tests/deploy/test_through_faults.py`.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from simulations.chaos.nemesis import SLOW_S, STALLED_S
from simulations.chaos.quorum import NODES
from simulations.chaos.syncs import Syncs
from tests.benchmarks.client import Connection
from tests.control_groups import limited
from tests.controller.server.alterations import BROKER, alteration
from tests.deploy.watched import Watched, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.control_groups import Group

# A dynamic default for all brokers, which nothing uses.
KEY = "test.of.limits"
EPOCH = "kafka_server_raftmetrics_current_epoch"
MIB = 1 << 20


class Limited(Watched):
    """A quorum whose nodes have limits. groups: by node; files: that a node may open, by node."""

    def __init__(self, directory: Path, settings: dict[str, str] | None = None) -> None:
        self.groups: dict[int, Group] = {}
        self.files: dict[int, int] = {}
        super().__init__(directory, settings)

    def command(self, node: int) -> list[str]:
        command = super().command(node)
        if node in self.files:
            command = ["prlimit", f"--nofile={self.files[node]}:{self.files[node]}", *command]
        return self.groups[node].command(command) if node in self.groups else command

    def threads(self, node: int) -> int:
        return len(os.listdir(f"/proc/{self.processes[node].pid}/task"))  # noqa: PTH208 - of a process

    def write(self, node: int, value: str) -> float:
        """Have a value committed; returns how long the answer took, in s."""
        begun = time.monotonic()
        connection = Connection(self.ports[node], 30.0)
        try:
            response = connection.ask(alteration(BROKER, "", KEY, value), 1).responses[0]
        finally:
            connection.close()
        assert response.error_code == 0, response
        return time.monotonic() - begun


@contextmanager
def limited_quorum(directory: Path, settings: dict[str, str] | None = None) -> Iterator[Limited]:
    """Three nodes that are not started yet; they are killed when the block ends."""
    quorum = Limited(directory, settings)
    try:
        yield quorum
    finally:
        for node in list(quorum.processes):
            quorum.signal(node, signal.SIGKILL)
        quorum.close()


def start_all(quorum: Limited) -> int:
    """Start the nodes; returns the leader."""
    for node in NODES:
        quorum.start(node)
    quorum.await_ready(*NODES)
    return quorum.await_leader()


def is_written(quorum: Limited, value: str) -> bool:
    with suppress(AssertionError, OSError):
        return quorum.write(quorum.await_leader(), value) >= 0
    return False


def commit(quorum: Limited, value: str) -> None:
    """Have the leader commit a value; on a busy machine there may be another leader before the request arrives."""
    eventually(lambda: is_written(quorum, value), f"{value} is committed")


@contextmanager
def half_requests(port: int, count: int) -> Iterator[None]:
    """Connections that send a MiB each of a request of 4 MiB, and keep the node waiting for the rest."""
    frame = struct.pack(">ihhih", 4 * MIB, 19, 7, 1, 1) + b"x" + bytes(MIB)
    with ExitStack() as stack:
        with suppress(OSError):
            for _ in range(count):
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=2))
                connection.sendall(frame)
        yield


def test_hostile_connections_do_not_take_the_memory_of_a_node_with_128_mib(tmp_path: Path) -> None:
    with limited("memory") as group, limited_quorum(tmp_path) as quorum:
        group.set(128 * MIB)
        quorum.groups = {1: group}
        start_all(quorum)

        with half_requests(quorum.ports[1], 300):
            commit(quorum, "meanwhile")
            quorum.await_ready(1)
            resident = quorum.metrics(1)["process_resident_memory_bytes"]

        assert quorum.processes[1].poll() is None
        assert resident < 120 * MIB


def test_a_node_that_the_kernel_kills_for_its_memory_comes_back_with_all_records(tmp_path: Path) -> None:
    with limited("memory") as group, limited_quorum(tmp_path) as quorum:
        quorum.groups = {1: group}
        start_all(quorum)
        commit(quorum, "before")
        group.set(group.usage() + 4 * MIB)

        with half_requests(quorum.ports[1], 300):
            code = quorum.processes[1].wait(30)
        quorum.await_ready(2, 3)
        commit(quorum, "meanwhile")
        group.set(256 * MIB)
        del quorum.processes[1]
        quorum.start(1)
        quorum.await_ready(*NODES)

        assert code == -signal.SIGKILL
        eventually(lambda: quorum.metrics(1)["kraft_behind_records"] <= 1, "it has the records of the others")


def test_a_node_starts_no_thread_after_its_start(tmp_path: Path) -> None:
    with limited("pids") as group, limited_quorum(tmp_path) as quorum:
        leader = start_all(quorum)
        threads = quorum.threads(leader)
        group.add(quorum.processes[leader].pid)
        group.set(threads)

        # A name is looked up for each new connection to a voter, and a request of many parts has a thread of its own.
        follower = next(node for node in NODES if node != leader)
        quorum.signal(follower, signal.SIGKILL)
        many = ",".join(["x" * 60] * 500)
        quorum.write(leader, many)
        quorum.start(follower)
        quorum.await_ready(*NODES)
        quorum.write(leader, "after")

        assert quorum.await_leader() == leader
        assert quorum.threads(leader) == threads


def test_a_start_with_too_few_threads_is_refused_and_says_what_to_raise(tmp_path: Path) -> None:
    with limited("pids") as group, limited_quorum(tmp_path) as quorum:
        group.set(20)
        before = sorted(tmp_path.rglob("*"))
        done = subprocess.run(group.command(quorum.command(1)), capture_output=True, text=True, timeout=60, check=False)

        assert done.returncode == 1
        assert done.stderr == (
            "kraftctl start: this process may not start 64 threads more: raise the limit of threads "
            "(pids.max, TasksMax, ulimit -u) or of memory\n"
        )
        assert sorted(tmp_path.rglob("*")) == before


def test_connections_up_to_the_limit_of_files_keep_nobody_out_for_long(tmp_path: Path) -> None:
    files = 160
    with limited_quorum(tmp_path) as quorum, ExitStack() as stack:
        quorum.files[1] = files
        start_all(quorum)
        for _ in range(300):
            with suppress(OSError):
                stack.enter_context(socket.create_connection(("127.0.0.1", quorum.ports[1]), timeout=2))
        leader = quorum.await_leader()
        quorum.write(leader, "meanwhile")
        quorum.await_ready(*NODES)
        metrics = quorum.metrics(1)
        print(leader, metrics["kraft_connections"], metrics["process_open_fds"])

        assert metrics["process_max_fds"] == files
        assert metrics["process_open_fds"] < files


def test_commits_go_on_with_slow_disks_and_after_disks_that_stall(tmp_path: Path) -> None:
    with limited_quorum(tmp_path) as quorum:
        syncs = quorum.syncs = Syncs(tmp_path, NODES)
        leader = start_all(quorum)
        epoch = quorum.metrics(leader)[EPOCH]

        one = next(node for node in NODES if node != leader)
        syncs.delay(STALLED_S, one)
        fast = max(quorum.write(leader, f"one stalls {number}") for number in range(3))
        eventually(lambda: "disk_slow" in quorum.said(one), "the node says that its disk is slow")
        syncs.delay(0.05, *NODES)
        eventually(lambda: quorum.write(leader, "slow") < STALLED_S / 2, "all have the same slow disk")
        syncs.delay(SLOW_S, *NODES)
        slow = min(quorum.write(leader, f"all are slow {number}") for number in range(3))
        assert quorum.metrics(leader)[EPOCH] == epoch

        syncs.delay(STALLED_S, *NODES)
        with pytest.raises((AssertionError, OSError)):
            quorum.write(leader, "all stall")
        eventually(lambda: not quorum.are_ready(leader), "the leader without a majority resigns")
        syncs.delay(0.0, *NODES)
        quorum.await_ready(*NODES)
        commit(quorum, "after")

        assert fast < STALLED_S / 2 < STALLED_S
        assert slow >= SLOW_S / 2


def test_a_leader_is_elected_on_slow_disks_where_the_timeouts_allow_for_them(tmp_path: Path) -> None:
    names = ("controller.quorum.election.timeout.ms", "controller.quorum.fetch.timeout.ms")
    timeouts = dict(zip(names, ("5000", "10000"), strict=True))
    with limited_quorum(tmp_path, timeouts) as quorum:
        syncs = quorum.syncs = Syncs(tmp_path, NODES)
        first = start_all(quorum)

        syncs.delay(SLOW_S, *NODES)
        quorum.signal(first, signal.SIGKILL)
        others = [node for node in NODES if node != first]
        eventually(lambda: quorum.are_ready(*others), "a successor, which the other follows", 90)
        eventually(lambda: is_written(quorum, "by the successor"), "it has committed the start of its epoch", 60)


def test_commits_wait_for_the_nearest_follower_alone(tmp_path: Path) -> None:
    with limited_quorum(tmp_path) as quorum:
        leader = start_all(quorum)
        epoch = quorum.metrics(leader)[EPOCH]
        near, far = (node for node in NODES if node != leader)

        for node in (far, near):
            quorum.network.slow(node, leader, 0.3)
            quorum.network.slow(leader, node, 0.3)
            took = [quorum.write(leader, f"{node} is slow, {number}") for number in range(3)]
            if node == far:
                alone = min(took)

        assert alone < 0.3 <= min(took)
        assert quorum.metrics(leader)[EPOCH] == epoch
