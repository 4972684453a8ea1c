"""Strimzi's dashboards and alerts: each name in them is of a metric that a node serves in a pod, or has its reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.deploy.strimzi.dashboards import names_in, stored_names
from tests.deploy.strimzi.pods import CLUSTER_ID
from tests.deploy.strimzi.scrape import scrape_pod
from tests.raft.network.certificates import needs_openssl

if TYPE_CHECKING:
    from pathlib import Path

# Of names that no controller of ours serves: the beginning of a name -> why.
OF_KUBERNETES = "the kubelet and its container runtime serve it, of each pod, whatever runs there"
OF_THE_JVM = "there is no JVM; `process_…` has memory and CPU of the process"
OF_BROKERS = "brokers serve it: a controller holds no partitions' logs and has no clients that produce or fetch"
ELSEWHERE = {
    "up": "Prometheus makes it at each scrape", "container_": OF_KUBERNETES, "kubelet_": OF_KUBERNETES,
    "jvm_": OF_THE_JVM, "kafka_cluster_partition_": OF_BROKERS, "kafka_log_logmanager_": OF_BROKERS,
    "kafka_server_brokertopicmetrics_": OF_BROKERS, "kafka_server_replicamanager_": OF_BROKERS,
    "kafka_server_kafkaserver_linux_disk_": "of brokers; a controller's are kafka_server_controllerserver_linux_…",
    "kafka_network_socketserver_networkprocessoravgidle": "one thread serves all: …controllereventmanager_avgidleratio",
    "kafka_server_kafkarequesthandlerpool_": "one thread serves all: …controllereventmanager_avgidleratio",
    "kafka_server_socket_server_metrics_": "connections of this node's listeners are kraft_connections",
}  # fmt: skip


def samples(text: str) -> dict[str, list[dict[str, str]]]:
    """Name -> the labels of each sample."""
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


@needs_openssl
@pytest.mark.parametrize("naming", ["exporter", "reporter"])
def test_each_series_of_strimzis_dashboards_and_alerts_is_served_or_has_its_reason(tmp_path: Path, naming: str) -> None:
    wanted = {name for whose, _, name in stored_names() if whose == naming}
    assert len(wanted) > 40, "the names are there"

    found = samples(scrape_pod(tmp_path, naming))

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
