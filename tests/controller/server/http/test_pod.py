"""The ports of Strimzi's Kafka agent, as the operator and the scripts of a pod ask them of a node."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from simulations.chaos.ports import free_ports
from tests.controller.server.processes import await_port, format_directory, free_port, start_command, write_properties
from tests.deploy.strimzi.pods import environment
from tests.deploy.strimzi.rendered import CLUSTER, NAMESPACE, agent_config, pod_name, secrets
from tests.deploy.watched import eventually
from tests.raft.network.certificates import certificate, client_context, needs_openssl
from tests.raft.security.kubernetes_api import KubernetesApi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_openssl

POD = pod_name(1)
OPERATOR = "/O=io.strimzi/CN=cluster-operator"
NO_STATE = (404, "application/json; charset=UTF-8", "Broker state metric not found")


class Pod(NamedTuple):
    """A running node. directory: with its log, and the file of its agent."""

    port: int
    local: int
    directory: Path


@contextlib.contextmanager
def pod(root: Path, agent: str, **keys: str) -> Iterator[Pod]:
    (root / "account").mkdir()
    port, local, listener = free_ports(3)
    keys = {"kraft_agent_port": str(port), "kraft_agent_local_port": str(local), **keys}
    properties = write_properties(root, listener, **keys)
    format_directory(properties)
    (root / "agent.properties").write_text(agent)
    with KubernetesApi(root / "account") as api, (root / "log").open("ab") as log:
        secrets(api, (1,))
        variables = environment(api, root / "agent.properties")
        process = subprocess.Popen(start_command(properties), stdout=log, stderr=log, env=variables)
        try:
            await_port(process, listener)
            yield Pod(port, local, root)
        finally:
            process.kill()
            process.wait()


def get(port: int, path: str, context: ssl.SSLContext | None = None) -> tuple[int, str, str]:
    """Status, content type and body. Raises OSError."""
    opened = (
        http.client.HTTPConnection("localhost", port, timeout=5)
        if context is None
        else http.client.HTTPSConnection("localhost", port, timeout=5, context=context)
    )
    with contextlib.closing(opened):
        opened.request("GET", path)
        answer = opened.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


def test_a_leader_is_ready_and_has_no_state_of_a_broker(tmp_path: Path) -> None:
    operator = client_context(certificate(OPERATOR, ca="cluster-ca"), trusts="cluster-ca")
    with pod(tmp_path, agent_config(POD)) as running:
        eventually(lambda: get(running.local, "/v1/controller-ready/")[0] == 204, "the node leads")

        for port, context in ((running.local, None), (running.port, operator)):
            # The operator and the scripts of a pod ask with a slash at the end.
            for path in ("/v1/broker-state/", "/v1/broker-state", "/v1/ready/"):
                assert get(port, path, context) == NO_STATE
            for path in ("/v1/controller-ready/", "/v1/controller-ready"):
                assert get(port, path, context) == (204, "application/json; charset=UTF-8", "")
            assert get(port, "/metrics", context)[0] == 404


def test_the_port_of_the_operator_serves_only_clients_of_the_cluster_ca(tmp_path: Path) -> None:
    with pod(tmp_path, agent_config(POD)) as running:
        nobody = client_context(trusts="cluster-ca")
        of_another = client_context(certificate(OPERATOR, ca="another-ca"), trusts="cluster-ca")

        for context in (nobody, of_another):
            with pytest.raises((ssl.SSLError, ConnectionError, http.client.BadStatusLine)):
                get(running.port, "/v1/broker-state/", context)
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            get(running.port, "/v1/broker-state/", client_context(trusts="another-ca"))
        log = (running.directory / "log").read_text()

    assert "it sends no certificate" in log
    assert "kraft.agent.port" in log
    assert "kraft.http.tls" not in log


def test_a_node_without_a_leader_is_not_ready_and_says_its_state(tmp_path: Path) -> None:
    # Two of its three voters do not run.
    voters = ",".join(f"{node_id}@127.0.0.1:{free_port()}" for node_id in (1, 2, 3))
    with pod(tmp_path, agent_config(POD), controller_quorum_voters=voters) as running:
        eventually(lambda: "prospective" in get(running.local, "/v1/controller-ready/")[2], "it asks for votes")

        status, _, body = get(running.local, "/v1/controller-ready/")

    assert status == 503
    assert body in {
        f'{{"error":"controller not ready, current raft state: {state}"}}'
        for state in ("prospective", "prospective-voted", "unattached")
    }


def test_an_agent_without_secrets_serves_in_plain_text(tmp_path: Path) -> None:
    with pod(tmp_path, "# nothing\n") as running:
        assert get(running.port, "/v1/broker-state/") == NO_STATE


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (None, "agent.properties, the file of the Kafka agent in KAFKA_OPTS: No such file or directory"),
        (agent_config("none"), f"kraft.agent.port: Secret none in namespace {NAMESPACE} not found"),
        (
            agent_config(f"{CLUSTER}-trust-bundle"),
            f"Secret {NAMESPACE}/{CLUSTER}-trust-bundle has no certificate and key of a pod or authority",
        ),
    ],
)
def test_a_node_that_cannot_read_what_its_agent_needs_says_why(tmp_path: Path, agent: str | None, reason: str) -> None:
    (tmp_path / "account").mkdir()
    properties = write_properties(tmp_path, free_port())
    format_directory(properties)
    file = tmp_path / "agent.properties"
    if agent is not None:
        file.write_text(agent)

    with KubernetesApi(tmp_path / "account") as api:
        secrets(api, (1,))
        refused = subprocess.run(
            start_command(properties),
            capture_output=True,
            text=True,
            env=environment(api, file),
            timeout=30,
            check=False,
        )

    assert refused.returncode == 1
    assert refused.stderr.strip().splitlines()[-1].endswith(reason)
    assert "PRIVATE KEY" not in refused.stderr + refused.stdout
