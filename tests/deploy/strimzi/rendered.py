"""The `server.config` of a controller as Strimzi's cluster operator of August 2026 renders it, and the Secrets that it
names.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, NamedTuple

from tests.raft.network.certificates import authority, chain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.raft.security.kubernetes_api import KubernetesApi

NAMESPACE, CLUSTER = "kafka", "my-cluster"
JMX = "org.apache.kafka.common.metrics.JmxReporter"
STRIMZI_REPORTER = "io.strimzi.kafka.metrics.prometheus.ServerKafkaMetricsReporter"
STRIMZI_YAMMER_REPORTER = "io.strimzi.kafka.metrics.prometheus.ServerYammerMetricsReporter"


class Address(NamedTuple):
    """Where a controller is reached. bind: where it listens."""

    host: str
    port: int = 9090
    bind: str = "0.0.0.0"


def pod_name(node_id: int, pool: str = "controllers") -> str:
    return f"{CLUSTER}-{pool}-{node_id}"


def pod_address(node_id: int) -> Address:
    return Address(f"{pod_name(node_id)}.{CLUSTER}-kafka-brokers.{NAMESPACE}.svc.cluster.local")


def secrets(api: KubernetesApi, node_ids: tuple[int, ...], pool: str = "controllers", *, renewal: int = 0) -> None:
    """Set the Secrets of the pods of a pool and of the cluster's authorities. renewal: another one is another key."""
    ca = (authority("cluster-ca") / "ca.pem").read_bytes()
    api.secret(f"{NAMESPACE}/{CLUSTER}-trust-bundle", **{"cluster-ca_crt": ca, "clients-ca_crt": ca})
    api.secret(f"{NAMESPACE}/{CLUSTER}-cluster-ca-cert", ca_crt=ca)
    for node_id in node_ids:
        serial = node_id + 1000 * renewal
        key, certificates = chain(f"/O=io.strimzi/CN={CLUSTER}-kafka", ca="cluster-ca", serial=serial)
        name = pod_name(node_id, pool)
        api.secret(f"{NAMESPACE}/{name}", **{f"{name}_crt": certificates, f"{name}_key": key})


def server_config(
    node_id: int,
    addresses: Mapping[int, Address],
    data: str,
    *,
    metrics: str | None = None,
    quotas: bool = False,
    user_configuration: Mapping[str, str] | None = None,
) -> str:
    """The file. addresses: of all controllers. data: the directory where the pod's volumes are mounted.

    metrics: "jmx" for the JMX exporter, "reporter" for Strimzi's own. quotas: with Strimzi's quotas plugin.
    """
    here, pod, prefix = addresses[node_id], pod_name(node_id), "listener.name.controlplane-9090."
    voters = ",".join(f"{each}@{address.host}:{address.port}" for each, address in sorted(addresses.items()))
    components = ("kafka", "entity-topic-operator", "entity-user-operator", "kafka-exporter", "cruise-control")
    super_users = [f"User:CN={CLUSTER}-{each},O=io.strimzi" for each in components]
    sections: list[tuple[str, list[str]]] = [
        ("Node ID", [f"node.id={node_id}"]),
        (
            "KRaft configuration",
            [
                "process.roles=controller",
                "controller.listener.names=CONTROLPLANE-9090",
                f"controller.quorum.voters={voters}",
            ],
        ),
        ("KRaft metadata log dir configuration", [f"metadata.log.dir={data}/data-0/kafka-log{node_id}"]),
        ("Kafka message logs configuration", [f"log.dirs={data}/data-0/kafka-log{node_id}"]),
        (
            "Control Plane listener",
            [
                f"{prefix}ssl.truststore.certificates={secret(f'{CLUSTER}-trust-bundle', 'cluster-ca.crt')}",
                f"{prefix}ssl.truststore.type=PEM",
                f"{prefix}ssl.keystore.certificate.chain={secret(pod, f'{pod}.crt')}",
                f"{prefix}ssl.keystore.key={secret(pod, f'{pod}.key')}",
                f"{prefix}ssl.keystore.type=PEM",
                f"{prefix}ssl.client.auth=required",
            ],
        ),
        (
            "Common listener configuration",
            [
                "listener.security.protocol.map=CONTROLPLANE-9090:SSL",
                f"listeners=CONTROLPLANE-9090://{here.bind}:{here.port}",
                f"advertised.listeners=CONTROLPLANE-9090://{here.host}:{here.port}",
                "sasl.enabled.mechanisms=",
                "ssl.endpoint.identification.algorithm=HTTPS",
            ],
        ),
        (
            "Authorization",
            [
                "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                f"super.users={';'.join([*super_users, 'User:CN=cluster-operator,O=io.strimzi'])}",
            ],
        ),
    ]
    if quotas:
        static = "client.quota.callback.static."
        rows = [
            "client.quota.callback.class=io.strimzi.kafka.quotas.StaticQuotaCallback",
            f"{static}kafka.admin.bootstrap.servers={CLUSTER}-kafka-brokers:9091",
            f"{static}kafka.admin.security.protocol=SSL",
            f"{static}kafka.admin.ssl.truststore.certificates={secret(f'{CLUSTER}-trust-bundle', 'cluster-ca.crt')}",
            f"{static}kafka.admin.ssl.truststore.type=PEM",
            f"{static}kafka.admin.ssl.keystore.certificate.chain={secret(pod, f'{pod}.crt')}",
            f"{static}kafka.admin.ssl.keystore.key={secret(pod, f'{pod}.key')}",
            f"{static}kafka.admin.ssl.keystore.type=PEM",
            f"{static}produce=1000000.0",
            f"{static}excluded.principal.name.list=User:CN={CLUSTER}-kafka,O=io.strimzi",
        ]
        sections.append(("Quotas configuration", rows))
    if metrics == "reporter":
        reporter = [
            "prometheus.metrics.reporter.listener.enable=true",
            "prometheus.metrics.reporter.listener=http://:9404",
            "prometheus.metrics.reporter.allowlist=.*",
        ]
        sections.append(("Strimzi Metrics Reporter configuration", reporter))
    sections.append(
        (
            "Config providers",
            [
                "# Configuration providers configured by the user and by Strimzi",
                "config.providers=strimzienv,strimzisecrets",
                "config.providers.strimzienv.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider",
                "config.providers.strimzienv.param.allowlist.pattern=.*",
                "config.providers.strimzisecrets.class=io.strimzi.kafka.KubernetesSecretConfigProvider",
            ],
        )
    )
    if metrics is not None:
        name = STRIMZI_REPORTER if metrics == "reporter" else JMX
        sections.append(("metric.reporters configuration", [f"metric.reporters={name}"]))
    if metrics == "reporter":
        sections.append(
            ("kafka.metrics.reporters configuration", [f"kafka.metrics.reporters={STRIMZI_YAMMER_REPORTER}"])
        )
    given = {"min.insync.replicas": "1", **(user_configuration or {})}
    sections.append(("User provided configuration", [f"{key}={value}" for key, value in given.items()]))
    lines = ["##############################", "# Rendered as by the operator", "##############################", ""]
    for title, rows in sections:
        lines += ["##########", f"# {title}", "##########", *rows, ""]
    return "\n".join(lines).strip()


def write_secrets(api: KubernetesApi, directory: Path) -> None:
    """Write each Secret as a directory with a file for each of its keys, for Kafka's DirectoryConfigProvider: Strimzi's
    provider for a JVM is not among the jars here.
    """
    for url, body in api.bodies.items():
        if "/secrets/" in url:
            path = directory / url.rpartition("/")[2]
            path.mkdir(parents=True, exist_ok=True)
            for key, value in json.loads(body)["data"].items():
                (path / key).write_bytes(b64decode(value))


def for_a_jvm(text: str, directory: Path) -> str:
    """The configuration with values from the directories of `write_secrets`."""
    own = "io.strimzi.kafka.KubernetesSecretConfigProvider"
    assert own in text
    found = text.replace(own, "org.apache.kafka.common.config.provider.DirectoryConfigProvider")
    return found.replace(f"${{strimzisecrets:{NAMESPACE}/", f"${{strimzisecrets:{directory}/")


def broker_config(node_id: int, port: int, controllers: Mapping[int, Address], data: str) -> str:
    """That of a broker, with one listener, that of replication, by which the operator asks it."""
    voters = ",".join(f"{each}@{address.host}:{address.port}" for each, address in sorted(controllers.items()))
    pod, lines = pod_name(node_id, "brokers"), []
    for listener in ("controlplane-9090", "replication-9091"):
        prefix = f"listener.name.{listener}."
        lines += [
            f"{prefix}ssl.truststore.certificates={secret(f'{CLUSTER}-trust-bundle', 'cluster-ca.crt')}",
            f"{prefix}ssl.truststore.type=PEM",
            f"{prefix}ssl.keystore.certificate.chain={secret(pod, f'{pod}.crt')}",
            f"{prefix}ssl.keystore.key={secret(pod, f'{pod}.key')}",
            f"{prefix}ssl.keystore.type=PEM",
            f"{prefix}ssl.client.auth=required",
        ]
    super_users = (f"User:CN={CLUSTER}-kafka,O=io.strimzi", "User:CN=cluster-operator,O=io.strimzi")
    return "\n".join([
        f"node.id={node_id}", "process.roles=broker", "controller.listener.names=CONTROLPLANE-9090",
        f"controller.quorum.voters={voters}", *lines,
        "listener.security.protocol.map=CONTROLPLANE-9090:SSL,REPLICATION-9091:SSL",
        f"listeners=REPLICATION-9091://127.0.0.1:{port}", f"advertised.listeners=REPLICATION-9091://localhost:{port}",
        "inter.broker.listener.name=REPLICATION-9091", "ssl.endpoint.identification.algorithm=HTTPS",
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        f"super.users={';'.join(super_users)}", "config.providers=strimzisecrets",
        "config.providers.strimzisecrets.class=io.strimzi.kafka.KubernetesSecretConfigProvider",
        f"log.dirs={data}/data-0/kafka-log{node_id}", "min.insync.replicas=1", "",
    ])  # fmt: skip


def agent_config(pod: str) -> str:
    """The `agent.config` of a pod."""
    rows = (
        f"namespace={NAMESPACE}", f"sslKeyStoreSecretName={pod}", f"sslTrustStoreSecretName={CLUSTER}-cluster-ca-cert"
    )  # fmt: skip
    return "".join(f"{row}\n" for row in ("##########", "# Security configuration", "##########", *rows))


def secret(name: str, key: str) -> str:
    return f"${{strimzisecrets:{NAMESPACE}/{name}:{key}}}"
