"""The directories, configuration files and processes of a quorum on this machine, for `kraftctl up`."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec

from records.uuids import uuid_text
from tools import kafka

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

HOST = "127.0.0.1"
PORT = 19091
# The HTTP port and the watch service of a node are this much above its Kafka port.
HTTP_PORT_OFFSET, WATCH_PORT_OFFSET = 100, 200
# Keys of a node's file whose values contain ports.
KEYS_WITH_PORTS = (
    "controller.quorum.voters",
    "listeners",
    "advertised.listeners",
    "kraft.http.listener",
    "kraft.grpc.listener",
)
# What the watch service imports: the extra `grpc`.
WATCH_MODULES = ("grpc", "msgpack")
# -P: a module in the working directory is not imported in place of one that is installed.
PYTHON = (sys.executable, "-P")


class PrepareFailed(Exception):
    """The quorum cannot start; the text is one line with the reason and the remedy."""


class LocalQuorum:
    """Controllers under one directory: `node-N/` beside `node-N.properties` and `node-N.log`.

    count: the number of controllers, None for that of the existing files, or 3. port: of node 1, the others have the
    next ones; None for that of the existing files, or 19091.
    """

    def __init__(self, directory: Path, count: int | None, port: int | None) -> None:
        self.directory = directory.resolve()
        self._asked_count = count
        self._asked_port = port
        self.ports: dict[int, int] = {}
        self.cluster_id = ""
        self.has_watch = all(find_spec(name) is not None for name in WATCH_MODULES)

    @property
    def http_ports(self) -> dict[int, int]:
        return {node: port + HTTP_PORT_OFFSET for node, port in self.ports.items()}

    @property
    def watch_ports(self) -> dict[int, int]:
        """Of the watch service; empty where its modules are not installed."""
        return {node: port + WATCH_PORT_OFFSET for node, port in self.ports.items() if self.has_watch}

    def properties_of(self, node: int) -> Path:
        return self.directory / f"node-{node}.properties"

    def load(self) -> None:
        """Read the ports and the cluster id of an existing quorum. Raises PrepareFailed if there is none."""
        self.ports = self._known_ports()
        if not self.ports:
            raise PrepareFailed(f"{self.directory} has no quorum of `kraftctl up`")
        self.cluster_id = self._formatted_cluster_id() or ""

    def prepare(self) -> None:
        """Write or update the configuration files, and format the directories that are not formatted.

        Raises OSError, and PrepareFailed: a port is in use, the directory has another number of nodes, a node cannot
        be formatted.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        known = self._known_ports()
        count = self._asked_count or len(known) or 3
        if known and len(known) != count:
            raise PrepareFailed(
                f"{self.directory} has a quorum of {len(known)} nodes, and --nodes {count} asks for another number; "
                "choose another --dir, or remove this one"
            )
        first = self._asked_port or known.get(1) or PORT
        self.ports = {node: first + node - 1 for node in range(1, count + 1)}
        check_free({f"node {node}": port for node, port in self.ports.items()})
        check_free({f"the page of node {node}": port for node, port in self.http_ports.items()})
        check_free({f"the watch service of node {node}": port for node, port in self.watch_ports.items()})
        self.cluster_id = self._formatted_cluster_id() or _new_cluster_id()
        for node in self.ports:
            path = self.properties_of(node)
            if path.exists():
                self._update(node, known)
            else:
                path.write_text(self._properties(node))
            if not (self.directory / f"node-{node}" / "meta.properties").exists():
                format_directory(path, self.cluster_id)

    def _properties(self, node: int) -> str:
        voters = ",".join(f"{each}@{HOST}:{port}" for each, port in self.ports.items())
        return (
            f"process.roles=controller\nnode.id={node}\ncontroller.quorum.voters={voters}\n"
            f"controller.listener.names=CONTROLLER\nlisteners=CONTROLLER://{HOST}:{self.ports[node]}\n"
            f"listener.security.protocol.map=CONTROLLER:PLAINTEXT\nlog.dirs={self.directory / f'node-{node}'}\n"
            + "".join(f"{line}\n" for line in self._own_listeners(node))
        )

    def _own_listeners(self, node: int) -> list[str]:
        lines = [f"kraft.http.listener={HOST}:{self.http_ports[node]}"]
        return lines + [f"kraft.grpc.listener={HOST}:{port}" for each, port in self.watch_ports.items() if each == node]

    def _known_ports(self) -> dict[int, int]:
        """Node -> the port in `controller.quorum.voters` of the existing file of node 1; empty without a file."""
        with contextlib.suppress(OSError):
            match = re.search(r"(?m)^controller\.quorum\.voters=(.*)$", self.properties_of(1).read_text())
            if match is not None:
                pairs = re.findall(r"(\d+)@[^,]*:(\d+)", match[1])
                return {int(node): int(port) for node, port in pairs}
        return {}

    def _update(self, node: int, known: dict[int, int]) -> None:
        """Replace the old ports in an existing file, and add the keys of the page and of the watch service, which goes
        where its modules are not installed; other lines stay as they are.
        """
        path = self.properties_of(node)
        before = path.read_text()
        new = {str(port): str(self.ports[each]) for each, port in known.items()}
        for offset in (HTTP_PORT_OFFSET, WATCH_PORT_OFFSET):
            new |= {str(port + offset): str(self.ports[each] + offset) for each, port in known.items()}
        lines = []
        for line in before.splitlines():
            key, separator, value = line.partition("=")
            if key.strip() == "kraft.grpc.listener" and not self.has_watch:
                continue
            if key.strip() in KEYS_WITH_PORTS:
                value = re.sub(r"(?<=:)\d+", lambda port: new.get(port[0], port[0]), value)
            lines.append(key + separator + value)
        keys = {line.partition("=")[0].strip() for line in lines}
        lines += [line for line in self._own_listeners(node) if line.partition("=")[0] not in keys]
        after = "\n".join(lines) + "\n"
        if after != before:
            path.write_text(after)

    def _formatted_cluster_id(self) -> str | None:
        for node in self.ports:
            with contextlib.suppress(OSError):
                for line in (self.directory / f"node-{node}" / "meta.properties").read_text().splitlines():
                    if line.startswith("cluster.id="):
                        return line.removeprefix("cluster.id=").strip()
        return None

    def command(self, node: int) -> list[str]:
        """The command line that runs a node."""
        return [*PYTHON, "-m", f"{__package__.removesuffix('.run')}.main", "start", "-c", str(self.properties_of(node))]


def format_directory(properties: Path, cluster_id: str) -> None:
    """Run `kafka-storage format`. Raises PrepareFailed."""
    tool = f"import sys; from {kafka.__name__}.storage import main; sys.exit(main())"
    command = [*PYTHON, "-c", tool, "format", "-t", cluster_id, "-c", str(properties)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PrepareFailed(f"{properties}: {done.stderr.strip() or done.stdout.strip()}")


def check_free(ports: dict[str, int]) -> None:
    """Check the ports. Raises PrepareFailed if another process listens on one. ports: by the name of its use."""
    for use, port in ports.items():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # As a server that is started again: connections of its former process that still close are no obstacle.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except (OSError, OverflowError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not a port"
                raise PrepareFailed(
                    f"port {port} for {use} cannot be used ({reason}); stop the process that listens there, perhaps "
                    "another `kraftctl up`, or choose other ports with --port"
                ) from None


def _new_cluster_id() -> str:
    while True:
        cluster_id = uuid_text(os.urandom(16))
        if not cluster_id.startswith("-"):
            return cluster_id
