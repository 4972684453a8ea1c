"""Three real nodes with HTTP ports, behind the network of `simulations.chaos`, which can cut them off."""

from __future__ import annotations

import json
import signal
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prometheus_client.parser import text_string_to_metric_families

from simulations.chaos.ports import free_ports
from simulations.chaos.quorum import NODES, Quorum
from tests.http_answers import http_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Watched(Quorum):
    """A quorum with an HTTP port on each node. http_ports: by node; own: settings of one node alone, by node."""

    def __init__(
        self, directory: Path, settings: dict[str, str] | None = None, own: dict[int, dict[str, str]] | None = None
    ) -> None:
        super().__init__(directory, settings)
        self.http_ports = dict(zip(NODES, free_ports(len(NODES)), strict=True))
        for node, port in self.http_ports.items():
            with self._properties(node).open("a") as properties:
                properties.write(f"kraft.http.listener=127.0.0.1:{port}\n")
                properties.writelines(f"{key}={value}\n" for key, value in (own or {}).get(node, {}).items())

    def cut_off(self, node: int) -> None:
        """Drop all traffic between this node and the others."""
        for other in NODES:
            if other != node:
                self.network.cut(node, other)
                self.network.cut(other, node)

    def await_leader(self) -> int:
        """The leader, once a node reports that it leads: on a busy machine this takes some time."""
        eventually(self.leader, "a leader")
        return self.leader() or self.await_leader()

    def get(self, node: int, path: str) -> tuple[int, str]:
        """Status and body. Raises OSError if the node does not answer."""
        return http_answer(f"http://127.0.0.1:{self.http_ports[node]}{path}", 3)

    def status(self, node: int, path: str) -> int:
        """The status of the response; 0 if there is none."""
        try:
            return self.get(node, path)[0]
        except OSError:
            return 0

    def view(self, node: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get(node, "/quorum")[1])
        return found

    def live_view(self, node: int) -> dict[str, Any]:
        """The view that the node's page shows: the first among its server-sent events."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_ports[node]}/events", timeout=5) as events:
            for line in events:
                if line == b"event: view\n":
                    found: dict[str, Any] = json.loads(events.readline().removeprefix(b"data: "))
                    return found
        raise ConnectionError("the events ended")

    def failed_checks(self, node: int) -> set[str]:
        """The names of the checks of readiness that fail."""
        return {check["check"] for check in json.loads(self.get(node, "/readyz")[1])["checks"] if not check["ok"]}

    def metrics(self, node: int) -> dict[str, float]:
        """The samples without labels, by name."""
        families = text_string_to_metric_families(self.get(node, "/metrics")[1])
        return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}

    def said(self, node: int) -> str:
        """The node's log."""
        return (self.directory / f"node-{node}.log").read_text()

    def are_ready(self, *nodes: int) -> bool:
        return all(self.status(node, "/readyz") == 200 for node in nodes)

    def await_ready(self, *nodes: int) -> None:
        try:
            eventually(lambda: self.are_ready(*nodes), f"nodes {nodes} are ready")
        except AssertionError as error:
            # The directory is removed with the test.
            logs = (
                f"node {node}, exit code {process.poll()}: {self.said(node)[-2000:]}"
                for node, process in self.processes.items()
            )
            raise AssertionError("\n".join((str(error), *logs))) from None


@contextmanager
def watched(
    directory: Path, settings: dict[str, str] | None = None, own: dict[int, dict[str, str]] | None = None
) -> Iterator[Watched]:
    """Three ready nodes; they are stopped when the block ends."""
    quorum = Watched(directory, settings, own)
    try:
        for node in NODES:
            quorum.start(node)
        quorum.await_ready(*NODES)
        yield quorum
    finally:
        # Not by SIGTERM: without a majority the last two would wait to hand leadership over.
        for node in list(quorum.processes):
            quorum.signal(node, signal.SIGKILL)
        quorum.close()


def eventually(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Wait until the condition holds. OSErrors count as not yet."""
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.05)
