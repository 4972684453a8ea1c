"""Classic groups and their coordinators."""

from records.schema import field, message, since, struct, until
from records.wire import array, blob, boolean, int8, int16, int32, nullable, string


@message(api_key=10, kind="request", versions=(0, 6), flexible=3)
class FindCoordinatorRequest:
    """Asks which broker coordinates a group, a transactional id or a share partition (KIP-98, KIP-699, KIP-932).

    key: the group or transactional id, up to version 3.
    key_type: 0 a group, 1 a transactional id, 2 a share partition (group:topic id:partition).
    coordinator_keys: since version 4, several keys of one type.
    """

    key: string = until(3, default="")
    key_type: int8 = since(1, default=0)
    coordinator_keys: array[string] = since(4, default=())


@message(api_key=10, kind="response", versions=(0, 6), flexible=3)
class FindCoordinatorResponse:
    """Names the brokers that coordinate what was asked for.

    node_id: the coordinator; -1 where there is none.
    coordinators: one for each key, since version 4.
    key: the key that was asked for.
    """

    @struct
    class Coordinator:
        key: string = since(4, default="")
        node_id: int32 = since(4, default=0)
        host: string = since(4, default="")
        port: int32 = since(4, default=0)
        error_code: int16 = since(4, default=0)
        error_message: nullable[string] = since(4, default="", ignorable=True)

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16 = until(3, default=0)
    error_message: nullable[string] = since(1, default="", until=3, ignorable=True)
    node_id: int32 = until(3, default=0)
    host: string = until(3, default="")
    port: int32 = until(3, default=0)
    coordinators: array[Coordinator] = since(4, default=())


@message(api_key=11, kind="request", versions=(0, 9), flexible=6)
class JoinGroupRequest:
    """A member asks to join a classic group, or to rebalance it (KIP-62, KIP-345, KIP-394, KIP-800).

    session_timeout_ms: without a heartbeat for so long, the member is out.
    member_id: empty for a member that has none yet.
    protocols: what the member can do, the best first.
    protocols.metadata: opaque bytes for the group's leader.
    reason: why the member joins or rejoins; null where it does not say.
    """

    @struct
    class JoinGroupRequestProtocol:
        name: string
        metadata: blob

    group_id: string
    session_timeout_ms: int32
    rebalance_timeout_ms: int32 = since(1, default=-1, ignorable=True)
    member_id: string
    group_instance_id: nullable[string] = since(5, default=None)
    protocol_type: string
    protocols: array[JoinGroupRequestProtocol]
    reason: nullable[string] = since(8, default=None, ignorable=True)


@message(api_key=11, kind="response", versions=(0, 9), flexible=6)
class JoinGroupResponse:
    """Gives the member its generation, and the group's leader all members.

    leader: the member that assigns.
    skip_assignment: whether the leader must not assign anew.
    member_id: the member's own id.
    members: empty but for the leader.
    members.metadata: what that member gave for the protocol chosen.
    """

    @struct
    class JoinGroupResponseMember:
        member_id: string
        group_instance_id: nullable[string] = since(5, default=None, ignorable=True)
        metadata: blob

    throttle_time_ms: int32 = since(2, default=0, ignorable=True)
    error_code: int16
    generation_id: int32 = -1
    protocol_type: nullable[string] = since(7, default=None, ignorable=True)
    protocol_name: nullable[string] = field(null_since=7)
    leader: string
    skip_assignment: boolean = since(9, default=False)
    member_id: string
    members: array[JoinGroupResponseMember]


@message(api_key=12, kind="request", versions=(0, 4), flexible=4)
class HeartbeatRequest:
    """A member says that it is still there, in a classic group (KIP-345)."""

    group_id: string
    generation_id: int32
    member_id: string
    group_instance_id: nullable[string] = since(3, default=None)


@message(api_key=12, kind="response", versions=(0, 4), flexible=4)
class HeartbeatResponse:
    """Says whether the member may go on, or must rejoin."""

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16


@message(api_key=13, kind="request", versions=(0, 5), flexible=4)
class LeaveGroupRequest:
    """Members leave a classic group (KIP-345, KIP-800).

    member_id: of the member that leaves, up to version 2.
    members: those that leave, since version 3.
    reason: why; null where it does not say.
    """

    @struct
    class MemberIdentity:
        member_id: string = since(3, default="")
        group_instance_id: nullable[string] = since(3, default=None)
        reason: nullable[string] = since(5, default=None, ignorable=True)

    group_id: string
    member_id: string = until(2, default="")
    members: array[MemberIdentity] = since(3, default=())


@message(api_key=13, kind="response", versions=(0, 5), flexible=4)
class LeaveGroupResponse:
    """Says for each member whether it has left."""

    @struct
    class MemberResponse:
        member_id: string = since(3, default="")
        group_instance_id: nullable[string] = since(3, default="")
        error_code: int16 = since(3, default=0)

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16
    members: array[MemberResponse] = since(3, default=())


@message(api_key=14, kind="request", versions=(0, 5), flexible=4)
class SyncGroupRequest:
    """A member asks for its part of the work; the group's leader gives everyone's (KIP-345, KIP-559).

    assignments: empty but from the leader.
    assignment: opaque bytes of the group's protocol.
    """

    @struct
    class SyncGroupRequestAssignment:
        member_id: string
        assignment: blob

    group_id: string
    generation_id: int32
    member_id: string
    group_instance_id: nullable[string] = since(3, default=None)
    protocol_type: nullable[string] = since(5, default=None, ignorable=True)
    protocol_name: nullable[string] = since(5, default=None, ignorable=True)
    assignments: array[SyncGroupRequestAssignment]


@message(api_key=14, kind="response", versions=(0, 5), flexible=4)
class SyncGroupResponse:
    """Gives a member its part of the work.

    assignment: opaque bytes of the group's protocol.
    """

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16
    protocol_type: nullable[string] = since(5, default=None, ignorable=True)
    protocol_name: nullable[string] = since(5, default=None, ignorable=True)
    assignment: blob


@message(api_key=15, kind="request", versions=(0, 6), flexible=5)
class DescribeGroupsRequest:
    """Asks about classic groups (KIP-430, KIP-345, KIP-1043).

    groups: their ids.
    """

    groups: array[string]
    include_authorized_operations: boolean = since(3, default=False)


@message(api_key=15, kind="response", versions=(0, 6), flexible=5)
class DescribeGroupsResponse:
    """Describes classic groups and their members.

    protocol_data: the protocol chosen; empty while the group is not stable.
    member_metadata: what the member gave for that protocol, opaque.
    member_assignment: what the member was given, opaque.
    """

    @struct
    class DescribedGroup:
        @struct
        class DescribedGroupMember:
            member_id: string
            group_instance_id: nullable[string] = since(4, default=None, ignorable=True)
            client_id: string
            client_host: string
            member_metadata: blob
            member_assignment: blob

        error_code: int16
        error_message: nullable[string] = since(6, default=None)
        group_id: string
        group_state: string
        protocol_type: string
        protocol_data: string
        members: array[DescribedGroupMember]
        authorized_operations: int32 = since(3, default=-2147483648)

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    groups: array[DescribedGroup]


@message(api_key=16, kind="request", versions=(0, 5), flexible=3)
class ListGroupsRequest:
    """Asks which groups a broker coordinates (KIP-518, KIP-848).

    states_filter: states to name; empty for all.
    types_filter: types to name; empty for all.
    """

    states_filter: array[string] = since(4, default=())
    types_filter: array[string] = since(5, default=())


@message(api_key=16, kind="response", versions=(0, 5), flexible=3)
class ListGroupsResponse:
    """Lists the groups that a broker coordinates.

    group_type: classic, consumer, share or streams.
    """

    @struct
    class ListedGroup:
        group_id: string
        protocol_type: string
        group_state: string = since(4, default="", ignorable=True)
        group_type: string = since(5, default="", ignorable=True)

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16
    groups: array[ListedGroup]


@message(api_key=42, kind="request", versions=(0, 3), flexible=2)
class DeleteGroupsRequest:
    """Deletes groups that have no members (KIP-229).

    groups_names: their ids.
    """

    groups_names: array[string]


@message(api_key=42, kind="response", versions=(0, 3), flexible=2)
class DeleteGroupsResponse:
    """Says for each group whether it is deleted."""

    @struct
    class DeletableGroupResult:
        group_id: string
        error_code: int16
        error_message: nullable[string] = since(3, default=None, ignorable=True)

    throttle_time_ms: int32
    results: array[DeletableGroupResult]
