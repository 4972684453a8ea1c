"""Trogdor's coordinator and agents as processes on loopback, and the coordinator's REST interface."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from simulations.chaos.ports import free_ports
from tests.interop.stock import LOG4J2, SMALL, cache
from tools.kraftctl.run.stock_brokers import fetch_jars

HERE = Path(__file__).parent
VERSION = "4.3.1"
# The agents: of the clients and the commands, and of the faults.
CLIENTS, FAULTS = "clients", "faults"
COORDINATOR = "coordinator"
START_S = 60.0
POLL_S = 0.5
# An agent finds the process to stop in what `jcmd` lists. Controllers of ours are no JVMs: this one adds them.
JCMD = """\
#!/bin/sh
{jcmd} "$@"
pgrep -a -f '{controllers}' || true
"""


class Trogdor:
    """A coordinator with two agents. directory: gets their files; controllers: a pattern of the properties files of the
    controllers, which may be stopped as JVMs may.
    """

    def __init__(self, directory: Path, controllers: str) -> None:
        self._jars = cache().with_name("trogdor") / VERSION
        fetch_jars((HERE / "pom.xml").read_text(), VERSION, self._jars)
        directory.mkdir()
        self._directory = directory
        self._ports = dict(zip((CLIENTS, FAULTS, COORDINATOR), free_ports(3), strict=True))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        (directory / "log4j2.properties").write_text(LOG4J2.format(level="INFO", target="SYSTEM_OUT"))
        (directory / "trogdor.json").write_text(json.dumps(configuration(self._ports)))
        commands = directory / "bin"
        commands.mkdir()
        (commands / "jcmd").write_text(JCMD.format(jcmd=shutil.which("jcmd"), controllers=controllers))
        (commands / "jcmd").chmod(0o755)

    def start(self) -> None:
        """Start the agents, and then the coordinator. Raises OSError where one does not answer."""
        for name in (CLIENTS, FAULTS):
            self._launch(name, "agent")
        for name in (CLIENTS, FAULTS):
            self._await_answer(name, "/agent/status")
        self._launch(COORDINATOR, "coordinator")
        self._await_answer(COORDINATOR, "/coordinator/status")

    def _await_answer(self, name: str, path: str) -> None:
        end = time.monotonic() + START_S
        while True:
            try:
                self._ask("GET", path, name=name)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(POLL_S)
            else:
                return

    def create(self, task: str, spec: dict[str, Any]) -> None:
        self._ask("POST", "/coordinator/task/create", {"id": task, "spec": spec})

    def state(self, task: str) -> dict[str, Any]:
        """A task as the coordinator tells it: its `state`, its `status`, and, once it is DONE, its `error`."""
        found: dict[str, Any] = self._ask("GET", f"/coordinator/tasks/{task}")
        return found

    def await_done(self, task: str, seconds: float) -> dict[str, Any]:
        """The last state of a task, which is then removed. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while (found := self.state(task))["state"] != "DONE":
            if time.monotonic() > end:
                raise TimeoutError(f"{task} is {found['state']} after {seconds:.0f} s: {found.get('status')}")
            time.sleep(POLL_S)
        self._ask("DELETE", f"/coordinator/tasks?taskId={task}")
        return found

    def close(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    def errors(self) -> list[str]:
        """What the agents and the coordinator report as an error: a send that failed, a process that was not found."""
        return [
            f"Trogdor, {name}: {line}"
            for name in (CLIENTS, FAULTS, COORDINATOR)
            for line in error_lines((self._directory / f"{name}.log").read_text(errors="replace"))
        ]

    def _launch(self, name: str, role: str) -> None:
        flags = [*SMALL.split(), f"-Dlog4j2.configurationFile={self._directory / 'log4j2.properties'}"]
        command = ["java", *flags, "-cp", f"{self._jars}/*", str(HERE / "Loopback.java"), role]
        environment = {**os.environ, "PATH": f"{self._directory / 'bin'}:{os.environ['PATH']}"}
        with (self._directory / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [*command, str(self._directory / "trogdor.json"), name],
                stdout=log, stderr=log, env=environment, start_new_session=True,
            )  # fmt: skip

    def _ask(self, method: str, path: str, body: Any = None, name: str = COORDINATOR) -> Any:
        """The answer as JSON. Raises OSError, also where the request is refused."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._ports[name]}{path}", method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode(),
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            with error:
                raise OSError(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from error


def configuration(ports: dict[str, int]) -> dict[str, Any]:
    """Trogdor's configuration file. ports: of the agents and the coordinator, by the name of their node."""
    agents = {
        name: {"hostname": "127.0.0.1", "trogdor.agent.port": port}
        for name, port in ports.items()
        if name != COORDINATOR
    }
    # Without its port, the coordinator would look for an agent on its own node, at the default port.
    coordinator = {"hostname": "127.0.0.1", "trogdor.agent.port": 0, "trogdor.coordinator.port": ports[COORDINATOR]}
    return {
        "platform": "org.apache.kafka.trogdor.basic.BasicPlatform",
        "nodes": {**agents, COORDINATOR: coordinator},
    }


def error_lines(log: str) -> list[str]:
    """The errors in a log, but for what a command wrote to stderr: its exit code is the error of its task."""
    return [line for line in log.splitlines() if re.match(r"\[[^]]*\] (ERROR|FATAL) (?!\S+: \(stderr\):)", line)]
