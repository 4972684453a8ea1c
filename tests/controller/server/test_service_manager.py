"""What systemd hears from a node: a real process with a real socket, and the parts of it that time decides."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from controller.server.http.watchdog import DISK_S_MAX
from controller.server.service_manager import ServiceManager
from tests.controller.rig import Rig
from tests.controller.server.http.bundle import node_of
from tests.controller.server.processes import free_port, running
from tests.raft.building import prospective

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Manager:
    """The socket of a service manager. environment: what it gives to the process."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.settimeout(30)
        self.environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "600000"}

    def until(self, line: str) -> list[str]:
        """All lines up to the message with this one."""
        found: list[str] = []
        end = time.monotonic() + 30
        while line not in found:
            assert time.monotonic() < end, found
            found += self.socket.recv(4096).decode().split("\n")
        return found


@pytest.fixture(name="manager", params=["path", "abstract"])
def _manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(str(tmp_path / "notify") if request.param == "path" else f"@kraft-test-{os.getpid()}")
    with manager.socket:
        yield manager


def test_a_node_says_that_it_serves_its_role_that_it_lives_and_that_it_stops(
    manager: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in manager.environment.items():
        monkeypatch.setenv(name, value)
    with running(tmp_path, free_port()) as process:
        started = manager.until("STATUS=leader in epoch 1, leader 1")
        alive = manager.until("WATCHDOG=1")
        process.send_signal(signal.SIGTERM)
        stopping = manager.until("STATUS=stopping")
        code = process.wait(20)

    assert started[0] == "READY=1"
    assert started[1].startswith("STATUS=")
    assert started.count("READY=1") == 1
    assert {line.partition("=")[0] for line in started[1:] + alive} <= {"STATUS", "WATCHDOG"}
    assert "STOPPING=1" in stopping
    assert code == 0


class Loop:
    """A clock that the test moves, with the timers that come due."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.timers: list[tuple[float, Any, tuple[Any, ...]]] = []

    def time(self) -> float:
        return self.now_s

    def call_at(self, when_s: float, call: Any, *arguments: Any) -> Any:
        timer = (when_s, call, arguments)
        self.timers.append(timer)
        return SimpleNamespace(cancel=lambda: self.timers.remove(timer))

    def call_later(self, seconds: float, call: Any, *arguments: Any) -> Any:
        return self.call_at(self.now_s + seconds, call, *arguments)

    def run(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while self.timers and (due := min(self.timers, key=lambda timer: timer[0]))[0] <= end_s:
            self.timers.remove(due)
            self.now_s = due[0]
            due[1](*due[2])
        self.now_s = end_s


class Trial:
    """A node that only its loop and its disk make progress in. jobs: of the disk, asked and done."""

    def __init__(self, manager: Manager, **environment: str) -> None:
        self.socket = manager.socket
        self.socket.setblocking(False)
        self.loop = Loop()
        self.jobs = (0, 0)
        self.node: Any = node_of(prospective(), Rig())
        self.node.loop, self.node.storage = self.loop, SimpleNamespace(jobs=lambda: self.jobs)
        self.reports = ServiceManager({**manager.environment, **environment})

    def heard(self) -> list[str]:
        """The lines since the last call."""
        lines: list[str] = []
        with contextlib.suppress(BlockingIOError):
            while True:
                lines += self.socket.recv(4096).decode().split("\n")
        return lines


def test_a_failure_is_a_status_of_one_line(manager: Manager) -> None:
    trial = Trial(manager)
    trial.reports.serving(trial.node)
    trial.reports.close(OSError(28, "No space left\non device"))

    assert trial.heard()[-2:] == ["STOPPING=1", "STATUS=failed: [Errno 28] No space left on device"]
    assert trial.loop.timers == []


def test_a_node_whose_disk_hangs_gives_no_sign_of_life_until_it_writes_again(manager: Manager) -> None:
    trial = Trial(manager, WATCHDOG_USEC="3000000")
    trial.reports.serving(trial.node)
    trial.loop.run(5)
    assert trial.heard().count("WATCHDOG=1") >= 5

    trial.jobs = (2, 1)
    trial.loop.run(DISK_S_MAX + 2)
    trial.heard()
    trial.loop.run(60)
    assert trial.heard() == []

    trial.jobs = (2, 2)
    trial.loop.run(2)
    assert set(trial.heard()) == {"WATCHDOG=1"}
    trial.reports.close(None)


@pytest.mark.parametrize(
    "environment",
    [{"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": ""}, {"WATCHDOG_PID": "1"}],
    ids=str,
)
def test_no_sign_of_life_is_sent_that_the_manager_does_not_expect_of_this_process(
    manager: Manager, environment: dict[str, str]
) -> None:
    trial = Trial(manager, **environment)
    trial.reports.serving(trial.node)
    trial.loop.run(10)

    assert "WATCHDOG=1" not in trial.heard()
    trial.reports.close(None)


def test_a_manager_that_does_not_read_or_is_gone_does_no_harm(tmp_path: Path) -> None:
    manager = Manager(str(tmp_path / "notify"))
    trial = Trial(manager, WATCHDOG_USEC="3000")
    trial.reports.serving(trial.node)
    trial.loop.run(10)
    manager.socket.close()
    trial.loop.run(10)
    trial.reports.stopping()
    trial.reports.close(None)


def test_without_a_manager_nothing_is_opened() -> None:
    reports = ServiceManager({})

    reports.serving(None)  # type: ignore[arg-type]
    reports.stopping()
    reports.close(OSError("x"))

    assert reports._socket is None
