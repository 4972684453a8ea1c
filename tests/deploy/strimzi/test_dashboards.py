"""Strimzi's dashboards and alerts: each name in them is of a metric that a node serves in a pod, or has its reason."""

from __future__ import annotations

import re
import subprocess
import urllib.request
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from simulations.chaos.quorum import free_ports
from tests.controller.config.kubernetes_api import KubernetesApi
from tests.controller.server.processes import FORMAT, await_port, start_command
from tests.deploy.strimzi.dashboards import names_in, stored_names
from tests.deploy.strimzi.pods import CLUSTER_ID, EXPORTER, environment, run
from tests.deploy.strimzi.rendered import Address, secrets, server_config
from tests.deploy.watched import eventually
from tests.raft.network.certificates import needs_openssl

if TYPE_CHECKING:
    from pathlib import Path

# Of names that no controller of ours serves: the beginning of a name -> why.
OF_KUBERNETES = "the kubelet and its container runtime serve it, of each pod, whatever runs there"
OF_THE_JVM = "there is no JVM; `process_…` has memory and CPU of the process"
OF_BROKERS = "brokers serve it: a controller holds no partitions' logs and has no clients that produce or fetch"
ELSEWHERE = {
    "up": "Prometheus makes it at each scrape", "container_": OF_KUBERNETES, "kubelet_": OF_KUBERNETES,
    "jvm_": OF_THE_JVM, "kafka_cluster_partition_": OF_BROKERS, "kafka_log_": OF_BROKERS,
    "kafka_server_brokertopicmetrics_": OF_BROKERS, "kafka_server_replicamanager_": OF_BROKERS,
    "kafka_server_kafkaserver_linux_disk_": "of brokers; a controller's are kafka_server_controllerserver_linux_…",
    "kafka_network_socketserver_networkprocessoravgidle": "one thread serves all: …controllereventmanager_avgidleratio",
    "kafka_server_kafkarequesthandlerpool_": "one thread serves all: …controllereventmanager_avgidleratio",
    "kafka_server_socket_server_metrics_": "connections of this node's listeners are kraft_connections",
}  # fmt: skip


def series(port: int) -> dict[str, list[dict[str, str]]]:
    """Name -> the labels of each sample."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    found: dict[str, list[dict[str, str]]] = {}
    for family in families:
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def served(tmp_path: Path, naming: str) -> dict[str, list[dict[str, str]]]:
    """What a pod serves on its port for metrics, as the operator configures it."""
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
            eventually(lambda: series(metrics), "metrics are served")
            return series(metrics)
        finally:
            process.kill()
            process.wait()


@needs_openssl
@pytest.mark.parametrize("naming", ["exporter", "reporter"])
def test_each_series_of_strimzis_dashboards_and_alerts_is_served_or_has_its_reason(tmp_path: Path, naming: str) -> None:
    wanted = {name for whose, _, name in stored_names() if whose == naming}
    assert len(wanted) > 40, "the names are there"

    found = served(tmp_path, naming)

    missing = {name for name in wanted if name not in found}
    assert [name for name in sorted(missing) if not name.startswith(tuple(ELSEWHERE))] == []
    assert [name for name in sorted(wanted - missing) if name.startswith(tuple(ELSEWHERE))] == [], "no reason is needed"
    of_the_quorum = {name for name in wanted if re.match("kafka_(controller|server_raft)", name)}
    assert len(of_the_quorum - missing) == len(of_the_quorum) == 16
    state = "kafka_server_raftmetrics_current_state"
    if naming == "reporter":
        state = "kafka_server_raft_metrics_current_state_info"
        assert found["kafka_server_controllerserver_clusterid_info"] == [{"ClusterId": CLUSTER_ID}]
    assert [list(labels) for labels in found[state]] == [["current_state"]], "panels are by this label"


def test_names_are_those_of_expressions_without_labels_and_functions() -> None:
    dashboard = r'"expr": "sum(rate(a_b_total{x_y=\"$c_d\"}[5m])) by (k_n) / max by(pod_name)(e_f)", "legend": "g_h"'
    rule = '    - alert: X_Y\n      expr: up{a_b=~".+"} == 0 or absent(i_j)\n'

    assert names_in(dashboard) == {"a_b_total", "e_f"}
    assert names_in(rule) == {"up", "i_j"}
