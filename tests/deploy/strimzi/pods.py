"""The pods of a controller pool as processes on loopback; a start does what the script of Strimzi's image does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, Self

from records.resource_types import ResourceType
from simulations.chaos.ports import free_ports
from tests.controller.server.processes import FORMAT, await_port, resident_kib, start_command
from tests.deploy.strimzi.operator_rules import Entry, Voter
from tests.deploy.strimzi.rendered import (
    NAMESPACE,
    Address,
    agent_config,
    for_a_jvm,
    pod_name,
    secret,
    server_config,
    write_secrets,
)
from tests.raft.network.certificates import authority, chain
from tools.client.admin import Admin
from tools.client.settings import read_file, settings_of
from tools.kafka.configs.config_calls import ConfigResource, describe_configs
from tools.kafka.quorum_calls import describe_quorum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.interop.stock import Stock
    from tests.raft.security.kubernetes_api import KubernetesApi

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
AGENT = "-javaagent:/opt/kafka/libs/kafka-agent.jar"
EXPORTER = "-javaagent:/opt/prometheus-jmx-exporter/jmx_prometheus_javaagent-1.6.0.jar"


class Ports(NamedTuple):
    """Of one pod besides its listener: those of the Kafka agent, and that of the JMX exporter."""

    agent: int
    local: int
    metrics: int


def environment(api: KubernetesApi, agent: Path | None = None, metrics: int | None = None) -> dict[str, str]:
    """The variables of a pod. agent: the file of its Kafka agent; metrics: the port of its JMX exporter."""
    options = "" if agent is None else f"{AGENT}={agent}"
    if metrics is not None:
        options = f"{EXPORTER}=127.0.0.1:{metrics}:/opt/kafka/custom-config/metrics-config.json {options}"
    return {**os.environ, **api.environment, **({"KAFKA_OPTS": options} if options else {})}


def run(api: KubernetesApi, *command: str, agent: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment(api, agent), timeout=60, check=False
    )


def format_pod(api: KubernetesApi, file: Path, metadata_version: str = "4.3-IV0") -> subprocess.CompletedProcess[str]:
    return run(api, "-c", FORMAT, "format", f"-t={CLUSTER_ID}", f"-r={metadata_version}", f"-c={file}", "-g")


def client_security(api: KubernetesApi) -> dict[str, str]:
    """The operator's client, in the form in which Kafka's admin client takes it; its Secret is set."""
    key, certificates = chain("/O=io.strimzi/CN=cluster-operator", ca="cluster-ca", serial=9)
    api.secret(f"{NAMESPACE}/operator", tls_crt=certificates, tls_key=key)
    return {
        "security.protocol": "SSL", "ssl.keystore.type": "PEM", "ssl.truststore.type": "PEM",
        "ssl.keystore.certificate.chain": certificates.decode(), "ssl.keystore.key": key.decode(),
        "ssl.truststore.certificates": (authority("cluster-ca") / "ca.pem").read_text(),
    }  # fmt: skip


class Pods:
    """A context manager, which ends the processes. addresses: by node id; files: the rendered configuration of each.

    stocks: of the pods that run the JVM, the release of Kafka. metadata_version: of the operator, for a format.
    """

    def __init__(
        self, api: KubernetesApi, root: Path, node_ids: Sequence[int], user_configuration: Mapping[str, str]
    ) -> None:
        self.api = api
        # In one call, as two calls may find the same port. A pod has four; spare_ports are for brokers beside them.
        found = free_ports(4 * len(node_ids) + 4)
        by_pod = {node_id: found[4 * number : 4 * number + 4] for number, node_id in enumerate(node_ids)}
        self.spare_ports = found[4 * len(node_ids) :]
        self.addresses = {node_id: Address("localhost", ports[0], "127.0.0.1") for node_id, ports in by_pod.items()}
        self.ports = {node_id: Ports(*ports[1:]) for node_id, ports in by_pod.items()}
        self.files: dict[int, Path] = {}
        self.stocks: dict[int, Stock] = {}
        self.metadata_version = "4.3-IV0"
        self._root = root
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._stack = ExitStack()
        self._client = root / "operator.properties"
        self.client_security = client_security(api)
        self._client.write_text(
            "security.protocol=SSL\nssl.keystore.type=PEM\nssl.truststore.type=PEM\nconfig.providers=strimzisecrets\n"
            "config.providers.strimzisecrets.class=io.strimzi.kafka.KubernetesSecretConfigProvider\n"
            f"ssl.keystore.certificate.chain={secret('operator', 'tls.crt')}\n"
            f"ssl.keystore.key={secret('operator', 'tls.key')}\n"
            f"ssl.truststore.certificates={secret('my-cluster-trust-bundle', 'cluster-ca.crt')}\n"
        )
        for node_id in node_ids:
            (root / pod_name(node_id) / "data-0").mkdir(parents=True)
        self.render(user_configuration)

    def render(self, user_configuration: Mapping[str, str]) -> None:
        """Write the files of all pods, which read them at their next start."""
        for node_id in self.addresses:
            directory = self._root / pod_name(node_id)
            self.files[node_id] = directory / "strimzi.properties"
            ports = self.ports[node_id]
            # A pod has a host of its own, and these keys have the values that Strimzi's agent has.
            own = {"kraft.agent.port": str(ports.agent), "kraft.agent.local.port": str(ports.local)}
            text = server_config(
                node_id, self.addresses, str(directory), metrics="jmx", user_configuration={**user_configuration, **own}
            )
            self.files[node_id].write_text(text)
            self.agent_file(node_id).write_text(agent_config(pod_name(node_id)))

    def start(self, node_id: int) -> None:
        """As the entry script does: format what is not formatted, remove quorum-state, start."""
        file = self.files[node_id]
        formatted = format_pod(self.api, file, self.metadata_version)
        assert formatted.returncode == 0, formatted.stderr
        self.quorum_state(node_id).unlink(missing_ok=True)
        stock = self.stocks.get(node_id)
        with (file.parent / "log").open("ab") as log:
            if stock is None:
                variables = environment(self.api, self.agent_file(node_id), self.ports[node_id].metrics)
                process = subprocess.Popen(start_command(file), stdout=log, stderr=log, env=variables)
            else:
                write_secrets(self.api, self._root / "secrets")
                jvm_file = file.with_name("jvm.properties")
                jvm_file.write_text(for_a_jvm(file.read_text(), self._root / "secrets"))
                process = stock.server(jvm_file, log)
        self._processes[node_id] = process
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        await_port(process, self.addresses[node_id].port, seconds=60)

    def restart(self, node_id: int, stock: Stock | None = None) -> None:
        """As a rolled pod: SIGTERM, and the start of a new one. stock: whether and of which release it is a JVM now."""
        was_jvm = node_id in self.stocks
        process = self._processes[node_id]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == (143 if was_jvm else 0)
        self.stocks.pop(node_id, None)
        if stock is not None:
            self.stocks[node_id] = stock
        self.start(node_id)

    def resident_kib(self, node_id: int) -> int:
        return resident_kib(self._processes[node_id])

    def agent_file(self, node_id: int) -> Path:
        return self.files[node_id].parent / "kafka-agent.properties"

    @property
    def bootstrap(self) -> list[str]:
        return [f"{address.host}:{address.port}" for address in self.addresses.values()]

    def quorum_state(self, node_id: int) -> Path:
        return self.files[node_id].parent / f"data-0/kafka-log{node_id}/__cluster_metadata-0/quorum-state"

    def log(self, node_id: int) -> str:
        return (self.files[node_id].parent / "log").read_text()

    # What the operator asks. The variables of `environment` must be set.

    def admin(self) -> Admin:
        return Admin(settings_of(None, ",".join(self.bootstrap), read_file(str(self._client))))

    def quorum(self) -> tuple[int, list[Voter]]:
        """The leader's id, and all voters."""
        with self.admin() as admin:
            partition, _ = describe_quorum(admin)
        voters = [Voter(each.replica_id, each.last_caught_up_timestamp) for each in partition.current_voters]
        return partition.leader_id, voters

    def configs(self, node_id: int) -> list[Entry]:
        resource = ConfigResource(ResourceType.BROKER, str(node_id))
        with self.admin() as admin:
            found = describe_configs(admin, [resource])[resource]
        assert isinstance(found, tuple), found
        return [Entry(entry.name, entry.value, entry.source) for entry in found]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
