"""The group RPCs of the consumer rewrite's first proposal, before Kafka had JoinGroup; no node speaks them.

The proposal is known from a comparison of two versions of a wiki page, in which removed and added words stand in one
line. `docs/conformance/group-proposal.md` says which reading was taken for each field and why, and what Kafka has for
each RPC today. The messages have no API key: the proposal gives none, so no listener serves them and no
ApiVersions names them.

The proposal repeats in each message what Kafka keeps in its headers: version, correlation id and client id. Strings and
arrays are read as the protocol of the time had them: an int16 before a string, an int32 before an array.
"""

from records.schema import message, struct
from records.wire import array, int16, int32, int64, string


@struct
class ProposedPartitionOffset:
    """A partition and a position in it."""

    topic: string
    partition: int16
    offset: int64


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class ProposedListGroupsRequest:
    """Asks any server for some groups, or for all active ones (the consumer rewrite's proposal).

    consumer_groups: names of groups; empty for all.
    """

    version: int16
    correlation_id: int64
    client_id: string
    consumer_groups: array[string]


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class ProposedListGroupsResponse:
    """Lists groups with their members and the broker that is their controller.

    groups_info: one for each group.
    group_name: the name.
    group_members: the ids of the consumers.
    groups_info.topics: the topics that the group consumes.
    controller_broker: the broker that answers for the group.
    session_timeout: after how many ms without a heartbeat a member is dropped.
    controller_broker.port: signed, so it holds ports up to 32767.
    """

    @struct
    class GroupInfo:
        @struct
        class ControllerBroker:
            broker_id: int32
            host: string
            port: int16

        group_name: string
        group_members: array[string]
        topics: array[string]
        controller_broker: ControllerBroker
        session_timeout: int64

    version: int16
    correlation_id: int64
    client_id: string
    groups_info: array[GroupInfo]
    error_code: int16


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class ProposedCreateGroupRequest:
    """Asks any server to create a group (the consumer rewrite's proposal).

    consumer_group: the name of the group.
    session_timeout: after how many ms without a heartbeat a member is dropped.
    topics: the topics that the group consumes.
    """

    version: int16
    correlation_id: int64
    client_id: string
    consumer_group: string
    session_timeout: int64
    topics: array[string]


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class ProposedCreateGroupResponse:
    """Says whether the group was created.

    consumer_group: the name of the group.
    """

    version: int16
    correlation_id: int64
    consumer_group: string
    error_code: int16


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class ProposedDeleteGroupRequest:
    """Asks the controller of groups to delete those of them that have no members (the consumer rewrite's proposal).

    consumer_groups: the names of the groups.
    """

    version: int16
    correlation_id: int64
    client_id: string
    consumer_groups: array[string]


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class ProposedDeleteGroupResponse:
    """Says which groups were deleted.

    consumer_groups_deleted: their names.
    """

    version: int16
    correlation_id: int64
    consumer_groups_deleted: array[string]
    error_code: int16


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class ProposedRegisterConsumerRequest:
    """A consumer asks the controller of a group to let it join (the consumer rewrite's proposal).

    consumer_group: the name of the group.
    consumer_id: the consumer's own id.
    """

    version: int16
    correlation_id: int64
    client_id: string
    consumer_group: string
    consumer_id: string


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class ProposedRegisterConsumerResponse:
    """Tells a consumer which partitions it owns, and from where to read each.

    consumer_group: the name of the group.
    partitions_to_own: the partitions of this consumer.
    offset: the next offset to read.
    """

    version: int16
    correlation_id: int64
    client_id: string
    consumer_group: string
    partitions_to_own: array[ProposedPartitionOffset]
    error_code: int16


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class ProposedHeartbeatRequest:
    """A heartbeat of a consumer to the coordinator of its group (the consumer rewrite's proposal).

    session_timeout: after how many ms without a heartbeat this member is dropped.
    """

    version: int16
    correlation_id: int64
    client_id: string
    session_timeout: int64


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class ProposedHeartbeatResponse:
    """Says whether the consumer must register again, since its group is about to change.

    controller_generation: counts the changes of the group.
    error_code: not 0 if a change of the group is to begin.
    """

    version: int16
    correlation_id: int64
    controller_generation: int64
    error_code: int16


@message(kind="request", versions=(0, 0), served=None, flexible=None)
class ProposedRewindConsumerRequest:
    """Asks the controller of a group to set the positions of its consumers (the consumer rewrite's proposal).

    consumer_group: the name of the group.
    new_offsets: the positions wanted.
    offset: the next offset to read.
    """

    version: int16
    correlation_id: int64
    client_id: string
    consumer_group: string
    new_offsets: array[ProposedPartitionOffset]


@message(kind="response", versions=(0, 0), served=None, flexible=None)
class ProposedRewindConsumerResponse:
    """Says to which positions the consumers of the group go.

    consumer_group: the name of the group.
    actual_offsets: the positions taken.
    offset: the next offset to read.
    """

    version: int16
    correlation_id: int64
    consumer_group: string
    actual_offsets: array[ProposedPartitionOffset]
    error_code: int16
