"""What the controller's own rules take from the node's configuration (`KafkaConfig`), under Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Settings:
    """Times in milliseconds but where the name says otherwise. Defaults are those of Kafka 4.3.

    metadata_max_idle_interval_ms: 0 for no NoOp records. metadata_log_max_snapshot_interval_ms: 0 for none by time.
    metadata_max_batch_size_in_bytes: of one record batch. min_insync_replicas: from the static file.
    """

    broker_session_timeout_ms: int = 9000
    broker_heartbeat_interval_ms: int = 2000
    default_replication_factor: int = 1
    num_partitions: int = 1
    delete_topic_enable: bool = True
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_seconds: int = 300
    unclean_leader_election_interval_ms: int = 300_000
    min_insync_replicas: int = 1
    metadata_max_idle_interval_ms: int = 500
    metadata_log_max_record_bytes_between_snapshots: int = 20_971_520
    metadata_log_max_snapshot_interval_ms: int = 3_600_000
    metadata_max_batch_size_in_bytes: int = 8_388_608
