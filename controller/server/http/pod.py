"""The ports that Strimzi's operator and its scripts ask in a pod: those of its Kafka agent, and of metrics.

A controller process has no broker state, so the node answers `/v1/broker-state` with status 404, as the agent does
beside a controller of Kafka; the operator then treats the state as unknown. `/v1/controller-ready` answers as Strimzi's
proposal 225 describes, which Strimzi had not accepted by August 2026.
"""

from __future__ import annotations

import ssl
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from controller.config.edges import HTTP
from controller.config.java_metrics import AGENT_LOCAL_PORT, AGENT_PORT
from controller.config.values.addresses import parse_address
from controller.security.edges import Pems, context_of
from controller.server.http.answers import Answer, text
from controller.server.http.metrics import Metrics
from controller.server.http.names import as_agent, as_reporter
from controller.server.http.probes import role_name
from raft.network.security import ListenerSecurity
from raft.security.sessions import Sessions
from records.java.config_error import ConfigError
from records.java.properties import parse_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controller.config.node import NodeConfig
    from controller.node.node import Node
    from controller.server.http.answers import Asked
    from controller.server.http.reading import Reading
    from records.java.java_matching import Program

BROKER_STATE, READY, CONTROLLER_READY = "/v1/broker-state", "/v1/ready", "/v1/controller-ready"
AGENT_JSON = "application/json; charset=UTF-8"
METRICS, HEALTHY = "/metrics", "/-/healthy"
ATTACHED = {"leader", "follower"}


class PodPort(NamedTuple):
    """One of them. name: as the log and errors call it. host: empty for all addresses. security: None without TLS."""

    name: str
    host: str
    port: int
    security: ListenerSecurity | None
    answer: Callable[[Asked], Answer]


def agent_ports(config: NodeConfig, environment: Mapping[str, str], node: Callable[[], Node | None]) -> list[PodPort]:
    """Those of the Kafka agent; none where the pod is not given one. Raises OSError, with one line."""
    path = config.java_metrics.agent
    if path is None:
        return []

    def answer(asked: Asked) -> Answer:
        return agent_answer(asked, node())

    return [
        PodPort(AGENT_PORT, "", config.number(AGENT_PORT), _agent_security(path, environment), answer),
        PodPort(AGENT_LOCAL_PORT, "localhost", config.number(AGENT_LOCAL_PORT), None, answer),
    ]


def metrics_ports(config: NodeConfig, take: Callable[[], Reading | None], now_ms: Callable[[], int]) -> list[PodPort]:
    """Those on which an exporter in Java would serve; none where `kraft.http.listener` has the port already."""
    taken = parse_address(config.text(HTTP.listener) or "")
    return [
        PodPort("metrics", each.host, each.port, None, _metrics_answer(each.allowed, take, now_ms))
        for each in config.java_metrics.metrics
        if taken is None or taken[1] != each.port
    ]


def _metrics_answer(
    allowed: Sequence[Program] | None, take: Callable[[], Reading | None], now_ms: Callable[[], int]
) -> Callable[[Asked], Answer]:
    def read() -> Reading:
        reading = take()
        assert reading is not None
        return reading

    metrics = Metrics(read, as_agent if allowed is None else partial(as_reporter, allowed))

    def answer(asked: Asked) -> Answer:
        if asked.path == HEALTHY:
            return text(200, "Exporter is healthy.")
        if asked.path != METRICS:
            return text(404, f"unknown path; known paths: {METRICS} {HEALTHY}")
        if take() is None:
            return text(503, "the node is starting")
        return Answer(200, *metrics.text(asked.accept, now_ms()))

    return answer


def agent_answer(asked: Asked, node: Node | None) -> Answer:
    """node: None while it starts, when a controller of Kafka has no metrics of its quorum yet."""
    path = asked.path.rstrip("/")
    if path in {BROKER_STATE, READY}:
        return Answer(404, AGENT_JSON, b"Broker state metric not found")
    if path != CONTROLLER_READY:
        return text(404, f"unknown path; known paths: {BROKER_STATE} {READY} {CONTROLLER_READY}")
    if node is None:
        return Answer(404, AGENT_JSON, b'{"error":"raft-metrics MBean not found"}')
    state = role_name(node.replica)
    if state in ATTACHED:
        return Answer(204, AGENT_JSON, b"")
    return Answer(503, AGENT_JSON, b'{"error":"controller not ready, current raft state: %s"}' % state.encode())


def _agent_security(path: str, environment: Mapping[str, str]) -> ListenerSecurity | None:
    """As the agent's file says: a certificate from the Secret of the pod, clients of the authorities of another one."""
    from raft.security.kubernetes import KubernetesProvider

    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as the other files of a configuration
            given = parse_properties(file.read(1 << 20))
    except OSError as error:
        raise OSError(f"{path}, the file of the Kafka agent in KAFKA_OPTS: {error.strerror}") from None
    own, trusted = given.get("sslKeyStoreSecretName"), given.get("sslTrustStoreSecretName")
    if own is None:
        return None
    namespace = f"{given['namespace']}/" if given.get("namespace") else ""
    secrets = KubernetesProvider("Secret", environment)
    try:
        pair = secrets(namespace + own, frozenset((f"{own}.crt", f"{own}.key")))
        authorities = {} if trusted is None else secrets.all_of(namespace + trusted)
    except ConfigError as error:
        raise OSError(f"{AGENT_PORT}: {error}") from None
    certificates = [value for key, value in sorted(authorities.items()) if key.endswith(".crt")]
    if len(pair) < 2 or (trusted is not None and not certificates):
        missing = trusted if len(pair) == 2 else own
        raise OSError(f"{AGENT_PORT}: Secret {namespace}{missing} has no certificate and key of a pod or authority")
    chain, key = (pair[f"{own}.{end}"].encode() for end in ("crt", "key"))
    try:
        return security_of(Pems(chain, key, "\n".join(certificates).encode() if certificates else None))
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise OSError(f"{AGENT_PORT}: Secret {namespace}{own} cannot be used for TLS: {reason}") from None


def security_of(pems: Pems) -> ListenerSecurity:
    """TLS with these certificates. Raises ssl.SSLError or ValueError."""
    contexts, sessions = [context_of(pems)], Sessions()

    def context() -> ssl.SSLContext:
        if sessions.is_full(contexts[0]):
            contexts[0] = context_of(pems)
        return contexts[0]

    return ListenerSecurity(context, sessions.check)
