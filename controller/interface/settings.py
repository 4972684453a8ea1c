"""The settings that the controller's rules use from the node's configuration (`KafkaConfig`), under Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controller.config.plugins import has_static_quotas

if TYPE_CHECKING:
    from controller.config.node import NodeConfig

UNLIMITED = 2**31 - 1


@dataclass(slots=True)
class Settings:
    """Times in milliseconds unless the name says otherwise. Defaults are those of Kafka 4.3.

    metadata_max_idle_interval_ms: 0 for no NoOp records. metadata_log_max_snapshot_interval_ms: 0 for none by time.
    metadata_max_batch_size_in_bytes: of one record batch. min_insync_replicas, unclean_leader_election_enable: from the
    static file, for topics that no dynamic config sets. delegation_token_secret_key: None where there are no delegation
    tokens. delegation_tokens_max, delegation_tokens_owner_max: how many tokens there may be, and of one owner.
    has_static_quotas: no `controller_mutation_rate` applies.
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
    unclean_leader_election_enable: bool = False
    metadata_max_idle_interval_ms: int = 500
    metadata_log_max_record_bytes_between_snapshots: int = 20_971_520
    metadata_log_max_snapshot_interval_ms: int = 3_600_000
    metadata_max_batch_size_in_bytes: int = 8_388_608
    controller_quota_window_num: int = 11
    controller_quota_window_size_seconds: int = 1
    has_static_quotas: bool = False
    delegation_token_max_lifetime_ms: int = 604_800_000
    delegation_token_expiry_time_ms: int = 86_400_000
    delegation_token_expiry_check_interval_ms: int = 3_600_000
    delegation_token_secret_key: str | None = field(default=None, repr=False)
    delegation_tokens_max: int = UNLIMITED
    delegation_tokens_owner_max: int = UNLIMITED


def settings_of(config: NodeConfig) -> Settings:
    """The settings in a node's configuration."""
    return Settings(
        broker_session_timeout_ms=config.number("broker.session.timeout.ms"),
        broker_heartbeat_interval_ms=config.number("broker.heartbeat.interval.ms"),
        default_replication_factor=config.number("default.replication.factor"),
        num_partitions=config.number("num.partitions"),
        delete_topic_enable=config.flag("delete.topic.enable"),
        auto_leader_rebalance_enable=config.flag("auto.leader.rebalance.enable"),
        leader_imbalance_check_interval_seconds=config.number("leader.imbalance.check.interval.seconds"),
        unclean_leader_election_interval_ms=config.number("unclean.leader.election.interval.ms"),
        min_insync_replicas=config.number("min.insync.replicas"),
        unclean_leader_election_enable=config.flag("unclean.leader.election.enable"),
        metadata_max_idle_interval_ms=config.number("metadata.max.idle.interval.ms"),
        metadata_log_max_record_bytes_between_snapshots=config.number(
            "metadata.log.max.record.bytes.between.snapshots"
        ),
        metadata_log_max_snapshot_interval_ms=config.number("metadata.log.max.snapshot.interval.ms"),
        metadata_max_batch_size_in_bytes=config.number("internal.metadata.max.batch.size.in.bytes"),
        controller_quota_window_num=config.number("controller.quota.window.num"),
        controller_quota_window_size_seconds=config.number("controller.quota.window.size.seconds"),
        has_static_quotas=has_static_quotas(config),
        delegation_token_max_lifetime_ms=config.number("delegation.token.max.lifetime.ms"),
        delegation_token_expiry_time_ms=config.number("delegation.token.expiry.time.ms"),
        delegation_token_expiry_check_interval_ms=config.number("delegation.token.expiry.check.interval.ms"),
        delegation_token_secret_key=config.text("delegation.token.secret.key"),
        delegation_tokens_max=config.number("kraft.delegation.tokens.max"),
        delegation_tokens_owner_max=config.number("kraft.delegation.tokens.owner.max"),
    )
