"""The table of metrics contains each of Kafka's, and equals the tables of docs/metrics.md."""

from __future__ import annotations

import re
from pathlib import Path

from controller.server.http.rows import KAFKA, OWN

DOC = (Path(__file__).parents[4] / "docs" / "metrics.md").read_text()

# What a stock controller of 4.0 to 4.4 exports, by bean.
STOCK = {
    "kafka.controller:type=KafkaController,name=": """
        ActiveControllerCount ActiveBrokerCount FencedBrokerCount ControlledShutdownBrokerCount GlobalTopicCount
        GlobalPartitionCount OfflinePartitionsCount PreferredReplicaImbalanceCount MetadataErrorCount
        LastAppliedRecordOffset LastCommittedRecordOffset LastAppliedRecordTimestamp LastAppliedRecordLagMs
        TimedOutBrokerHeartbeatCount EventQueueOperationsStartedCount EventQueueOperationsTimedOutCount
        NewActiveControllersCount ZkMigrationState MigratingZkBrokerCount IgnoredStaticVoters
        TimeSinceLastHeartbeatReceivedMs BrokerRegistrationState
    """,
    "kafka.controller:type=ControllerEventManager,name=": "EventQueueTimeMs EventQueueProcessingTimeMs AvgIdleRatio",
    "kafka.controller:type=ControllerStats,name=": """
        UncleanLeaderElectionsPerSec ElectionFromEligibleLeaderReplicasPerSec
    """,
    "kafka.server:type=MetadataLoader,name=": """
        CurrentMetadataVersion HandleLoadSnapshotCount CurrentControllerId FinalizedLevel AvgIdleRatio
    """,
    "kafka.server:type=SnapshotEmitter,name=": "LatestSnapshotGeneratedBytes LatestSnapshotGeneratedAgeMs",
    "kafka.server:type=ControllerServer,name=": """
        ClusterId yammer-metrics-count linux-disk-read-bytes linux-disk-write-bytes linux-disk-rchar linux-disk-wchar
        linux-disk-syscr linux-disk-syscw linux-disk-cancelled-write-bytes
    """,
    "kafka.server:type=raft-metrics,attribute=": """
        current-state current-leader current-vote current-vote-directory-id current-epoch high-watermark log-end-offset
        log-end-epoch number-unknown-voter-connections number-of-voters number-of-observers uncommitted-voter-change
        election-latency-avg election-latency-max commit-latency-avg commit-latency-max fetch-records-rate
        append-records-rate poll-idle-ratio-avg
    """,
    "kafka.log:type=Log,name=": "LogStartOffset LogEndOffset NumLogSegments Size retentionSizeInPercent",
    "kafka.log:type=LogFlushStats": "",
    "kafka.network:type=RequestMetrics": "",
    "kafka.network:type=Acceptor, Processor, RequestChannel, SocketServer": "",
    "kafka.server:type=socket-server-metrics": "",
    "kafka.server:type=KafkaRequestHandlerPool": "",
    "kafka.server:type=BrokerTopicMetrics, DelayedOperationPurgatory, Fetch, Produce, Request": "",
    "kafka.server:type=node-metrics": "",
    "kafka.server:type=app-info, kafka-metrics-count": "",
    "kafka.server:type=registration-metrics": "",
    "kafka.server:type=plugins,attribute=": """
        acls-total-count authorization-request-rate-per-minute authorization-allowed-rate-per-minute
        authorization-denied-rate-per-minute
    """,
    "kafka.server:type=raft-channel-metrics": "",
    "kafka.server:type=raft-channel-metrics,attribute=": """
        request-total response-total outgoing-byte-total incoming-byte-total
    """,
    "kafka.server:type=broker-metadata-metrics,attribute=": "ignored-static-voters",
}


def section(title: str) -> list[list[str]]:
    """The rows of the table under a heading, as cells."""
    text = DOC.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def test_each_metric_of_kafka_is_served_or_listed_with_the_reason_why_not() -> None:
    stock = {bean + name for bean, names in STOCK.items() for name in (names.split() or [""])}
    left_out = {row[0].strip("`"): row[1] for row in section("Metrics of stock Kafka that are not served")}

    ours = {row.jmx for row in KAFKA}

    assert ours | left_out.keys() == stock
    assert not ours & left_out.keys()
    assert all(left_out.values())


def test_the_documentation_has_each_metric_with_its_kind_and_meaning() -> None:
    kafkas = [[f"`{row.jmx}`", f"`{row.name}`", row.kind, row.meaning] for row in KAFKA]
    own = [[f"`{row.name}`", row.kind, row.meaning] for row in OWN]

    assert section("Kafka's metrics") == kafkas
    assert section("Metrics of kraft-quorum only") == own


def test_names_of_metrics_are_unique_and_only_names_of_counters_end_in_total() -> None:
    rows = (*KAFKA, *OWN)

    names = [row.name for row in rows]

    assert len(set(names)) == len(names)
    assert all(row.name.endswith("_total") == (row.kind == "counter") for row in rows)
