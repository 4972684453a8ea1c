"""The Helm chart: what it renders is what the kustomization of deploy/kubernetes has, and nodes accept its options."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.config.edges import check_edges
from controller.config.node import NodeConfig
from controller.config.served import check_served
from records.release import VERSION
from tests.deploy.checks.kustomized import KUBERNETES, by_kind, overlay_with
from tests.deploy.checks.kustomized import rendered as kustomized
from tools.kraftctl.run.environment import container_properties

CHART = KUBERNETES.parent / "helm" / "kraft-quorum"
CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
# Below the chart's kubeVersion some builds of helm assume a version of their own.
RELEASE = ["demo", str(CHART), "--kube-version", "1.31.0"]
OWN_LABELS = {
    "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart",
    "kraft-quorum/config",
}  # fmt: skip
ALL = {
    "tls": {"secretName": "kraft-tls"},
    "watch": {"enabled": True, "secretName": "kraft-watch", "allow": "CN=inventory"},
    "config": {"metadata.log.segment.bytes": 104857600, "ssl.client.auth": "requested"},
    "zoneKey": "topology.kubernetes.io/zone",
    "storage": {"size": "20Gi", "className": "fast-ssd"},
    "replicas": 5,
    "podLabels": {"team": "metadata"},
    "tolerations": [{"key": "kraft", "operator": "Exists"}],
}

needs_helm = pytest.mark.skipif(shutil.which("helm") is None, reason="helm is not installed")


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["helm", *arguments], capture_output=True, text=True, check=False, timeout=60)


def template(values: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """The chart with these values. --set-json takes one value of the first level at a time."""
    options = [f"--set-json={name}={json.dumps(value)}" for name, value in values.items()]
    return helm("template", *RELEASE, *options)


@cache
def rendered(values: str = "{}") -> str:
    """The manifests with the values of a JSON object beside the cluster id."""
    done = template({"clusterId": CLUSTER_ID, **json.loads(values)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def objects(**values: Any) -> dict[str, Any]:
    return by_kind(rendered(json.dumps(values)))


def plain(value: Any) -> Any:
    """Without what only the chart adds, and without the suffix that kustomize gives to a ConfigMap."""
    if isinstance(value, dict):
        kept = {key: plain(part) for key, part in value.items() if key not in OWN_LABELS}
        return {key: part for key, part in kept.items() if key != "labels" or part}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return re.sub(r"^kraft-controller-[a-z0-9]{10}$", "kraft-controller", value) if isinstance(value, str) else value


def test_the_chart_has_the_version_of_the_release_and_a_schema_of_each_value() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
    assert set(values) == set(schema["properties"]) - {"global"}


def test_each_value_that_a_template_reads_exists() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    read = {
        name for path in (CHART / "templates").iterdir() for name in re.findall(r"\.Values\.([\w.]+)", path.read_text())
    }

    def has(path: str) -> bool:
        found: Any = values
        for part in path.split("."):
            if not isinstance(found, dict) or part not in found:
                return False
            found = found[part]
        return True

    assert [name for name in sorted(read) if not has(name)] == []
    assert {name.partition(".")[0] for name in read} == set(values)


@needs_helm
def test_helm_finds_nothing_wrong_with_it() -> None:
    done = helm("lint", "--strict", str(CHART), "--set", f"clusterId={CLUSTER_ID}")

    assert done.returncode == 0, done.stdout


@needs_helm
def test_without_options_it_renders_what_the_kustomization_has() -> None:
    base = by_kind(kustomized(KUBERNETES / "base"))
    text = rendered(json.dumps({"fullnameOverride": "kraft-controller"}))

    chart = by_kind(text)

    assert chart["ConfigMap"]["data"].pop("CLUSTER_ID") == CLUSTER_ID
    assert {kind: plain(found) for kind, found in chart.items()} == {kind: plain(found) for kind, found in base.items()}


@needs_helm
@pytest.mark.parametrize("values", [{}, ALL], ids=["default", "all"])
def test_every_resource_is_valid_by_its_schema(values: dict[str, Any], tmp_path: Path) -> None:
    manifest = tmp_path / "all.yaml"
    manifest.write_text(rendered(json.dumps(values)))

    command = ["kubernetes-validate", "--strict", "-k", "1.37", str(manifest)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" passed ") == manifest.read_text().count("\nkind: ")


@needs_helm
@pytest.mark.parametrize("node", range(5))
def test_each_node_accepts_the_environment_of_its_pod(node: int) -> None:
    found = objects(**ALL)
    pod = found["StatefulSet"]["spec"]["template"]["spec"]
    container = pod["containers"][0]

    config = NodeConfig(container_properties({**found["ConfigMap"]["data"], "KAFKA_NODE_ID": str(node)}, None))

    check_served(config)
    check_edges(config)
    assert config.warnings == []
    name = found["StatefulSet"]["metadata"]["name"]
    assert config.bootstrap_servers == tuple((f"{name}-{number}.{name}", 9093) for number in range(5))
    assert (config.number("kraft.quorum.bootstrap.expect"), config.flag("kraft.autopilot.leave.on.stop")) == (5, True)
    assert config.number("metadata.log.segment.bytes") == 104857600
    assert config.text("ssl.client.auth") == "requested"
    mounted = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    files = [value for key, value in found["ConfigMap"]["data"].items() if value.startswith("/etc/kraft/")]
    assert {str(Path(file).parent) for file in files} <= mounted.keys()
    assert {volume["name"]: volume["secret"]["secretName"] for volume in pod["volumes"]} == {
        "tls": "kraft-tls", "watch": "kraft-watch",
    }  # fmt: skip
    assert found["Service"]["metadata"]["name"] == name == found["StatefulSet"]["spec"]["serviceName"]


@needs_helm
def test_static_voters_are_those_of_the_component_of_the_kustomization(tmp_path: Path) -> None:
    component = by_kind(kustomized(overlay_with("static-voters", tmp_path)))["ConfigMap"]["data"]

    chart = objects(voters="static", fullnameOverride="kraft-controller")["ConfigMap"]["data"]

    assert chart | {"CLUSTER_ID": ""} == component | {"CLUSTER_ID": ""}
    assert objects(voters="dynamic")["ConfigMap"]["data"] == objects()["ConfigMap"]["data"]


@needs_helm
def test_a_changed_key_changes_the_pods_so_that_they_restart() -> None:
    first, second = objects(), objects(config={"kraft.log.level": "DEBUG"})

    assert (
        first["StatefulSet"]["spec"]["template"]["metadata"]["annotations"]
        != second["StatefulSet"]["spec"]["template"]["metadata"]["annotations"]
    )


@needs_helm
@pytest.mark.parametrize("monitor", ["PodMonitor", "ServiceMonitor"])
def test_a_monitor_is_that_of_the_kustomization(monitor: str) -> None:
    folder = re.sub("(?<=[a-z])(?=[A-Z])", "-", monitor).lower()
    name = monitor[0].lower() + monitor[1:]
    path = KUBERNETES / "components" / folder / f"{folder}.yaml"

    found = objects(fullnameOverride="kraft-controller", **{name: {"enabled": True}})

    assert plain(found[monitor]) | {"metadata": {}} == yaml.safe_load(path.read_text()) | {"metadata": {}}
    assert found[monitor]["spec"]["selector"]["matchLabels"].items() <= found["Service"]["metadata"]["labels"].items()


@needs_helm
@pytest.mark.parametrize(
    ("given", "page"), [("", "docs/runbook.md"), ("https://wiki.example.org/kraft", "https://wiki.example.org/kraft")]
)
def test_the_alerts_are_those_of_prometheus_with_the_address_of_the_runbook(given: str, page: str) -> None:
    groups = yaml.safe_load((KUBERNETES.parent / "prometheus" / "alerts.yaml").read_text())["groups"]

    found = objects(prometheusRule={"enabled": True, "runbookUrl": given})["PrometheusRule"]["spec"]

    for group in groups:
        for alert in group["rules"]:
            url = alert["annotations"]["runbook_url"]
            alert["annotations"]["runbook_url"] = url.replace("docs/runbook.md", page)
    assert found == {"groups": groups}


@needs_helm
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "clusterId is empty: make one with `kafka-storage random-uuid`"),
        ({"clusterId": "short"}, "clusterId"),
        ({"clusterId": CLUSTER_ID, "replicas": 2}, "replicas"),
        ({"clusterId": CLUSTER_ID, "voters": "some"}, "voters"),
        ({"clusterId": CLUSTER_ID, "replica": 3}, "replica"),
        ({"clusterId": CLUSTER_ID, "watch": {"enabled": True}}, "watch.secretName is empty"),
        ({"clusterId": CLUSTER_ID, "prometheusRule": {"runbookUrl": "wiki"}}, "runbookUrl"),
        (
            {"clusterId": CLUSTER_ID, "podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True}},
            "each controller would be scraped twice",
        ),
    ],
)
def test_wrong_values_are_refused_with_the_reason(values: dict[str, Any], said: str) -> None:
    done = template(values)

    assert done.returncode != 0
    assert said in done.stderr
