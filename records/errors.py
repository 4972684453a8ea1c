"""Kafka's error codes, with the text that its own nodes send for each (4.4)."""

from __future__ import annotations

from enum import IntEnum

from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

RETRIABLE = True


class Error(IntEnum):
    """A code of Kafka's; an unknown code stays a plain int (`error_of`).

    exception: the class that Kafka's tools print for it, in org.apache.kafka.common.errors; empty for NONE. text: the
    default text of a node's answer. is_retriable: whether stock clients retry by themselves.
    """

    exception: str
    text: str
    is_retriable: bool

    def __new__(cls, code: int, exception: str, text: str, is_retriable: bool = False) -> Self:
        error = int.__new__(cls, code)
        error._value_ = code
        error.exception = exception
        error.text = text
        error.is_retriable = is_retriable
        return error

    UNKNOWN_SERVER_ERROR = (
        -1,
        "UnknownServerException",
        "The server experienced an unexpected error when processing the request.",
    )
    NONE = 0, "", "NONE"
    OFFSET_OUT_OF_RANGE = (
        1,
        "OffsetOutOfRangeException",
        "The requested offset is not within the range of offsets maintained by the server.",
    )
    CORRUPT_MESSAGE = (
        2,
        "CorruptRecordException",
        (
            "This message has failed its CRC checksum, exceeds the valid size, has a null key for a compacted topic, "
            "or is otherwise corrupt."
        ),
        RETRIABLE,
    )
    UNKNOWN_TOPIC_OR_PARTITION = (
        3,
        "UnknownTopicOrPartitionException",
        "This server does not host this topic-partition.",
        RETRIABLE,
    )
    INVALID_FETCH_SIZE = 4, "InvalidFetchSizeException", "The requested fetch size is invalid."
    LEADER_NOT_AVAILABLE = (
        5,
        "LeaderNotAvailableException",
        "There is no leader for this topic-partition as we are in the middle of a leadership election.",
        RETRIABLE,
    )
    NOT_LEADER_OR_FOLLOWER = (
        6,
        "NotLeaderOrFollowerException",
        (
            "For requests intended only for the leader, this error indicates that the broker is not the current "
            "leader. For requests intended for any replica, this error indicates that the broker is not a replica of "
            "the topic partition."
        ),
        RETRIABLE,
    )
    REQUEST_TIMED_OUT = 7, "TimeoutException", "The request timed out.", RETRIABLE
    BROKER_NOT_AVAILABLE = 8, "BrokerNotAvailableException", "The broker is not available."
    REPLICA_NOT_AVAILABLE = (
        9,
        "ReplicaNotAvailableException",
        (
            "The replica is not available for the requested topic-partition. Produce/Fetch requests and other requests"
            " intended only for the leader or follower return NOT_LEADER_OR_FOLLOWER if the broker is not a replica of"
            " the topic-partition."
        ),
        RETRIABLE,
    )
    MESSAGE_TOO_LARGE = (
        10,
        "RecordTooLargeException",
        "The request included a message larger than the max message size the server will accept.",
    )
    STALE_CONTROLLER_EPOCH = 11, "ControllerMovedException", "The controller moved to another broker."
    OFFSET_METADATA_TOO_LARGE = 12, "OffsetMetadataTooLarge", "The metadata field of the offset request was too large."
    NETWORK_EXCEPTION = 13, "NetworkException", "The server disconnected before a response was received.", RETRIABLE
    COORDINATOR_LOAD_IN_PROGRESS = (
        14,
        "CoordinatorLoadInProgressException",
        "The coordinator is loading and hence can't process requests.",
        RETRIABLE,
    )
    COORDINATOR_NOT_AVAILABLE = 15, "CoordinatorNotAvailableException", "The coordinator is not available.", RETRIABLE
    NOT_COORDINATOR = 16, "NotCoordinatorException", "This is not the correct coordinator.", RETRIABLE
    INVALID_TOPIC_EXCEPTION = (
        17,
        "InvalidTopicException",
        "The request attempted to perform an operation on an invalid topic.",
    )
    RECORD_LIST_TOO_LARGE = (
        18,
        "RecordBatchTooLargeException",
        "The request included message batch larger than the configured segment size on the server.",
    )
    NOT_ENOUGH_REPLICAS = (
        19,
        "NotEnoughReplicasException",
        "Messages are rejected since there are fewer in-sync replicas than required.",
        RETRIABLE,
    )
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (
        20,
        "NotEnoughReplicasAfterAppendException",
        "Messages are written to the log, but to fewer in-sync replicas than required.",
        RETRIABLE,
    )
    INVALID_REQUIRED_ACKS = (
        21,
        "InvalidRequiredAcksException",
        "Produce request specified an invalid value for required acks.",
    )
    ILLEGAL_GENERATION = 22, "IllegalGenerationException", "Specified group generation id is not valid."
    INCONSISTENT_GROUP_PROTOCOL = (
        23,
        "InconsistentGroupProtocolException",
        (
            "The group member's supported protocols are incompatible with those of existing members or first group "
            "member tried to join with empty protocol type or empty protocol list."
        ),
    )
    INVALID_GROUP_ID = 24, "InvalidGroupIdException", "The group id is invalid."
    UNKNOWN_MEMBER_ID = 25, "UnknownMemberIdException", "The coordinator is not aware of this member."
    INVALID_SESSION_TIMEOUT = (
        26,
        "InvalidSessionTimeoutException",
        (
            "The session timeout is not within the range allowed by the broker (as configured by "
            "group.min.session.timeout.ms and group.max.session.timeout.ms)."
        ),
    )
    REBALANCE_IN_PROGRESS = 27, "RebalanceInProgressException", "The group is rebalancing, so a rejoin is needed."
    INVALID_COMMIT_OFFSET_SIZE = 28, "InvalidCommitOffsetSizeException", "The committing offset data size is not valid."
    TOPIC_AUTHORIZATION_FAILED = 29, "TopicAuthorizationException", "Topic authorization failed."
    GROUP_AUTHORIZATION_FAILED = 30, "GroupAuthorizationException", "Group authorization failed."
    CLUSTER_AUTHORIZATION_FAILED = 31, "ClusterAuthorizationException", "Cluster authorization failed."
    INVALID_TIMESTAMP = 32, "InvalidTimestampException", "The timestamp of the message is out of acceptable range."
    UNSUPPORTED_SASL_MECHANISM = (
        33,
        "UnsupportedSaslMechanismException",
        "The broker does not support the requested SASL mechanism.",
    )
    ILLEGAL_SASL_STATE = 34, "IllegalSaslStateException", "Request is not valid given the current SASL state."
    UNSUPPORTED_VERSION = 35, "UnsupportedVersionException", "The version of API is not supported."
    TOPIC_ALREADY_EXISTS = 36, "TopicExistsException", "Topic with this name already exists."
    INVALID_PARTITIONS = 37, "InvalidPartitionsException", "Number of partitions is below 1."
    INVALID_REPLICATION_FACTOR = (
        38,
        "InvalidReplicationFactorException",
        "Replication factor is below 1 or larger than the number of available brokers.",
    )
    INVALID_REPLICA_ASSIGNMENT = 39, "InvalidReplicaAssignmentException", "Replica assignment is invalid."
    INVALID_CONFIG = 40, "InvalidConfigurationException", "Configuration is invalid."
    NOT_CONTROLLER = 41, "NotControllerException", "This is not the correct controller for this cluster.", RETRIABLE
    INVALID_REQUEST = (
        42,
        "InvalidRequestException",
        (
            "This most likely occurs because of a request being malformed by the client library or the message was "
            "sent to an incompatible broker. See the broker logs for more details."
        ),
    )
    UNSUPPORTED_FOR_MESSAGE_FORMAT = (
        43,
        "UnsupportedForMessageFormatException",
        "The message format version on the broker does not support the request.",
    )
    POLICY_VIOLATION = 44, "PolicyViolationException", "Request parameters do not satisfy the configured policy."
    OUT_OF_ORDER_SEQUENCE_NUMBER = (
        45,
        "OutOfOrderSequenceException",
        "The broker received an out of order sequence number.",
    )
    DUPLICATE_SEQUENCE_NUMBER = 46, "DuplicateSequenceException", "The broker received a duplicate sequence number."
    INVALID_PRODUCER_EPOCH = 47, "InvalidProducerEpochException", "Producer attempted to produce with an old epoch."
    INVALID_TXN_STATE = (
        48,
        "InvalidTxnStateException",
        "The producer attempted a transactional operation in an invalid state.",
    )
    INVALID_PRODUCER_ID_MAPPING = (
        49,
        "InvalidPidMappingException",
        "The producer attempted to use a producer id which is not currently assigned to its transactional id.",
    )
    INVALID_TRANSACTION_TIMEOUT = (
        50,
        "InvalidTxnTimeoutException",
        (
            "The transaction timeout is larger than the maximum value allowed by the broker (as configured by "
            "transaction.max.timeout.ms)."
        ),
    )
    CONCURRENT_TRANSACTIONS = (
        51,
        "ConcurrentTransactionsException",
        (
            "The producer attempted to update a transaction while another concurrent operation on the same transaction"
            " was ongoing."
        ),
        RETRIABLE,
    )
    TRANSACTION_COORDINATOR_FENCED = (
        52,
        "TransactionCoordinatorFencedException",
        (
            "Indicates that the transaction coordinator sending a WriteTxnMarker is no longer the current coordinator "
            "for a given producer."
        ),
    )
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = (
        53,
        "TransactionalIdAuthorizationException",
        "Transactional Id authorization failed.",
    )
    SECURITY_DISABLED = 54, "SecurityDisabledException", "Security features are disabled."
    OPERATION_NOT_ATTEMPTED = (
        55,
        "OperationNotAttemptedException",
        (
            "The broker did not attempt to execute this operation. This may happen for batched RPCs where some "
            "operations in the batch failed, causing the broker to respond without trying the rest."
        ),
    )
    KAFKA_STORAGE_ERROR = (
        56,
        "KafkaStorageException",
        "Disk error when trying to access log file on the disk.",
        RETRIABLE,
    )
    LOG_DIR_NOT_FOUND = (
        57,
        "LogDirNotFoundException",
        "The user-specified log directory is not found in the broker config.",
    )
    SASL_AUTHENTICATION_FAILED = 58, "SaslAuthenticationException", "SASL Authentication failed."
    UNKNOWN_PRODUCER_ID = (
        59,
        "UnknownProducerIdException",
        (
            "This exception is raised by the broker if it could not locate the producer metadata associated with the "
            "producerId in question. This could happen if, for instance, the producer's records were deleted because "
            "their retention time had elapsed. Once the last records of the producerId are removed, the producer's "
            "metadata is removed from the broker, and future appends by the producer will return this exception."
        ),
    )
    REASSIGNMENT_IN_PROGRESS = 60, "ReassignmentInProgressException", "A partition reassignment is in progress."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, "DelegationTokenDisabledException", "Delegation Token feature is not enabled."
    DELEGATION_TOKEN_NOT_FOUND = 62, "DelegationTokenNotFoundException", "Delegation Token is not found on server."
    DELEGATION_TOKEN_OWNER_MISMATCH = (
        63,
        "DelegationTokenOwnerMismatchException",
        "Specified Principal is not valid Owner/Renewer.",
    )
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = (
        64,
        "UnsupportedByAuthenticationException",
        (
            "Delegation Token requests are not allowed on PLAINTEXT/1-way SSL channels and on delegation token "
            "authenticated channels."
        ),
    )
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = (
        65,
        "DelegationTokenAuthorizationException",
        "Delegation Token authorization failed.",
    )
    DELEGATION_TOKEN_EXPIRED = 66, "DelegationTokenExpiredException", "Delegation Token is expired."
    INVALID_PRINCIPAL_TYPE = 67, "InvalidPrincipalTypeException", "Supplied principalType is not supported."
    NON_EMPTY_GROUP = 68, "GroupNotEmptyException", "The group is not empty."
    GROUP_ID_NOT_FOUND = 69, "GroupIdNotFoundException", "The group id does not exist."
    FETCH_SESSION_ID_NOT_FOUND = 70, "FetchSessionIdNotFoundException", "The fetch session ID was not found.", RETRIABLE
    INVALID_FETCH_SESSION_EPOCH = (
        71,
        "InvalidFetchSessionEpochException",
        "The fetch session epoch is invalid.",
        RETRIABLE,
    )
    LISTENER_NOT_FOUND = (
        72,
        "ListenerNotFoundException",
        "There is no listener on the leader broker that matches the listener on which metadata request was processed.",
        RETRIABLE,
    )
    TOPIC_DELETION_DISABLED = 73, "TopicDeletionDisabledException", "Topic deletion is disabled."
    FENCED_LEADER_EPOCH = (
        74,
        "FencedLeaderEpochException",
        "The leader epoch in the request is older than the epoch on the broker.",
        RETRIABLE,
    )
    UNKNOWN_LEADER_EPOCH = (
        75,
        "UnknownLeaderEpochException",
        "The leader epoch in the request is newer than the epoch on the broker.",
        RETRIABLE,
    )
    UNSUPPORTED_COMPRESSION_TYPE = (
        76,
        "UnsupportedCompressionTypeException",
        "The requesting client does not support the compression type of given partition.",
    )
    STALE_BROKER_EPOCH = 77, "StaleBrokerEpochException", "Broker epoch has changed."
    OFFSET_NOT_AVAILABLE = (
        78,
        "OffsetNotAvailableException",
        (
            "The leader high watermark has not caught up from a recent leader election so the offsets cannot be "
            "guaranteed to be monotonically increasing."
        ),
        RETRIABLE,
    )
    MEMBER_ID_REQUIRED = (
        79,
        "MemberIdRequiredException",
        "The group member needs to have a valid member id before actually entering a consumer group.",
    )
    PREFERRED_LEADER_NOT_AVAILABLE = (
        80,
        "PreferredLeaderNotAvailableException",
        "The preferred leader was not available.",
        RETRIABLE,
    )
    GROUP_MAX_SIZE_REACHED = 81, "GroupMaxSizeReachedException", "The group has reached its maximum size."
    FENCED_INSTANCE_ID = (
        82,
        "FencedInstanceIdException",
        (
            "The broker rejected this static consumer since another consumer with the same group.instance.id has "
            "registered with a different member.id."
        ),
    )
    ELIGIBLE_LEADERS_NOT_AVAILABLE = (
        83,
        "EligibleLeadersNotAvailableException",
        "Eligible topic partition leaders are not available.",
        RETRIABLE,
    )
    ELECTION_NOT_NEEDED = 84, "ElectionNotNeededException", "Leader election not needed for topic partition.", RETRIABLE
    NO_REASSIGNMENT_IN_PROGRESS = 85, "NoReassignmentInProgressException", "No partition reassignment is in progress."
    GROUP_SUBSCRIBED_TO_TOPIC = (
        86,
        "GroupSubscribedToTopicException",
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
    )
    INVALID_RECORD = (
        87,
        "InvalidRecordException",
        "This record has failed the validation on broker and hence will be rejected.",
    )
    UNSTABLE_OFFSET_COMMIT = (
        88,
        "UnstableOffsetCommitException",
        "There are unstable offsets that need to be cleared.",
        RETRIABLE,
    )
    THROTTLING_QUOTA_EXCEEDED = (
        89,
        "ThrottlingQuotaExceededException",
        "The throttling quota has been exceeded.",
        RETRIABLE,
    )
    PRODUCER_FENCED = (
        90,
        "ProducerFencedException",
        "There is a newer producer with the same transactionalId which fences the current one.",
    )
    RESOURCE_NOT_FOUND = (
        91,
        "ResourceNotFoundException",
        "A request illegally referred to a resource that does not exist.",
    )
    DUPLICATE_RESOURCE = 92, "DuplicateResourceException", "A request illegally referred to the same resource twice."
    UNACCEPTABLE_CREDENTIAL = (
        93,
        "UnacceptableCredentialException",
        "Requested credential would not meet criteria for acceptability.",
    )
    INCONSISTENT_VOTER_SET = (
        94,
        "InconsistentVoterSetException",
        "Indicates that the either the sender or recipient of a voter-only request is not one of the expected voters.",
    )
    INVALID_UPDATE_VERSION = 95, "InvalidUpdateVersionException", "The given update version was invalid."
    FEATURE_UPDATE_FAILED = (
        96,
        "FeatureUpdateFailedException",
        "Unable to update finalized features due to an unexpected server error.",
    )
    PRINCIPAL_DESERIALIZATION_FAILURE = (
        97,
        "PrincipalDeserializationException",
        (
            "Request principal deserialization failed during forwarding. This indicates an internal error on the "
            "broker cluster security setup."
        ),
    )
    SNAPSHOT_NOT_FOUND = 98, "SnapshotNotFoundException", "Requested snapshot was not found."
    POSITION_OUT_OF_RANGE = (
        99,
        "PositionOutOfRangeException",
        "Requested position is not greater than or equal to zero, and less than the size of the snapshot.",
    )
    UNKNOWN_TOPIC_ID = 100, "UnknownTopicIdException", "This server does not host this topic ID.", RETRIABLE
    DUPLICATE_BROKER_REGISTRATION = 101, "DuplicateBrokerRegistrationException", "This broker ID is already in use."
    BROKER_ID_NOT_REGISTERED = 102, "BrokerIdNotRegisteredException", "The given broker ID was not registered."
    INCONSISTENT_TOPIC_ID = (
        103,
        "InconsistentTopicIdException",
        "The log's topic ID did not match the topic ID in the request.",
        RETRIABLE,
    )
    INCONSISTENT_CLUSTER_ID = (
        104,
        "InconsistentClusterIdException",
        "The clusterId in the request does not match that found on the server.",
    )
    TRANSACTIONAL_ID_NOT_FOUND = 105, "TransactionalIdNotFoundException", "The transactionalId could not be found."
    FETCH_SESSION_TOPIC_ID_ERROR = (
        106,
        "FetchSessionTopicIdException",
        "The fetch session encountered inconsistent topic ID usage.",
        RETRIABLE,
    )
    INELIGIBLE_REPLICA = 107, "IneligibleReplicaException", "The new ISR contains at least one ineligible replica."
    NEW_LEADER_ELECTED = (
        108,
        "NewLeaderElectedException",
        "The AlterPartition request successfully updated the partition state but the leader has changed.",
    )
    OFFSET_MOVED_TO_TIERED_STORAGE = (
        109,
        "OffsetMovedToTieredStorageException",
        "The requested offset is moved to tiered storage.",
    )
    FENCED_MEMBER_EPOCH = (
        110,
        "FencedMemberEpochException",
        "The member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin.",
    )
    UNRELEASED_INSTANCE_ID = (
        111,
        "UnreleasedInstanceIdException",
        "The instance ID is still used by another member in the consumer group. That member must leave first.",
    )
    UNSUPPORTED_ASSIGNOR = (
        112,
        "UnsupportedAssignorException",
        "The assignor or its version range is not supported by the consumer group.",
    )
    STALE_MEMBER_EPOCH = (
        113,
        "StaleMemberEpochException",
        (
            "The member epoch is stale. The member must retry after receiving its updated member epoch via the "
            "ConsumerGroupHeartbeat API."
        ),
    )
    MISMATCHED_ENDPOINT_TYPE = (
        114,
        "MismatchedEndpointTypeException",
        "The request was sent to an endpoint of the wrong type.",
    )
    UNSUPPORTED_ENDPOINT_TYPE = 115, "UnsupportedEndpointTypeException", "This endpoint type is not supported yet."
    UNKNOWN_CONTROLLER_ID = 116, "UnknownControllerIdException", "This controller ID is not known."
    UNKNOWN_SUBSCRIPTION_ID = (
        117,
        "UnknownSubscriptionIdException",
        "Client sent a push telemetry request with an invalid or outdated subscription ID.",
    )
    TELEMETRY_TOO_LARGE = (
        118,
        "TelemetryTooLargeException",
        "Client sent a push telemetry request larger than the maximum size the broker will accept.",
    )
    INVALID_REGISTRATION = (
        119,
        "InvalidRegistrationException",
        "The controller has considered the broker registration to be invalid.",
    )
    TRANSACTION_ABORTABLE = (
        120,
        "TransactionAbortableException",
        (
            "The server encountered an error with the transaction. The client can abort the transaction to continue "
            "using this transactional ID."
        ),
    )
    INVALID_RECORD_STATE = (
        121,
        "InvalidRecordStateException",
        "The record state is invalid. The acknowledgement of delivery could not be completed.",
    )
    SHARE_SESSION_NOT_FOUND = 122, "ShareSessionNotFoundException", "The share session was not found.", RETRIABLE
    INVALID_SHARE_SESSION_EPOCH = (
        123,
        "InvalidShareSessionEpochException",
        "The share session epoch is invalid.",
        RETRIABLE,
    )
    FENCED_STATE_EPOCH = (
        124,
        "FencedStateEpochException",
        "The coordinator rejected the request because the state epoch did not match.",
    )
    INVALID_VOTER_KEY = 125, "InvalidVoterKeyException", "The voter key doesn't match the receiving replica's key."
    DUPLICATE_VOTER = 126, "DuplicateVoterException", "The voter is already part of the set of voters."
    VOTER_NOT_FOUND = 127, "VoterNotFoundException", "The voter is not part of the set of voters."
    INVALID_REGULAR_EXPRESSION = 128, "InvalidRegularExpression", "The regular expression is not valid."
    REBOOTSTRAP_REQUIRED = (
        129,
        "RebootstrapRequiredException",
        "Client metadata is stale. The client should rebootstrap to obtain new metadata.",
    )
    STREAMS_INVALID_TOPOLOGY = 130, "StreamsInvalidTopologyException", "The supplied topology is invalid."
    STREAMS_INVALID_TOPOLOGY_EPOCH = (
        131,
        "StreamsInvalidTopologyEpochException",
        "The supplied topology epoch is invalid.",
    )
    STREAMS_TOPOLOGY_FENCED = 132, "StreamsTopologyFencedException", "The supplied topology epoch is outdated."
    SHARE_SESSION_LIMIT_REACHED = (
        133,
        "ShareSessionLimitReachedException",
        "The limit of share sessions has been reached.",
        RETRIABLE,
    )
    GROUP_DELETION_FAILED = (
        134,
        "GroupDeletionFailedException",
        "DeleteGroups could not complete; see the error message on the per-group result for details.",
    )
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = (
        135,
        "StreamsTopologyDescriptionUpdateFailedException",
        "The broker could not process the topology description update; see the error message for details.",
    )
    CONTROLLER_ID_NOT_REGISTERED = (
        136,
        "ControllerIdNotRegisteredException",
        "The given controller ID was not registered.",
    )


_BY_CODE: dict[int, Error] = {error.value: error for error in Error}


def error_of(code: int) -> Error | int:
    """The error of a code; the code itself if this release does not know it."""
    return _BY_CODE.get(code, code)


def error_name(code: int) -> str:
    """The name of a code, or its number if it has none."""
    return _BY_CODE[code].name if code in _BY_CODE else str(int(code))


def error_text(code: int) -> str:
    """The stock text of a code; that of UNKNOWN_SERVER_ERROR for an unknown code."""
    return _BY_CODE.get(code, Error.UNKNOWN_SERVER_ERROR).text


def is_retriable(code: int) -> bool:
    """Whether stock clients repeat a request after this code."""
    return _BY_CODE.get(code, Error.UNKNOWN_SERVER_ERROR).is_retriable


class ApiError(Exception):
    """A request, or one item of it, is refused.

    code: the error of the response. text: the requested value and the present one; None for the stock text of the code.
    """

    def __init__(self, code: Error, text: str | None = None) -> None:
        self.code = code
        self.text = error_text(code) if text is None else text
        super().__init__(code, self.text)

    def __str__(self) -> str:
        return f"{self.code.name}: {self.text}"
