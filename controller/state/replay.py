"""Which function replays which record: a table (KIP-631). To add a record, add its function here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.state.partitions import topics
from controller.state.tables import (
    acls,
    brokers,
    configs,
    controllers,
    features,
    producer_ids,
    quotas,
    scram,
    tokens,
    transactions,
)
from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
)
from records.metadata.configs import ClientQuotaRecord, ConfigRecord, FeatureLevelRecord
from records.metadata.producer_ids import ProducerIdsRecord
from records.metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from records.metadata.transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
    ZkMigrationStateRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.state.state import State

    Replay = Callable[[State, Any, int], None]

# Each takes the state, the record and its offset, and raises ValueError where the record contradicts the state.
REPLAY: dict[type, Replay] = {
    RegisterBrokerRecord: brokers.replay_register_broker,
    UnregisterBrokerRecord: brokers.replay_unregister_broker,
    TopicRecord: topics.replay_topic,
    PartitionRecord: topics.replay_partition,
    ConfigRecord: configs.replay_config,
    PartitionChangeRecord: topics.replay_partition_change,
    FenceBrokerRecord: brokers.replay_fence_broker,
    UnfenceBrokerRecord: brokers.replay_unfence_broker,
    RemoveTopicRecord: topics.replay_remove_topic,
    DelegationTokenRecord: tokens.replay_delegation_token,
    UserScramCredentialRecord: scram.replay_user_scram_credential,
    FeatureLevelRecord: features.replay_feature_level,
    ClientQuotaRecord: quotas.replay_client_quota,
    ProducerIdsRecord: producer_ids.replay_producer_ids,
    BrokerRegistrationChangeRecord: brokers.replay_broker_registration_change,
    AccessControlEntryRecord: acls.replay_access_control_entry,
    RemoveAccessControlEntryRecord: acls.replay_remove_access_control_entry,
    NoOpRecord: transactions.replay_nothing,
    ZkMigrationStateRecord: transactions.replay_nothing,
    RemoveUserScramCredentialRecord: scram.replay_remove_user_scram_credential,
    BeginTransactionRecord: transactions.replay_begin_transaction,
    EndTransactionRecord: transactions.replay_end_transaction,
    AbortTransactionRecord: transactions.replay_abort_transaction,
    RemoveDelegationTokenRecord: tokens.replay_remove_delegation_token,
    RegisterControllerRecord: controllers.replay_register_controller,
    ClearElrRecord: topics.replay_clear_elr,
    UnregisterControllerRecord: controllers.replay_unregister_controller,
}
