"""KIP-4's request and response forms as the proposal wrote them; Kafka has other forms for the same, and no AlterTopic.

Kafka took up the proposal as CreateTopics (19), DeleteTopics (20) and Metadata (3) from version 1 on, and AlterTopic
as CreatePartitions (37), AlterPartitionReassignments (45) and IncrementalAlterConfigs (44). The proposal gives no API
keys, so no listener serves these messages and no ApiVersions names them. `docs/conformance/kip-4-proposal.md` says
which reading was taken where the proposal leaves one open.

Strings and arrays are read as the protocol of the time had them: an int16 before a string, an int32 before an array.
"""

from records.schema import message, struct
from records.wire import array, int16, int32, string


@struct
class TopicOutcome:
    """A topic, and what became of the request for it."""

    topic_name: string
    error_code: int16


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class CreateTopicResponse:
    """Says for each topic whether it is created (KIP-4; in Kafka CreateTopicsResponse).

    topics: one for each topic of the request.
    """

    topics: array[TopicOutcome]


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class AlterTopicRequest:
    """Asks to change replicas, partitions and configs of topics (KIP-4; Kafka never had this API).

    topics: what to change of each; of two for one topic, the last one counts.
    topics.partitions: how many partitions the topic shall have; -1 where not defined.
    replication_factor: how many replicas each partition shall have; -1 where not defined.
    replica_assignment: partitions with their replicas; empty where not defined. Where it is defined, the two numbers
        are ignored.
    replica_ids: the brokers, the preferred leader first.
    added_config_entries: configs to set.
    config_key: the name of a config.
    config_value: its value.
    deleted_configs: names of configs to reset to their defaults.
    """

    @struct
    class AlterTopic:
        @struct
        class PartitionAssignment:
            partition_id: int32
            replica_ids: array[int32]

        @struct
        class AddedConfigEntry:
            config_key: string
            config_value: string

        topic_name: string
        partitions: int32 = -1
        replication_factor: int32 = -1
        replica_assignment: array[PartitionAssignment] = ()
        added_config_entries: array[AddedConfigEntry] = ()
        deleted_configs: array[string] = ()

    topics: array[AlterTopic]


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class AlterTopicResponse:
    """Says for each topic whether its change has begun (KIP-4).

    topics: one for each topic of the request.
    """

    topics: array[TopicOutcome]


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class DeleteTopicRequest:
    """Asks to delete topics (KIP-4; in Kafka DeleteTopicsRequest).

    topic_names: their names; a name that stands twice counts once.
    """

    topic_names: array[string]


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class DeleteTopicResponse:
    """Says for each topic whether it is deleted (KIP-4; in Kafka DeleteTopicsResponse).

    topics: one for each topic of the request.
    """

    topics: array[TopicOutcome]


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class TopicMetadataRequestV1:
    """Asks what there is of topics, without creating any (KIP-4; in Kafka MetadataRequest from version 1 on).

    topic_names: their names; empty for all topics.
    """

    topic_names: array[string]


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class TopicMetadataResponseV1:
    """Tells brokers and topics, with the configs of each topic and without ISRs (KIP-4).

    brokers: the brokers.
    topic_metadata: one for each topic.
    topic_error_code: what went wrong with the topic; 0 for nothing.
    partition_metadata: one for each partition.
    partition_error_code: what went wrong with the partition; 0 for nothing.
    config_entries: the configs that the topic has of its own.
    config_key: the name of a config.
    config_value: its value.
    """

    @struct
    class Broker:
        node_id: int32
        host: string
        port: int32

    @struct
    class TopicMetadata:
        @struct
        class PartitionMetadata:
            partition_error_code: int16
            partition_id: int32
            leader: int32
            replicas: array[int32]

        @struct
        class ConfigEntry:
            config_key: string
            config_value: string

        topic_error_code: int16
        topic_name: string
        partition_metadata: array[PartitionMetadata]
        config_entries: array[ConfigEntry]

    brokers: array[Broker]
    topic_metadata: array[TopicMetadata]
