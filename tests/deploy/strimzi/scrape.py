"""The metrics of a pod of ours, as the operator configures them."""

from __future__ import annotations

import subprocess
import urllib.request
from typing import TYPE_CHECKING

from records.schema import replace
from simulations.chaos.brokers import heartbeat, registration
from simulations.chaos.ports import free_ports
from tests.controller.server.processes import FORMAT, await_port, start_command
from tests.deploy.strimzi.pods import CLUSTER_ID, EXPORTER, client_security, environment, run
from tests.deploy.strimzi.rendered import Address, secrets, server_config
from tests.deploy.watched import eventually
from tests.raft.security.kubernetes_api import KubernetesApi
from tools.client.admin import Admin
from tools.client.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def scrape_pod(tmp_path: Path, naming: str) -> str:
    """The text of a controller that is alone, with one broker registered. naming: "exporter" or "reporter"."""
    (tmp_path / "account").mkdir()
    (tmp_path / "data-0").mkdir()
    port, metrics = free_ports(2)
    file = tmp_path / "strimzi.properties"
    text = server_config(
        1, {1: Address("localhost", port, "127.0.0.1")}, str(tmp_path),
        metrics="reporter" if naming == "reporter" else "jmx",
    )  # fmt: skip
    file.write_text(text.replace("http://:9404", f"http://127.0.0.1:{metrics}"))
    agent = f"{EXPORTER}=127.0.0.1:{metrics}:/opt/kafka/custom-config/metrics-config.json"
    options = {"KAFKA_OPTS": agent} if naming == "exporter" else {}
    with KubernetesApi(tmp_path / "account") as api:
        secrets(api, (1,))
        formatted = run(api, "-c", FORMAT, "format", f"-t={CLUSTER_ID}", f"-c={file}")
        assert formatted.returncode == 0, formatted.stderr
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen(start_command(file), stdout=log, stderr=log, env={**environment(api), **options})
        try:
            await_port(process, port)
            eventually(lambda: _get(metrics), "metrics are served")
            security = client_security(api)
            eventually(lambda: _register(port, security), "the controller is active")
            eventually(lambda: "timesincelastheartbeatreceivedms{" in _get(metrics), "a broker is alive")
            return _get(metrics)
        finally:
            process.kill()
            process.wait()


def _get(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
    return text


def _register(port: int, security: Mapping[str, str]) -> bool:
    """Register a broker, which sends one heartbeat. Whether it is done."""
    here = ("localhost", port)
    with Admin(settings_of(None, f"localhost:{port}", security)) as admin:
        answer = admin.ask_once(here, replace(registration(7), cluster_id=CLUSTER_ID))
        if answer.error_code:
            return False
        return bool(admin.ask_once(here, heartbeat(7, answer.broker_epoch)).error_code == 0)
