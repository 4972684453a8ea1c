"""The configuration of a controller as Strimzi's operator renders it is formatted and checked; its keys come from an
API server on loopback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import start_command
from tests.deploy.strimzi.pods import AGENT, format_pod, run
from tests.deploy.strimzi.rendered import NAMESPACE, pod_address, pod_name, secrets, server_config
from tests.raft.network.certificates import needs_openssl
from tests.raft.security.kubernetes_api import KubernetesApi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_openssl

NODES = (0, 1, 2)


@pytest.fixture(name="api")
def _api(tmp_path: Path) -> Iterator[KubernetesApi]:
    (tmp_path / "account").mkdir()
    with KubernetesApi(tmp_path / "account") as api:
        secrets(api, NODES)
        yield api


@pytest.mark.parametrize("metrics", [None, "jmx", "reporter"])
def test_a_rendered_configuration_is_formatted_and_checked(
    api: KubernetesApi, tmp_path: Path, metrics: str | None
) -> None:
    file = tmp_path / "strimzi.properties"
    (tmp_path / "data-0").mkdir()
    addresses = {node_id: pod_address(node_id) for node_id in NODES}
    file.write_text(server_config(1, addresses, str(tmp_path), metrics=metrics, quotas=metrics == "reporter"))

    formatted, again = format_pod(api, file), format_pod(api, file)
    checked = run(api, *start_command(file)[1:], "--check", agent=tmp_path / "kafka-agent.properties")

    assert (formatted.returncode, formatted.stderr) == (0, "")
    assert formatted.stdout.endswith(
        f"Formatting metadata directory {tmp_path}/data-0/kafka-log1 with metadata.version 4.3-IV0.\n"
    )
    assert (again.returncode, again.stdout) == (0, "All of the log directories are already formatted.\n")
    assert (checked.returncode, checked.stdout) == (0, f"{file}: node 1 can run with this configuration\n")
    reporters = ["metric.reporters names io.strimzi.", "kafka.metrics.reporters names io.strimzi."]
    lines = [line.removeprefix(f"{file}: ") for line in checked.stderr.splitlines()]
    named = [
        *(reporters if metrics == "reporter" else []),
        f"KAFKA_OPTS has {AGENT}: this node answers in its place, on ports 8443 and 8080",
        *(["client.quota.callback.class names io.strimzi."] if metrics == "reporter" else []),
    ]
    assert [line[: len(start)] for line, start in zip(lines, named, strict=True)] == named


def test_a_check_says_that_the_pod_may_not_read_its_secret(api: KubernetesApi, tmp_path: Path) -> None:
    file = tmp_path / "strimzi.properties"
    file.write_text(server_config(1, {1: pod_address(1)}, str(tmp_path)))
    api.readable = set()

    checked = run(api, *start_command(file)[1:], "--check")

    assert checked.returncode == 1
    assert f"Secret {pod_name(1)} in namespace {NAMESPACE}: the service account of this pod may not" in checked.stderr
