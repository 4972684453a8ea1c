"""The HTTP port of a real node, from its start to its end."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families as families

from controller.server.http.names import COUNTER
from controller.server.http.rows import KAFKA, OWN
from tests.controller.server.processes import (
    format_directory,
    free_port,
    run_to_end,
    running,
    write_properties,
)
from tests.deploy.watched import eventually

if TYPE_CHECKING:
    from pathlib import Path

# A quorum of one has no brokers, so there are no metrics of brokers.
WITHOUT_SAMPLES = {
    "kafka_controller_kafkacontroller_timesincelastheartbeatreceivedms",
    "kafka_controller_kafkacontroller_brokerregistrationstate",
    "kraft_autopilot_unhealthy_voters",  # nor is its autopilot on
    "kraft_audit_lines_lost",  # this node has no audit log
}


def get(port: int, path: str, accept: str = "") -> tuple[str, str]:
    """Content type and body; raises OSError for a status that is not 200."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        error.close()
        raise


def test_a_node_serves_each_path(tmp_path: Path) -> None:
    port = free_port()
    keys = {
        "authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super_users": "User:ANONYMOUS",
    }
    with running(tmp_path, free_port(), kraft_http_listener=f"127.0.0.1:{port}", **keys):
        eventually(lambda: get(port, "/readyz"), "the node is ready")

        for path in ("/livez", "/startupz", "/readyz"):
            checks = json.loads(get(port, path)[1])["checks"]
            assert all(check["ok"] and check["reason"] for check in checks)
        view = json.loads(get(port, "/quorum")[1])
        text_type, text = get(port, "/metrics")
        open_type, open_text = get(port, "/metrics", "application/openmetrics-text; version=1.0.0; charset=utf-8")

    assert view["node"]["role"] == "leader"
    assert view["config"]["kraft.http.listener"] == f"127.0.0.1:{port}"
    assert text_type == "text/plain; version=0.0.4; charset=utf-8"
    assert open_type.startswith("application/openmetrics-text; version=1.0.0")
    wanted = {row.name: row.kind for row in (*KAFKA, *OWN)}
    for found in (list(families(text)), list(open_metrics_families(open_text))):
        kinds = {family.name + ("_total" if family.type == COUNTER else ""): family.type for family in found}
        assert {name: kinds.get(name) for name in wanted} == wanted
        silent = {family.name for family in found if not family.samples}
        assert silent <= WITHOUT_SAMPLES
    tags = 'class="StandardAuthorizer",config="authorizer.class.name",role="controller"'
    assert f"kafka_server_plugins_acls_total_count{{{tags}}} 0.0" in text
    assert 'kafka_server_metadataloader_finalizedlevel{featureName="metadataVersion"}' in text
    assert any(family.name == "process_resident_memory_bytes" for family in families(text))


def test_a_port_in_use_is_reported_in_one_line_before_the_log_is_opened(tmp_path: Path) -> None:
    taken = free_port()
    first = tmp_path / "first"
    first.mkdir()
    with running(first, taken):
        properties = write_properties(tmp_path, free_port(), kraft_http_listener=f"127.0.0.1:{taken}")
        format_directory(properties)

        refused = run_to_end(properties)

    assert refused.returncode == 1
    assert (
        refused.stderr.strip()
        .splitlines()[-1]
        .endswith(f"kraft.http.listener cannot listen on 127.0.0.1:{taken}: Address already in use")
    )
    assert not list((tmp_path / "data" / "__cluster_metadata-0").glob("*.log"))


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "a" * 70])
def test_an_unknown_host_is_reported_in_one_line(tmp_path: Path, host: str) -> None:
    properties = write_properties(tmp_path, free_port(), kraft_http_listener=f"{host}:9644")
    format_directory(properties)

    refused = run_to_end(properties)

    assert refused.returncode == 1
    assert f"kraft.http.listener cannot listen on {host}:9644: " in refused.stderr.strip().splitlines()[-1]
    assert "Unknown error" not in refused.stderr


def test_a_node_without_the_port_does_not_import_it() -> None:
    code = "import sys, controller.server.start; print(' '.join(sys.modules))"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"h11", "http.server", "controller.server.http.port"} & set(loaded)


def test_the_port_imports_no_other_server_and_no_archives() -> None:
    """These modules would take 3 MiB of a node's memory."""
    code = "import sys, controller.server.start, controller.server.http.port; print(' '.join(sys.modules))"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"prometheus_client", "http.server", "http.client", "email", "tempfile", "zipfile"} & set(loaded)
