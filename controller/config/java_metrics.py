"""Reporters of metrics and agents of Java that a stock node would run: a warning for each."""

from __future__ import annotations

from controller.config.system_properties import java_agents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.values.node_values import NodeValues

# The one reporter of metrics that is part of Kafka. Its metrics are served without it.
JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter"
LISTENER = "kraft.http.listener"


def ignored_java_metrics(config: NodeValues, environment: Mapping[str, str]) -> list[str]:
    """A line for each reporter in the configuration and each agent in `KAFKA_OPTS`, in their order."""
    instead = f"metrics for Prometheus are served on {LISTENER}"
    if config.values[LISTENER] is None:
        instead += ", which is not set"
    named = []
    for key in ("metric.reporters", "kafka.metrics.reporters"):
        names = config.values[key]
        assert isinstance(names, tuple), (key, names)
        named += [f"{key} names {name}" for name in names if name != JMX_REPORTER]
    named += [f"KAFKA_OPTS has -javaagent:{path}" for path in java_agents(environment)]
    return [f"{what}, which this node cannot run; {instead}" for what in named]
