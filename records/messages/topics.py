"""Creating and deleting topics, and adding partitions (KIP-4, KIP-195, KIP-516)."""

from records.schema import field, message, since, struct, tagged_field, until
from records.wire import array, boolean, int8, int16, int32, nullable, string, uuid


@message(api_key=19, kind="request", versions=(0, 7), served=(2, 7), flexible=5)
class CreateTopicsRequest:
    """Creates topics, with a number of partitions or with the replicas of each (KIP-4, KIP-464, KIP-525).

    num_partitions: -1 for the default, or with assignments.
    replication_factor: -1 for the default, or with assignments.
    assignments: the replicas of each partition, from 0 without a gap; empty to leave it to the controller.
    broker_ids: the replicas; the first is the preferred leader.
    configs: configs of the topic that differ from the defaults.
    value: null is refused.
    """

    @struct
    class CreatableTopic:
        @struct
        class CreatableReplicaAssignment:
            partition_index: int32
            broker_ids: array[int32]

        @struct
        class CreatableTopicConfig:
            name: string
            value: nullable[string]

        name: string
        num_partitions: int32
        replication_factor: int16
        assignments: array[CreatableReplicaAssignment]
        configs: array[CreatableTopicConfig]

    topics: array[CreatableTopic]
    timeout_ms: int32 = 60000
    validate_only: boolean = since(1, default=False)


@message(api_key=19, kind="response", versions=(0, 7), served=(2, 7), flexible=5)
class CreateTopicsResponse:
    """Says for each topic whether it was created, and how (KIP-525, KIP-599).

    num_partitions: -1 if the caller may not read it, or the topic was not created.
    replication_factor: likewise.
    topic_config_error_code: why the configs are missing: 0, or an authorization error.
    configs: every config of the topic; null where missing.
    read_only: whether it cannot be changed.
    """

    @struct
    class CreatableTopicResult:
        @struct
        class CreatableTopicConfigs:
            name: string = since(5, default="")
            value: nullable[string] = since(5, default="")
            read_only: boolean = since(5, default=False)
            config_source: int8 = since(5, default=-1, ignorable=True)
            is_sensitive: boolean = since(5, default=False)

        name: string
        topic_id: uuid = since(7, default=bytes(16), ignorable=True)
        error_code: int16
        error_message: nullable[string] = since(1, default="", ignorable=True)
        topic_config_error_code: int16 = tagged_field(0, default=0, since=5, ignorable=True)
        num_partitions: int32 = since(5, default=-1, ignorable=True)
        replication_factor: int16 = since(5, default=-1, ignorable=True)
        configs: nullable[array[CreatableTopicConfigs]] = since(5, default=(), ignorable=True, shared=True)

    throttle_time_ms: int32 = since(2, default=0, ignorable=True)
    topics: array[CreatableTopicResult]


@message(api_key=20, kind="request", versions=(0, 6), served=(1, 6), flexible=4)
class DeleteTopicsRequest:
    """Deletes topics, by name or by id (KIP-4, KIP-516).

    topics: since version 6; of name and id one is given.
    topics.name: null where the id is given.
    topic_names: up to version 5.
    """

    @struct
    class DeleteTopicState:
        name: nullable[string] = since(6, default=None)
        topic_id: uuid = since(6, default=bytes(16))

    topics: array[DeleteTopicState] = since(6, default=())
    topic_names: array[string] = until(5, default=(), ignorable=True)
    timeout_ms: int32


@message(api_key=20, kind="response", versions=(0, 6), served=(1, 6), flexible=4)
class DeleteTopicsResponse:
    """Says for each topic whether it is deleted.

    responses.name: null where the id is not known, or the client may not see its name.
    """

    @struct
    class DeletableTopicResult:
        name: nullable[string] = field(null_since=6)
        topic_id: uuid = since(6, default=bytes(16), ignorable=True)
        error_code: int16
        error_message: nullable[string] = since(5, default=None, ignorable=True)

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    responses: array[DeletableTopicResult]


@message(api_key=37, kind="request", versions=(0, 3), flexible=2)
class CreatePartitionsRequest:
    """Adds partitions to topics (KIP-195).

    count: the new total number of partitions.
    assignments: the replicas of each new partition; null to leave it to the controller.
    broker_ids: the replicas; the first is the preferred leader.
    """

    @struct
    class CreatePartitionsTopic:
        @struct
        class CreatePartitionsAssignment:
            broker_ids: array[int32]

        name: string
        count: int32
        assignments: nullable[array[CreatePartitionsAssignment]]

    topics: array[CreatePartitionsTopic]
    timeout_ms: int32
    validate_only: boolean


@message(api_key=37, kind="response", versions=(0, 3), flexible=2)
class CreatePartitionsResponse:
    """Says for each topic whether it has its new partitions."""

    @struct
    class CreatePartitionsTopicResult:
        name: string
        error_code: int16
        error_message: nullable[string] = None

    throttle_time_ms: int32
    results: array[CreatePartitionsTopicResult]
