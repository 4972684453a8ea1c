"""The configuration of a controller as Strimzi's operator renders it: formatted, checked, and served by a quorum of
three processes, whose keys come from an API server on loopback.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.controller.config.kubernetes_api import KubernetesApi
from tests.controller.server.processes import FORMAT, await_port, free_port, start_command
from tests.deploy.strimzi.rendered import NAMESPACE, Address, pod_address, pod_name, secret, secrets, server_config
from tests.raft.network.certificates import chain, needs_openssl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_openssl

NODES = (0, 1, 2)
# As kafka_run.sh calls it.
FORMAT_OPTIONS = ("format", "-t=4L6g3nShT-eMCtK--X86sw", "-r=4.3-IV0")
QUORUM = "import sys; from tools.kafka.metadata_quorum import main; sys.exit(main())"
AGENT = "-javaagent:/opt/kafka/libs/kafka-agent.jar"


@pytest.fixture(name="api")
def _api(tmp_path: Path) -> Iterator[KubernetesApi]:
    (tmp_path / "account").mkdir()
    with KubernetesApi(tmp_path / "account") as api:
        secrets(api, NODES)
        yield api


def environment(api: KubernetesApi) -> dict[str, str]:
    return {**os.environ, **api.environment, "KAFKA_OPTS": f"{AGENT}=/tmp/kafka-agent.properties"}


def run(api: KubernetesApi, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment(api), timeout=60, check=False
    )


def format_pod(api: KubernetesApi, file: Path) -> subprocess.CompletedProcess[str]:
    return run(api, "-c", FORMAT, *FORMAT_OPTIONS, f"-c={file}", "-g")


@pytest.mark.parametrize("metrics", [None, "jmx", "reporter"])
def test_a_rendered_configuration_is_formatted_and_checked(
    api: KubernetesApi, tmp_path: Path, metrics: str | None
) -> None:
    file = tmp_path / "strimzi.properties"
    (tmp_path / "data-0").mkdir()
    addresses = {node_id: pod_address(node_id) for node_id in NODES}
    file.write_text(server_config(1, addresses, str(tmp_path), metrics=metrics))

    formatted, again = format_pod(api, file), format_pod(api, file)
    checked = run(api, *start_command(file)[1:], "--check")

    assert (formatted.returncode, formatted.stderr) == (0, "")
    assert formatted.stdout.endswith(
        f"Formatting metadata directory {tmp_path}/data-0/kafka-log1 with metadata.version 4.3-IV0.\n"
    )
    assert (again.returncode, again.stdout) == (0, "All of the log directories are already formatted.\n")
    assert (checked.returncode, checked.stdout) == (0, f"{file}: node 1 can run with this configuration\n")
    reporters = ["metric.reporters names io.strimzi.", "kafka.metrics.reporters names io.strimzi."]
    lines = [line.removeprefix(f"{file}: ") for line in checked.stderr.splitlines()]
    named = [*(reporters if metrics == "reporter" else []), f"KAFKA_OPTS has {AGENT}, which"]
    assert [line[: len(start)] for line, start in zip(lines, named, strict=True)] == named


def test_a_check_says_that_the_pod_may_not_read_its_secret(api: KubernetesApi, tmp_path: Path) -> None:
    file = tmp_path / "strimzi.properties"
    file.write_text(server_config(1, {1: pod_address(1)}, str(tmp_path)))
    api.readable = set()

    checked = run(api, *start_command(file)[1:], "--check")

    assert checked.returncode == 1
    assert f"Secret {pod_name(1)} in namespace {NAMESPACE}: the service account of this pod may not" in checked.stderr


def test_three_pods_elect_a_leader_and_answer_the_operator(api: KubernetesApi, tmp_path: Path) -> None:
    addresses = {node_id: Address("localhost", free_port(), "127.0.0.1") for node_id in NODES}
    key, certificates = chain("/O=io.strimzi/CN=cluster-operator", ca="cluster-ca", serial=9)
    api.secret(f"{NAMESPACE}/operator", tls_crt=certificates, tls_key=key)
    client = tmp_path / "client.properties"
    client.write_text(
        "security.protocol=SSL\nssl.keystore.type=PEM\nssl.truststore.type=PEM\nconfig.providers=strimzisecrets\n"
        "config.providers.strimzisecrets.class=io.strimzi.kafka.KubernetesSecretConfigProvider\n"
        f"ssl.keystore.certificate.chain={secret('operator', 'tls.crt')}\n"
        f"ssl.keystore.key={secret('operator', 'tls.key')}\n"
        f"ssl.truststore.certificates={secret('my-cluster-trust-bundle', 'cluster-ca.crt')}\n"
    )

    with ExitStack() as stack:
        for node_id in NODES:
            root = tmp_path / pod_name(node_id)
            (root / "data-0").mkdir(parents=True)
            file = root / "strimzi.properties"
            file.write_text(server_config(node_id, addresses, str(root), metrics="jmx"))
            assert format_pod(api, file).returncode == 0
            log = stack.enter_context((root / "log").open("wb"))
            process = subprocess.Popen(start_command(file), stdout=log, stderr=log, env=environment(api))
            stack.callback(process.wait)
            stack.callback(process.kill)
            await_port(process, addresses[node_id].port)
        bootstrap = ",".join(f"localhost:{address.port}" for address in addresses.values())
        end = time.monotonic() + 30
        while True:
            found = run(api, "-c", QUORUM, "--bootstrap-controller", bootstrap, "--command-config", str(client),
                        "describe", "--replication")  # fmt: skip
            roles = sorted(line.split()[-1] for line in found.stdout.splitlines()[1:])
            if roles == ["Follower", "Follower", "Leader"]:
                break
            assert time.monotonic() < end, (found.stdout, found.stderr)

    for node_id in NODES:
        log_text = (tmp_path / pod_name(node_id) / "log").read_text()
        assert f"KAFKA_OPTS has {AGENT}, which this node cannot run" in log_text
        assert "PRIVATE KEY" not in log_text
        assert api.token not in log_text
