"""Reporters and agents of Java: one line for each, and no refusal."""

from __future__ import annotations

from controller.config.java_metrics import JMX_REPORTER
from controller.config.node import NodeConfig

NODE = {
    "process.roles": "controller", "node.id": "7", "controller.quorum.voters": "7@localhost:9093",
    "controller.listener.names": "CONTROLLER", "listeners": "CONTROLLER://localhost:9093", "log.dirs": "data",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
}  # fmt: skip
INSTEAD = ", which this node cannot run; metrics for Prometheus are served on kraft.http.listener"


def test_each_reporter_and_agent_is_named_once_without_its_options() -> None:
    given = NODE | {
        "metric.reporters": f"{JMX_REPORTER},a.Reporter", "kafka.metrics.reporters": "a.Yammer",
        "prometheus.metrics.reporter.listener": "http://:9404", "kraft.http.listener": "127.0.0.1:9404",
    }  # fmt: skip

    config = NodeConfig(given, {"KAFKA_OPTS": "-Da=b -javaagent:/opt/agent.jar=password=hush"})

    assert config.warnings == [
        "metric.reporters names a.Reporter" + INSTEAD,
        "kafka.metrics.reporters names a.Yammer" + INSTEAD,
        "KAFKA_OPTS has -javaagent:/opt/agent.jar" + INSTEAD,
    ]


def test_without_a_port_for_metrics_the_line_says_so() -> None:
    config = NodeConfig(NODE | {"metric.reporters": "a.Reporter"}, {})

    assert config.warnings == [f"metric.reporters names a.Reporter{INSTEAD}, which is not set"]


def test_the_reporter_of_kafka_itself_needs_no_line() -> None:
    assert NodeConfig(NODE | {"metric.reporters": JMX_REPORTER}, {}).warnings == []
