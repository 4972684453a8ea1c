"""Reporters and agents of Java: one line for each, and no refusal."""

from __future__ import annotations

import pytest

from controller.config.java_metrics import JMX_REPORTER, JavaMetrics, MetricsPort
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


REPORTER = "io.strimzi.kafka.metrics.prometheus.ServerKafkaMetricsReporter"
YAMMER = "io.strimzi.kafka.metrics.prometheus.ServerYammerMetricsReporter"
BOTH = {"metric.reporters": REPORTER, "kafka.metrics.reporters": YAMMER}


def test_the_agents_of_a_strimzi_pod_are_ports_of_this_node() -> None:
    served = ": this node serves its metrics itself, on port 9404, under Strimzi's names"
    exporter = "/o/jmx_prometheus_javaagent-1.jar"
    options = f"-javaagent:{exporter}=9404:/a/metrics.json -javaagent:/l/kafka-agent-1.jar=/b"

    found = NodeConfig(NODE | {"kraft.agent.port": "18443"}, {"KAFKA_OPTS": options}).java_metrics

    assert found == JavaMetrics(
        "/b",
        (MetricsPort("", 9404),),
        (
            f"KAFKA_OPTS has -javaagent:{exporter}{served}",
            "KAFKA_OPTS has -javaagent:/l/kafka-agent-1.jar: this node answers in its place, on ports 18443 and 8080",
        ),
    )


def test_the_exporter_of_koperator_is_a_port_of_this_node() -> None:
    found = NodeConfig(NODE, {"KAFKA_OPTS": "-javaagent:/opt/jmx-exporter/jmx_prometheus.jar=9020:/e/config.yaml"})

    assert found.java_metrics.metrics == (MetricsPort("", 9020),)


def test_both_of_strimzis_reporters_open_one_port_for_the_names_of_their_list() -> None:
    given = NODE | BOTH | {
        "prometheus.metrics.reporter.listener": "http://127.0.0.1:9404",
        "prometheus.metrics.reporter.allowlist": "kafka_server.*,kafka_controller.*",
    }  # fmt: skip

    found = NodeConfig(given, {}).java_metrics

    assert [(each.host, each.port, len(each.allowed or ())) for each in found.metrics] == [("127.0.0.1", 9404, 2)]
    line = ": this node serves its metrics itself, on port 9404, under the reporter's names"
    assert found.lines == (f"metric.reporters names {REPORTER}{line}", f"kafka.metrics.reporters names {YAMMER}{line}")


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("listener.enable", "false", ", whose port is off (prometheus.metrics.reporter.listener.enable)"),
        (
            "listener", "9404",
            ": prometheus.metrics.reporter.listener=9404 is not http://[host]:[port], so no metrics are served for it",
        ),
        (
            "allowlist", "kafka.*,a(",
            ": prometheus.metrics.reporter.allowlist has a(, it is no regular expression; no metrics are served for it",
        ),
    ],
)  # fmt: skip
def test_a_reporter_without_a_port_says_why(key: str, value: str, line: str) -> None:
    given = NODE | {"metric.reporters": REPORTER, f"prometheus.metrics.reporter.{key}": value}

    found = NodeConfig(given, {}).java_metrics

    assert (found.metrics, found.lines) == ((), (f"metric.reporters names {REPORTER}{line}",))


@pytest.mark.parametrize("options", ["", "=x", "=70000:/f", "=9404"])
def test_an_exporter_whose_options_are_not_understood_is_not_served(options: str) -> None:
    path = "/o/jmx_prometheus_javaagent.jar"

    found = NodeConfig(NODE, {"KAFKA_OPTS": f"-javaagent:{path}{options}"}).java_metrics

    assert (found.metrics, found.lines) == ((), (f"KAFKA_OPTS has -javaagent:{path}{INSTEAD}, which is not set",))
