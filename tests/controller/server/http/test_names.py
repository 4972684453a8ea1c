"""Names of metrics: the rule, with examples from dashboards made for Kafka."""

from __future__ import annotations

import pytest

from controller.server.http.names import exported_name


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
