"""The Kubernetes manifests are valid by the published schemas, and consistent with each other and with the node."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.config.edges import GRPC, check_edges
from controller.config.node import NodeConfig
from controller.config.served import check_served
from controller.config.values.addresses import parse_address
from controller.node.leave_task import LEAVE_S_MAX
from controller.server.start import SHUTDOWN_S_MAX
from tests.deploy.checks.kustomized import KUBERNETES, by_kind, overlay_with, rendered
from tools.kraftctl.run.environment import container_properties

OVERLAY = KUBERNETES / "overlays" / "production"
CONTROLLER = {"app.kubernetes.io/name": "kraft-quorum", "app.kubernetes.io/component": "controller"}


@pytest.fixture(name="found", scope="module")
def _found() -> dict[str, Any]:
    return by_kind(rendered(OVERLAY))


@pytest.mark.parametrize(
    ("directory", "version"),
    [(KUBERNETES / "base", "1.37"), (OVERLAY, "1.31"), (OVERLAY, "1.37")],
    ids=["base", "production-oldest", "production-newest"],
)
def test_every_resource_is_valid_by_its_schema(tmp_path: Path, directory: Path, version: str) -> None:
    manifest = tmp_path / "all.yaml"
    manifest.write_text(rendered(directory))

    done = subprocess.run(
        ["kubernetes-validate", "--strict", "-k", version, str(manifest)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" passed ") == manifest.read_text().count("\nkind: ")


def test_the_manifests_have_each_required_kind(found: dict[str, Any]) -> None:
    assert sorted(found) == [
        "ConfigMap", "Namespace", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount", "StatefulSet",
    ]  # fmt: skip


def test_selectors_match_the_controllers_pods_and_clients_match_by_their_own_label(
    found: dict[str, Any],
) -> None:
    stateful = found["StatefulSet"]["spec"]
    policy = found["NetworkPolicy"]["spec"]

    assert stateful["template"]["metadata"]["labels"] == CONTROLLER
    assert stateful["selector"]["matchLabels"] == CONTROLLER
    assert found["Service"]["spec"]["selector"] == CONTROLLER
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == CONTROLLER
    assert policy["podSelector"]["matchLabels"] == CONTROLLER
    assert [source["podSelector"]["matchLabels"] for source in policy["ingress"][0]["from"]] == [
        CONTROLLER,
        {"kraft-quorum/client": "true"},
    ]


@pytest.mark.parametrize("ordinal", [0, 1, 2])
def test_each_node_accepts_the_environment_of_its_pod(found: dict[str, Any], ordinal: int) -> None:
    stateful = found["StatefulSet"]
    name, service, namespace = (stateful["metadata"][key] for key in ("name", "name", "namespace"))
    container = stateful["spec"]["template"]["spec"]["containers"][0]
    assert (
        container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.labels['apps.kubernetes.io/pod-index']"
    )
    assert container["envFrom"] == [{"configMapRef": {"name": found["ConfigMap"]["metadata"]["name"]}}]

    config = NodeConfig(container_properties({**found["ConfigMap"]["data"], "KAFKA_NODE_ID": str(ordinal)}, None))

    check_served(config)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert config.warnings == []
    assert service == found["Service"]["metadata"]["name"] == stateful["spec"]["serviceName"]
    assert namespace == found["Namespace"]["metadata"]["name"]
    count = stateful["spec"]["replicas"]
    assert config.voters == {}
    assert config.bootstrap_servers == tuple((f"{name}-{each}.{service}", ports["controller"]) for each in range(count))
    assert config.number("kraft.quorum.bootstrap.expect") == count
    assert config.text("kraft.quorum.bootstrap.cluster.id") == found["ConfigMap"]["data"]["CLUSTER_ID"]
    assert config.flag("kraft.autopilot.leave.on.stop")
    assert stateful["spec"]["minReadySeconds"] * 1000 > config.number("kraft.autopilot.stabilization.ms")
    assert stateful["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] / 2 > LEAVE_S_MAX + SHUTDOWN_S_MAX
    assert config.controller_listeners[0].port == ports["controller"]
    assert parse_address(config.text("kraft.http.listener") or "") == ("", ports["http"])
    assert config.metadata_log_dir.startswith(container["volumeMounts"][0]["mountPath"] + "/")
    assert found["ConfigMap"]["data"]["CLUSTER_ID"]


@pytest.fixture(name="watched", scope="module")
def _watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The overlay with the component for the watch service."""
    return by_kind(rendered(overlay_with("watch", tmp_path_factory.mktemp("kubernetes"))))


def test_the_component_for_volumes_of_before_gives_each_pod_static_voters(tmp_path: Path) -> None:
    found = by_kind(rendered(overlay_with("static-voters", tmp_path)))

    config = NodeConfig(container_properties({**found["ConfigMap"]["data"], "KAFKA_NODE_ID": "2"}, None))

    check_served(config)
    assert config.warnings == []
    assert config.voters == {each: (f"kraft-controller-{each}.kraft-controller", 9093) for each in range(3)}
    assert (config.number("kraft.quorum.bootstrap.expect"), config.flag("kraft.autopilot.enable")) == (0, False)


def test_the_watch_component_adds_the_port_the_certificates_and_the_policy(
    watched: dict[str, Any], found: dict[str, Any], tmp_path: Path
) -> None:
    container = watched["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]
    config = NodeConfig(container_properties({**watched["ConfigMap"]["data"], "KAFKA_NODE_ID": "0"}, None))
    (mount,) = [mount for mount in container["volumeMounts"] if mount["name"] == "watch"]

    check_served(config)
    check_edges(config)
    _, port = parse_address(config.text("kraft.grpc.listener") or "")
    files = [config.text(name) or "" for name in (GRPC.certificate, GRPC.key, GRPC.client_ca)]
    assert {str(Path(file).parent) for file in files} == {mount["mountPath"]}
    assert {"name": "watch", "containerPort": port} in container["ports"]
    assert {"name": "watch", "port": port, "targetPort": "watch"} in watched["Service"]["spec"]["ports"]
    assert watched["NetworkPolicy"]["spec"]["ingress"][:-1] == found["NetworkPolicy"]["spec"]["ingress"]
    assert watched["NetworkPolicy"]["spec"]["ingress"][-1]["ports"] == [{"port": "watch", "protocol": "TCP"}]
    manifest = tmp_path / "all.yaml"
    manifest.write_text(yaml.safe_dump_all(watched.values()))
    command = ["kubernetes-validate", "--strict", "-k", "1.37", str(manifest)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_each_probe_requests_its_own_path(found: dict[str, Any]) -> None:
    container = found["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]

    probes = {name: container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}

    assert probes == {
        "startupProbe": {"path": "/startupz", "port": "http"},
        "livenessProbe": {"path": "/livez", "port": "http"},
        "readinessProbe": {"path": "/readyz", "port": "http"},
    }


def test_the_quorum_can_form_and_never_loses_its_majority_to_an_eviction(found: dict[str, Any]) -> None:
    spec = found["StatefulSet"]["spec"]
    pod = spec["template"]["spec"]

    assert spec["podManagementPolicy"] == "Parallel"
    assert found["Service"]["spec"]["clusterIP"] == "None"
    assert found["Service"]["spec"]["publishNotReadyAddresses"] is True
    assert found["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert len(spec["volumeClaimTemplates"]) == 1
    terms = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [term["topologyKey"] for term in terms] == ["kubernetes.io/hostname"]
    assert pod["topologySpreadConstraints"][0]["topologyKey"] == "topology.kubernetes.io/zone"
    assert pod["enableServiceLinks"] is False, "links would be variables that begin with KAFKA_"


def test_the_pod_meets_the_restricted_standard(found: dict[str, Any]) -> None:
    pod = found["StatefulSet"]["spec"]["template"]["spec"]
    container = pod["containers"][0]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert found["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("component", ["pod-monitor", "service-monitor"])
def test_a_monitor_selects_the_controllers_and_gives_them_the_job_of_the_alerts(tmp_path: Path, component: str) -> None:
    overlay = overlay_with(component, tmp_path)
    alerts = (KUBERNETES.parent / "prometheus" / "alerts.yaml").read_text()

    found = by_kind(rendered(overlay))
    of_pods = component == "pod-monitor"
    monitor = found["PodMonitor" if of_pods else "ServiceMonitor"]
    endpoint = monitor["spec"]["podMetricsEndpoints" if of_pods else "endpoints"][0]
    template, service = found["StatefulSet"]["spec"]["template"], found["Service"]
    ports = template["spec"]["containers"][0]["ports"] if of_pods else service["spec"]["ports"]
    job = next(rule["replacement"] for rule in endpoint["relabelings"] if rule["targetLabel"] == "job")

    assert monitor["metadata"].get("namespace") == found["StatefulSet"]["metadata"].get("namespace")
    selected = (template if of_pods else service)["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= selected.items()
    assert endpoint["port"] in {port["name"] for port in ports}
    assert set(re.findall(r'job="([^"]*)"', alerts)) == {job}
