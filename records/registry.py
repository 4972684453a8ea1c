"""Which module holds which message: four tables, and classes that are imported when they are asked for."""

from __future__ import annotations

from importlib import import_module

from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

# api key: (name without Request and Response, module under records.messages)
APIS: dict[int, tuple[str, str]] = {
    0: ("Produce", "brokers_only.produce"),
    1: ("Fetch", "fetch"),
    2: ("ListOffsets", "brokers_only.offsets"),
    3: ("Metadata", "cluster"),
    4: ("LeaderAndIsr", "brokers_only.zookeeper"),
    5: ("StopReplica", "brokers_only.zookeeper"),
    6: ("UpdateMetadata", "brokers_only.zookeeper"),
    7: ("ControlledShutdown", "brokers_only.zookeeper"),
    8: ("OffsetCommit", "brokers_only.group_offsets"),
    9: ("OffsetFetch", "brokers_only.group_offsets"),
    10: ("FindCoordinator", "groups"),
    11: ("JoinGroup", "groups"),
    12: ("Heartbeat", "groups"),
    13: ("LeaveGroup", "groups"),
    14: ("SyncGroup", "groups"),
    15: ("DescribeGroups", "groups"),
    16: ("ListGroups", "groups"),
    17: ("SaslHandshake", "sasl"),
    18: ("ApiVersions", "versions"),
    19: ("CreateTopics", "topics"),
    20: ("DeleteTopics", "topics"),
    21: ("DeleteRecords", "brokers_only.offsets"),
    22: ("InitProducerId", "brokers_only.transactions"),
    23: ("OffsetForLeaderEpoch", "brokers_only.offsets"),
    24: ("AddPartitionsToTxn", "brokers_only.transactions"),
    25: ("AddOffsetsToTxn", "brokers_only.transactions"),
    26: ("EndTxn", "brokers_only.transactions"),
    27: ("WriteTxnMarkers", "brokers_only.transactions"),
    28: ("TxnOffsetCommit", "brokers_only.transactions"),
    29: ("DescribeAcls", "acls"),
    30: ("CreateAcls", "acls"),
    31: ("DeleteAcls", "acls"),
    32: ("DescribeConfigs", "configs"),
    33: ("AlterConfigs", "configs"),
    34: ("AlterReplicaLogDirs", "log_dirs"),
    35: ("DescribeLogDirs", "log_dirs"),
    36: ("SaslAuthenticate", "sasl"),
    37: ("CreatePartitions", "topics"),
    38: ("CreateDelegationToken", "tokens"),
    39: ("RenewDelegationToken", "tokens"),
    40: ("ExpireDelegationToken", "tokens"),
    41: ("DescribeDelegationToken", "tokens"),
    42: ("DeleteGroups", "groups"),
    43: ("ElectLeaders", "reassignments"),
    44: ("IncrementalAlterConfigs", "configs"),
    45: ("AlterPartitionReassignments", "reassignments"),
    46: ("ListPartitionReassignments", "reassignments"),
    47: ("OffsetDelete", "brokers_only.group_offsets"),
    48: ("DescribeClientQuotas", "quotas"),
    49: ("AlterClientQuotas", "quotas"),
    50: ("DescribeUserScramCredentials", "scram"),
    51: ("AlterUserScramCredentials", "scram"),
    52: ("Vote", "elections"),
    53: ("BeginQuorumEpoch", "elections"),
    54: ("EndQuorumEpoch", "elections"),
    55: ("DescribeQuorum", "quorum"),
    56: ("AlterPartition", "partitions"),
    57: ("UpdateFeatures", "features"),
    58: ("Envelope", "envelope"),
    59: ("FetchSnapshot", "fetch_snapshot"),
    60: ("DescribeCluster", "cluster"),
    61: ("DescribeProducers", "brokers_only.transactions"),
    62: ("BrokerRegistration", "brokers"),
    63: ("BrokerHeartbeat", "brokers"),
    64: ("UnregisterBroker", "brokers"),
    65: ("DescribeTransactions", "brokers_only.transactions"),
    66: ("ListTransactions", "brokers_only.transactions"),
    67: ("AllocateProducerIds", "producer_ids"),
    68: ("ConsumerGroupHeartbeat", "brokers_only.consumer_groups"),
    69: ("ConsumerGroupDescribe", "brokers_only.consumer_groups"),
    70: ("ControllerRegistration", "controllers"),
    71: ("GetTelemetrySubscriptions", "brokers_only.telemetry"),
    72: ("PushTelemetry", "brokers_only.telemetry"),
    73: ("AssignReplicasToDirs", "partitions"),
    74: ("ListConfigResources", "configs"),
    75: ("DescribeTopicPartitions", "cluster"),
    76: ("ShareGroupHeartbeat", "brokers_only.share_groups"),
    77: ("ShareGroupDescribe", "brokers_only.share_groups"),
    78: ("ShareFetch", "brokers_only.share_groups"),
    79: ("ShareAcknowledge", "brokers_only.share_groups"),
    80: ("AddRaftVoter", "voters"),
    81: ("RemoveRaftVoter", "voters"),
    82: ("UpdateRaftVoter", "voters"),
    83: ("InitializeShareGroupState", "brokers_only.share_state"),
    84: ("ReadShareGroupState", "brokers_only.share_state"),
    85: ("WriteShareGroupState", "brokers_only.share_state"),
    86: ("DeleteShareGroupState", "brokers_only.share_state"),
    87: ("ReadShareGroupStateSummary", "brokers_only.share_state"),
    88: ("StreamsGroupHeartbeat", "brokers_only.streams_groups"),
    89: ("StreamsGroupDescribe", "brokers_only.streams_groups"),
    90: ("DescribeShareGroupOffsets", "brokers_only.share_groups"),
    91: ("AlterShareGroupOffsets", "brokers_only.share_groups"),
    92: ("DeleteShareGroupOffsets", "brokers_only.share_groups"),
    93: ("StreamsGroupTopologyDescriptionUpdate", "brokers_only.streams_topology"),
    94: ("UnregisterController", "controllers"),
}

# Of our own, in the same form: APIs that Kafka does not have, and that no controller with a metadata log serves.
OWN_APIS: dict[int, tuple[str, str]] = {32000: ("QuorumFormation", "formation")}

# record type: (class, module under records.metadata)
METADATA_RECORDS: dict[int, tuple[str, str]] = {
    0: ("RegisterBrokerRecord", "brokers"),
    1: ("UnregisterBrokerRecord", "brokers"),
    2: ("TopicRecord", "topics"),
    3: ("PartitionRecord", "topics"),
    4: ("ConfigRecord", "configs"),
    5: ("PartitionChangeRecord", "topics"),
    7: ("FenceBrokerRecord", "brokers"),
    8: ("UnfenceBrokerRecord", "brokers"),
    9: ("RemoveTopicRecord", "topics"),
    10: ("DelegationTokenRecord", "security"),
    11: ("UserScramCredentialRecord", "security"),
    12: ("FeatureLevelRecord", "configs"),
    14: ("ClientQuotaRecord", "configs"),
    15: ("ProducerIdsRecord", "producer_ids"),
    17: ("BrokerRegistrationChangeRecord", "brokers"),
    18: ("AccessControlEntryRecord", "security"),
    19: ("RemoveAccessControlEntryRecord", "security"),
    20: ("NoOpRecord", "transactions"),
    21: ("ZkMigrationStateRecord", "transactions"),
    22: ("RemoveUserScramCredentialRecord", "security"),
    23: ("BeginTransactionRecord", "transactions"),
    24: ("EndTransactionRecord", "transactions"),
    25: ("AbortTransactionRecord", "transactions"),
    26: ("RemoveDelegationTokenRecord", "security"),
    27: ("RegisterControllerRecord", "brokers"),
    28: ("ClearElrRecord", "topics"),
    29: ("UnregisterControllerRecord", "brokers"),
}

# Messages that are neither: class, module relative to this package.
OTHERS: dict[str, str] = {
    "RequestHeader": ".headers",
    "ResponseHeader": ".headers",
    "ControlRecordTypeSchema": ".control",
    "LeaderChangeMessage": ".control",
    "SnapshotHeaderRecord": ".control",
    "SnapshotFooterRecord": ".control",
    "KRaftVersionRecord": ".control",
    "VotersRecord": ".control",
    "EndTxnMarker": ".control",
    "QuorumStateData": ".data",
    "DefaultPrincipalData": ".data",
    "AbortedTxn": ".data",
    "ConsumerProtocolSubscription": ".data",
    "ConsumerProtocolAssignment": ".data",
    "ListClientMetricsResourcesRequest": ".messages.configs",
    "ListClientMetricsResourcesResponse": ".messages.configs",
}

# Messages of two proposals that never were in Kafka's protocol: class, module. They have no API key, and
# `every_name` does not list them.
PROPOSALS: dict[str, str] = {
    **dict.fromkeys(
        (
            "ProposedListGroupsRequest", "ProposedListGroupsResponse", "ProposedCreateGroupRequest",
            "ProposedCreateGroupResponse", "ProposedDeleteGroupRequest", "ProposedDeleteGroupResponse",
            "ProposedRegisterConsumerRequest", "ProposedRegisterConsumerResponse", "ProposedHeartbeatRequest",
            "ProposedHeartbeatResponse", "ProposedRewindConsumerRequest", "ProposedRewindConsumerResponse",
        ),
        "records.messages.proposals.group_proposal",
    ),
    **dict.fromkeys(
        (
            "CreateTopicResponse", "AlterTopicRequest", "AlterTopicResponse", "DeleteTopicRequest",
            "DeleteTopicResponse", "TopicMetadataRequestV1", "TopicMetadataResponseV1",
        ),
        "records.messages.proposals.kip4_proposal",
    ),
}  # fmt: skip

_known: dict[tuple[str, int] | str, type[Any]] = {}


def request_class(api_key: int) -> type[Any]:
    """The class of an API's request; raises KeyError where there is no such API."""
    message = _known.get(("request", api_key))
    if message is None:
        name, module = APIS.get(api_key) or OWN_APIS[api_key]
        message = _known["request", api_key] = _import_class(f".messages.{module}", f"{name}Request")
    return message


def response_class(api_key: int) -> type[Any]:
    """The class of an API's response; raises KeyError where there is no such API."""
    message = _known.get(("response", api_key))
    if message is None:
        name, module = APIS.get(api_key) or OWN_APIS[api_key]
        message = _known["response", api_key] = _import_class(f".messages.{module}", f"{name}Response")
    return message


def metadata_class(record_type: int) -> type[Any]:
    """The class of a metadata record; raises KeyError where there is no such type."""
    message = _known.get(("metadata", record_type))
    if message is None:
        name, module = METADATA_RECORDS[record_type]
        message = _known["metadata", record_type] = _import_class(f".metadata.{module}", name)
    return message


def find_class(name: str) -> type[Any]:
    """The class of this name, of whatever kind; raises KeyError where there is none."""
    message = _known.get(name)
    if message is None:
        message = _known[name] = _import_class(_module_of(name), name)
    return message


def every_name() -> list[str]:
    """The names of all message classes: requests and responses by API key, metadata records by type, the others."""
    apis = [f"{api}{side}" for api, _ in APIS.values() for side in ("Request", "Response")]
    return [*apis, *(record for record, _ in METADATA_RECORDS.values()), *OTHERS]


def _module_of(name: str) -> str:
    if name in OTHERS:
        return OTHERS[name]
    if name in PROPOSALS:
        return PROPOSALS[name]
    for api, module in APIS.values():
        if name in (f"{api}Request", f"{api}Response"):
            return f".messages.{module}"
    for record, module in METADATA_RECORDS.values():
        if name == record:
            return f".metadata.{module}"
    raise KeyError(name)


def _import_class(module: str, name: str) -> type[Any]:
    return getattr(import_module(module, __package__), name)  # type: ignore[no-any-return]
