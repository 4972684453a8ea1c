"""A real Prometheus scrapes a real quorum through failovers: the alerts that should fire do, and no others."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from simulations.chaos.quorum import NODES
from tests.controller.server.processes import free_port
from tests.deploy.watched import Watched, eventually, watched

if TYPE_CHECKING:
    from collections.abc import Iterator

ALERTS = Path(__file__).parents[3] / "deploy" / "prometheus" / "alerts.yaml"
SCRAPE = ALERTS.with_name("scrape.yaml")
# All times of the alerts and of the scrapes are divided by this, so that minutes take seconds.
FASTER = 10
SECONDS = {"s": 1, "m": 60}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="Prometheus is not installed: Debian's `prometheus`"),
]


def faster(text: str) -> str:
    """The configuration with every duration (`30s`, `[5m]`) divided."""

    def shorter(found: re.Match[str]) -> str:
        seconds = int(found[2]) * SECONDS[found[3]] // FASTER
        assert seconds >= 1, found[0]
        return f"{found[1]}{seconds}s{found[4]}"

    return re.sub(r"(for: |interval: |\[)(\d+)([sm])(\]|\n)", shorter, text)


class Prometheus:
    """The server that runs in the block of `scraping`."""

    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=5) as answer:
            return json.load(answer)["data"]

    def up(self) -> set[str]:
        """The instances that answer the scrapes."""
        found = self.get("/api/v1/query?query=up")["result"]
        return {sample["metric"]["instance"] for sample in found if sample["value"][1] == "1"}

    def firing(self) -> set[tuple[str, str | None]]:
        """The names of the alerts that fire, with their instance if they have one."""
        alerts = self.get("/api/v1/alerts")["alerts"]
        return {
            (one["labels"]["alertname"], one["labels"].get("instance")) for one in alerts if one["state"] == "firing"
        }


@contextmanager
def scraping(directory: Path, quorum: Watched) -> Iterator[Prometheus]:
    config = yaml.safe_load(faster(SCRAPE.read_text()))
    (job,) = config["scrape_configs"]
    job["static_configs"] = [{"targets": [instance(quorum, node) for node in NODES]}]
    config["global"] = {"evaluation_interval": "1s"}
    (directory / "prometheus.yml").write_text(yaml.safe_dump(config))
    (directory / "alerts.yaml").write_text(faster(ALERTS.read_text()))
    port = free_port()
    command = [
        "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=directory, stdout=log, stderr=log)
    try:
        yield Prometheus(port)
    finally:
        process.kill()
        process.wait()


def instance(quorum: Watched, node: int) -> str:
    return f"127.0.0.1:{quorum.http_ports[node]}"


def test_a_failover_raises_the_alert_on_one_node_and_a_lost_majority_those_on_the_quorum(tmp_path: Path) -> None:
    for name in ("quorum", "prometheus"):
        (tmp_path / name).mkdir()
    with watched(tmp_path / "quorum") as quorum, scraping(tmp_path / "prometheus", quorum) as prometheus:
        seen: set[tuple[str, str | None]] = set()

        def fires(*alerts: tuple[str, str | None]) -> bool:
            """Whether these fire now. Each state that is seen is kept: no other alert may fire in between."""
            found = prometheus.firing()
            seen.update(found)
            return found == set(alerts)

        everyone = {instance(quorum, node) for node in NODES}
        eventually(lambda: prometheus.up() == everyone, "all nodes are scraped")
        # Longer than the longest window of the rules that a healthy quorum could meet.
        time.sleep(12)
        assert fires()

        first = quorum.await_leader()
        quorum.signal(first, signal.SIGKILL)
        eventually(lambda: fires(("KraftControllerDown", instance(quorum, first))), "the alert on the killed leader")
        assert seen == {("KraftControllerDown", instance(quorum, first))}

        second = quorum.await_leader()
        (last,) = set(NODES) - {first, second}
        quorum.signal(second, signal.SIGKILL)
        lost = {
            ("KraftControllerDown", instance(quorum, first)), ("KraftControllerDown", instance(quorum, second)),
            ("KraftNoActiveController", None), ("KraftNoLeaderKnown", instance(quorum, last)),
            ("KraftHighWatermarkStuck", instance(quorum, last)),
        }  # fmt: skip
        eventually(lambda: fires(*lost), "the alerts on the lost majority")
        assert seen == lost

        for node in (first, second):
            quorum.start(node)
        eventually(fires, "all is well again")
        assert seen == lost
