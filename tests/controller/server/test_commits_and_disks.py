"""Whose disks a commit waits for: those of a majority of the voters, the leader's or not (three real nodes)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import await_port
from tools.kraftctl.run.local_quorum import LocalQuorum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A node whose syncs wait while a file exists: a disk that completes no write for that time.
NODE = """
import os, sys, time
sync = os.fdatasync
def sync_on_a_slow_disk(handle):
    while os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    sync(handle)
os.fdatasync = sync_on_a_slow_disk
from tools.kraftctl.main import main
sys.exit(main(["start", "-c", sys.argv[2]]))
"""


T = TypeVar("T")


class Nodes:
    """Three nodes; the disk of each can be stopped."""

    def __init__(self, directory: Path) -> None:
        self.quorum = LocalQuorum(directory, 3, free_ports_in_a_row(3))
        self.quorum.prepare()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        processes = []
        try:
            for node in self.quorum.ports:
                command = [sys.executable, "-c", NODE, self._mark(node), str(self.quorum.properties_of(node))]
                processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            for process, port in zip(processes, self.quorum.ports.values(), strict=True):
                await_port(process, port)
            yield
        finally:
            for process in processes:
                process.kill()
                process.wait()

    def _mark(self, node: int) -> str:
        return str(self.quorum.directory / f"disk-{node}-is-stopped")

    def stop_disk(self, node: int) -> None:
        with open(self._mark(node), "w"):  # noqa: PTH123 - an empty file
            pass

    def view(self, node: int) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.quorum.http_ports[node]}/quorum", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def await_leader(self) -> int:
        return await_value(lambda: next((n for n in (1, 2, 3) if self.view(n)["node"]["is_active_controller"]), None))


def await_value(ask: Callable[[], T | None]) -> T:
    end = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError):
            if (value := ask()) is not None:
                return value
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    found = Nodes(tmp_path)
    with found.running():
        yield found


def test_commits_go_on_while_the_disk_of_the_leader_completes_nothing(nodes: Nodes) -> None:
    leader = nodes.await_leader()
    nodes.stop_disk(leader)
    epoch = nodes.view(leader)["quorum"]["epoch"]

    address = f"127.0.0.1:{nodes.quorum.ports[leader]}"
    add = ["--entity-type", "brokers", "--entity-default", "--alter", "--add-config", "log.cleaner.threads=2"]
    done = subprocess.run(
        [str(Path(sys.executable).parent / "kafka-configs"), "--bootstrap-controller", address, *add],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.stdout == "Completed updating default config for brokers in the cluster.\n", done.stderr
    view = nodes.view(leader)
    assert (view["node"]["is_active_controller"], view["quorum"]["epoch"]) == (True, epoch)
    assert view["quorum"]["high_watermark"] > view["log"]["durable_end_offset"]


def test_no_commit_goes_on_while_the_disks_of_two_followers_complete_nothing(nodes: Nodes) -> None:
    leader = nodes.await_leader()
    for node in {1, 2, 3} - {leader}:
        nodes.stop_disk(node)

    def durable_past_the_watermark() -> dict[str, Any] | None:
        """Two records that the leader has written by itself, one each 500 ms, and that are not committed."""
        view = nodes.view(leader)
        return view if view["log"]["durable_end_offset"] >= view["quorum"]["high_watermark"] + 2 else None

    before = await_value(durable_past_the_watermark)

    def durable_later() -> dict[str, Any] | None:
        view = nodes.view(leader)
        return view if view["log"]["durable_end_offset"] > before["log"]["durable_end_offset"] else None

    after = await_value(durable_later)

    assert after["quorum"]["high_watermark"] == before["quorum"]["high_watermark"]
