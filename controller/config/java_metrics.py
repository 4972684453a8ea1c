"""Reporters of metrics and agents of Java that a stock node would run: a line for each.

In the place of those that Strimzi's operator gives to its pods this node serves the same on the same ports: its Kafka
agent, the JMX exporter of Prometheus, and Strimzi's reporter.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from controller.config.system_properties import java_agents
from records.java.java_regex import PatternError, compile_java

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.values.node_values import NodeValues
    from records.java.java_matching import Program

# The one reporter of metrics that is part of Kafka. Its metrics are served without it.
JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter"
LISTENER = "kraft.http.listener"
# The ports of Strimzi's Kafka agent: for the operator, and for the scripts within the pod.
AGENT_PORT, AGENT_LOCAL_PORT = "kraft.agent.port", "kraft.agent.local.port"
# Strimzi's reporters, of Kafka's two kinds of metrics. Both serve on one port, which either of them opens.
REPORTERS = {
    "io.strimzi.kafka.metrics.prometheus.ServerKafkaMetricsReporter",
    "io.strimzi.kafka.metrics.prometheus.ServerYammerMetricsReporter",
}
REPORTER = "prometheus.metrics.reporter."
# The names of an agent's file in the images of Strimzi and koperator; the JMX exporter is given [HOST:]PORT:FILE.
_KAFKA_AGENT = re.compile(r"kafka-agent[^/]*\.jar")
_EXPORTER = re.compile(r"jmx_prometheus[^/]*\.jar")
_EXPORTER_OPTIONS = re.compile(r"(?:([\w.-]+|\[[^\]]+\]):)?(\d{1,5}):.+")
_REPORTER_LISTENER = re.compile(r"http://\[?([0-9a-zA-Z\-%._:]*)]?:([0-9]{1,5})")


class MetricsPort(NamedTuple):
    """Where metrics are served. host: empty for all addresses. allowed: None for the names of the JMX exporter; for
    those of Strimzi's reporter the patterns of which each must match one.
    """

    host: str
    port: int
    allowed: tuple[Program, ...] | None = None


class JavaMetrics(NamedTuple):
    """What a node serves in the place of Java classes. agent: the properties file of Strimzi's Kafka agent. lines: what
    became of each class.
    """

    agent: str | None
    metrics: tuple[MetricsPort, ...]
    lines: tuple[str, ...]

    @property
    def has_ports(self) -> bool:
        return self.agent is not None or bool(self.metrics)


def java_metrics(config: NodeValues, environment: Mapping[str, str]) -> JavaMetrics:
    """From the reporters in the configuration and the agents in `KAFKA_OPTS`, in their order."""
    instead = f", which this node cannot run; metrics for Prometheus are served on {LISTENER}"
    if config.values[LISTENER] is None:
        instead += ", which is not set"
    agent: str | None = None
    ports: list[MetricsPort] = []
    lines = []
    for key in ("metric.reporters", "kafka.metrics.reporters"):
        names = config.values[key]
        assert isinstance(names, tuple), (key, names)
        for name in names:
            if name in REPORTERS:
                reporter, line = _reporter(config.originals)
                ports += [] if reporter is None or ports else [reporter]
                lines.append(f"{key} names {name}{line}")
            elif name != JMX_REPORTER:
                lines.append(f"{key} names {name}{instead}")
    for path, options in java_agents(environment):
        what, file = f"KAFKA_OPTS has -javaagent:{path}", path.rpartition("/")[2]
        given = _EXPORTER_OPTIONS.fullmatch(options)
        if _KAFKA_AGENT.fullmatch(file) and options:
            agent = options
            served = f"{config.values[AGENT_PORT]} and {config.values[AGENT_LOCAL_PORT]}"
            lines.append(f"{what}: this node answers in its place, on ports {served}")
        elif _EXPORTER.fullmatch(file) and given is not None and int(given[2]) < 1 << 16:
            ports.append(MetricsPort((given[1] or "").strip("[]"), int(given[2])))
            lines.append(f"{what}: this node serves its metrics itself, on port {given[2]}, under Strimzi's names")
        else:
            lines.append(what + instead)
    return JavaMetrics(agent, tuple(ports), tuple(lines))


def _reporter(originals: Mapping[str, str]) -> tuple[MetricsPort | None, str]:
    """The port of Strimzi's reporter, None where it has none, and the rest of the line that the log has about it.

    A value that the reporter would refuse is named in that line: the node starts all the same.
    """
    if originals.get(f"{REPORTER}listener.enable", "true").strip().lower() != "true":
        return None, f", whose port is off ({REPORTER}listener.enable)"
    listener = originals.get(f"{REPORTER}listener", "http://:8080").strip()
    match = _REPORTER_LISTENER.fullmatch(listener)
    if match is None or int(match[2]) >= 1 << 16:
        return None, f": {REPORTER}listener={listener} is not http://[host]:[port], so no metrics are served for it"
    patterns = []
    for pattern in originals.get(f"{REPORTER}allowlist", ".*").split(","):
        try:
            patterns.append(compile_java(pattern.strip()))
        except PatternError as error:
            return None, f": {REPORTER}allowlist has {pattern.strip()}, {error}; no metrics are served for it"
    line = f": this node serves its metrics itself, on port {match[2]}, under the reporter's names"
    return MetricsPort(match[1], int(match[2]), tuple(patterns)), line
