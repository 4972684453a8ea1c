"""Names of metrics: the rule, with examples from dashboards made for Kafka."""

from __future__ import annotations

import pytest

from controller.server.http.names import (
    COUNTER,
    GAUGE,
    SUMMARY,
    Named,
    as_agent,
    as_reporter,
    exported_name,
    feature_label,
)
from records.java.java_regex import compile_java


@pytest.mark.parametrize(
    ("jmx", "name"),
    [
        (
            "kafka.controller:type=KafkaController,name=ActiveControllerCount",
            "kafka_controller_kafkacontroller_activecontrollercount",
        ),
        (
            "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec",
            "kafka_controller_controllerstats_uncleanleaderelections_total",
        ),
        ("kafka.server:type=raft-metrics,attribute=current-leader", "kafka_server_raftmetrics_current_leader"),
        ("kafka.server:type=MetadataLoader,name=FinalizedLevel", "kafka_server_metadataloader_finalizedlevel"),
        (
            "kafka.server:type=ControllerServer,name=linux-disk-read-bytes",
            "kafka_server_controllerserver_linux_disk_read_bytes",
        ),
    ],
)
def test_a_metric_has_the_name_that_the_jmx_exporter_gives_it(jmx: str, name: str) -> None:
    assert exported_name(jmx) == name


@pytest.mark.parametrize(
    ("jmx", "kind", "named"),
    [
        (
            "kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs", SUMMARY,
            Named("kafka_controller_controllereventmanager_eventqueuetimems", GAUGE),
        ),
        (
            "kafka.server:type=raft-metrics,attribute=commit-latency-max", GAUGE,
            Named("kafka_server_raftmetrics_commit_latency_max_total", COUNTER),
        ),
        (
            "kafka.server:type=raft-metrics,attribute=commit-latency-avg", GAUGE,
            Named("kafka_server_raftmetrics_commit_latency_avg", GAUGE),
        ),
    ],
)  # fmt: skip
def test_a_running_exporter_counts_what_strimzis_rules_take_for_counters(jmx: str, kind: str, named: Named) -> None:
    assert as_agent(jmx, kind) == named


ALL = (compile_java(".*"),)


@pytest.mark.parametrize(
    ("jmx", "kind", "named"),
    [
        (
            "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec", COUNTER,
            Named("kafka_controller_controllerstats_uncleanleaderelectionspersec_total", COUNTER,
                  "UncleanLeaderElectionsPerSec"),
        ),
        (
            "kafka.server:type=raft-metrics,attribute=current-state", GAUGE,
            Named("kafka_server_raft_metrics_current_state", GAUGE, "current_state"),
        ),
        (
            # What Kafka's own library counts is no counter there, and loses the ending of one.
            "kafka.server:type=raft-channel-metrics,attribute=incoming-byte-total", COUNTER,
            Named("kafka_server_raft_channel_metrics_incoming_byte", GAUGE, "incoming_byte_total"),
        ),
        (
            "kafka.server:type=ControllerServer,name=linux-disk-read-bytes", GAUGE,
            Named("kafka_server_controllerserver_linux_disk_read_bytes", GAUGE, "linux_disk_read_bytes"),
        ),
    ],
)  # fmt: skip
def test_a_metric_has_the_name_that_strimzis_reporter_gives_it(jmx: str, kind: str, named: Named) -> None:
    assert as_reporter(ALL, jmx, kind) == named


def test_the_reporter_leaves_out_what_no_pattern_of_its_list_matches_whole() -> None:
    patterns = (compile_java("kafka_server_raft"), compile_java("kafka_controller.*"))

    named = [
        as_reporter(patterns, f"{bean}=x", GAUGE) is not None
        for bean in ("kafka.server:type=raft-metrics,attribute", "kafka.controller:type=KafkaController,name")
    ]

    assert named == [False, True]


def test_a_feature_is_called_as_in_kafkas_jmx() -> None:
    """As a controller of 4.4.0 has them."""
    names = ("metadata.version", "eligible.leader.replicas.version", "group.version")

    assert [feature_label(name) for name in names] == [
        "metadataVersion", "eligibleLeaderReplicasVersion", "groupVersion"
    ]  # fmt: skip
