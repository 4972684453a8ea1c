"""`kraftctl up`: formats and runs three controllers on loopback, and shows a live table of them until Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from controller import tools
from controller.ctl.quorum import describe_request
from controller.tools.connection import Connection
from records.errors import ApiError
from records.uuids import uuid_text
from records.wire import DecodeError

NODES = (1, 2, 3)
# -P: a module in the working directory is not imported in place of one that is installed.
PYTHON = (sys.executable, "-P")


def run(arguments: list[str]) -> int:
    """Exit code 0 after Ctrl-C or SIGTERM; 1 when a node ends by itself."""
    parser = argparse.ArgumentParser(prog="kraftctl up", description=__doc__)
    parser.add_argument("--data", default="data", metavar="DIR", help="directory of the data (default: ./data)")
    parser.add_argument("--port", type=int, default=19091, help="port of node 1; then the next two (default: 19091)")
    options = parser.parse_args(arguments)
    quorum = Quorum(Path(options.data), options.port)
    try:
        quorum.prepare()
    except (OSError, PrepareFailed) as error:
        print(f"kraftctl up: {error}", file=sys.stderr)
        return 1
    for number in (signal.SIGINT, signal.SIGTERM):
        # SIGINT too: a shell starts background jobs with SIGINT ignored, but `kill -INT` should still stop this one.
        signal.signal(number, _interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        try:
            quorum.start()
            for port in quorum.ports.values():
                print(f"127.0.0.1:{port}", flush=True)
            return quorum.watch()
        finally:
            quorum.stop()
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class PrepareFailed(Exception):
    """A directory could not be formatted."""


class Quorum:
    """Three nodes under one directory: `node-N/` beside `node-N.properties` and `node-N.log`."""

    def __init__(self, data: Path, port: int) -> None:
        self.data = data.resolve()
        self.ports = {node: port + node - 1 for node in NODES}
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def prepare(self) -> None:
        """Write the missing configuration files, and format the directories that are not formatted."""
        self.data.mkdir(parents=True, exist_ok=True)
        voters = ",".join(f"{node}@127.0.0.1:{port}" for node, port in self.ports.items())
        cluster_id = self._cluster_id()
        for node, port in self.ports.items():
            properties = self.data / f"node-{node}.properties"
            if not properties.exists():
                properties.write_text(
                    f"process.roles=controller\nnode.id={node}\ncontroller.quorum.voters={voters}\n"
                    f"controller.listener.names=CONTROLLER\nlisteners=CONTROLLER://127.0.0.1:{port}\n"
                    f"listener.security.protocol.map=CONTROLLER:PLAINTEXT\nlog.dirs={self.data / f'node-{node}'}\n"
                )
            if not (self.data / f"node-{node}" / "meta.properties").exists():
                self._format(properties, cluster_id)

    def _cluster_id(self) -> str:
        """The cluster id of the formatted nodes; a new one if none is formatted."""
        for node in NODES:
            with contextlib.suppress(OSError):
                for line in (self.data / f"node-{node}" / "meta.properties").read_text().splitlines():
                    if line.startswith("cluster.id="):
                        return line.removeprefix("cluster.id=").strip()
        while True:
            found = uuid_text(os.urandom(16))
            if not found.startswith("-"):
                return found

    def _format(self, properties: Path, cluster_id: str) -> None:
        tool = f"import sys; from {tools.__name__}.storage import main; sys.exit(main())"
        command = [*PYTHON, "-c", tool, "format", "-t", cluster_id, "-c", str(properties)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PrepareFailed(f"{properties}: {done.stderr.strip() or done.stdout.strip()}")

    def start(self) -> None:
        for node in NODES:
            with (self.data / f"node-{node}.log").open("ab") as log:
                properties = str(self.data / f"node-{node}.properties")
                command = [*PYTHON, "-m", f"{__package__}.main", "start", "-c", properties]
                # In a session of its own: Ctrl-C goes to this process only, which then stops its nodes with SIGTERM.
                self.processes[node] = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )

    def stop(self) -> None:
        """Send SIGTERM to each node, and after 8 s SIGKILL to those that still run."""
        for process in self.processes.values():
            process.terminate()
        end = time.monotonic() + 8
        for process in self.processes.values():
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def watch(self) -> int:
        """Show the quorum until a node exits, which is an error."""
        if sys.stdout.isatty():
            from rich.live import Live

            with Live(refresh_per_second=4, transient=False) as live:
                while not (gone := self._gone()):
                    live.update(self._table())
                    time.sleep(0.5)
        else:
            printed = ""
            while not (gone := self._gone()):
                line = self._line()
                if line != printed:
                    print(line, flush=True)
                    printed = line
                time.sleep(0.5)
        for node in gone:
            print(f"kraftctl up: node {node} exited: {self._exit_reason(node)}", file=sys.stderr)
        return 1

    def _exit_reason(self, node: int) -> str:
        """Why a process exited: the signal that killed it, or the last line of its log."""
        code = self.processes[node].returncode
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        last = (self.data / f"node-{node}.log").read_text(errors="replace").strip().splitlines()
        return last[-1] if last else "its log is empty"

    def _gone(self) -> list[int]:
        return [node for node, process in self.processes.items() if process.poll() is not None]

    def _describe(self) -> tuple[int, Any]:
        """The active controller and its description of the quorum; (0, None) while there is none."""
        for node, port in self.ports.items():
            with contextlib.suppress(OSError, ApiError, DecodeError):
                with Connection("127.0.0.1", port, "kraftctl-up", seconds=1.0) as connection:
                    answer = connection.ask(describe_request())
                found = answer.topics[0].partitions[0]
                if not found.error_code and found.leader_id == node:
                    return node, found
        return 0, None

    def _line(self) -> str:
        leader, found = self._describe()
        return f"leader: node {leader}, epoch {found.leader_epoch}" if leader else "no leader"

    def _table(self) -> Any:
        from rich.table import Table

        leader, found = self._describe()
        title = (
            f"leader: node {leader}, epoch {found.leader_epoch}, high watermark {found.high_watermark}"
            if leader
            else "no leader"
        )
        table = Table("node", "address", "process", "role", "log end", "lag", title=title, title_justify="left")
        voters = {voter.replica_id: voter for voter in found.current_voters} if leader else {}
        end = voters[leader].log_end_offset if leader else 0
        for node, port in self.ports.items():
            voter = voters.get(node)
            address, pid = f"127.0.0.1:{port}", str(self.processes[node].pid)
            if voter is None or voter.log_end_offset < 0:
                table.add_row(str(node), address, pid, "unknown", "-", "-")
                continue
            role = "leader" if node == leader else "follower"
            table.add_row(str(node), address, pid, role, str(voter.log_end_offset), str(end - voter.log_end_offset))
        if leader:
            for observer in found.observers:
                table.add_row(
                    str(observer.replica_id), "", "", "observer", str(observer.log_end_offset),
                    str(end - observer.log_end_offset),
                )  # fmt: skip
        return table
