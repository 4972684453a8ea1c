"""Classic groups and their coordinators."""

from records.schema import field, message, since, struct, until
from records.wire import array, blob, boolean, int8, int16, int32, nullable, string


@message(api_key=10, kind="request", versions=(0, 6), flexible=3)
class FindCoordinatorRequest:
    """Asks: FindCoordinator."""

    key: string = until(3, default="")
    key_type: int8 = since(1, default=0)
    coordinator_keys: array[string] = since(4, default=())


@message(api_key=10, kind="response", versions=(0, 6), flexible=3)
class FindCoordinatorResponse:
    """Answers: FindCoordinator."""

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
    """Asks: JoinGroup."""

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
    """Answers: JoinGroup."""

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
    """Asks: Heartbeat."""

    group_id: string
    generation_id: int32
    member_id: string
    group_instance_id: nullable[string] = since(3, default=None)


@message(api_key=12, kind="response", versions=(0, 4), flexible=4)
class HeartbeatResponse:
    """Answers: Heartbeat."""

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16


@message(api_key=13, kind="request", versions=(0, 5), flexible=4)
class LeaveGroupRequest:
    """Asks: LeaveGroup."""

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
    """Answers: LeaveGroup."""

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
    """Asks: SyncGroup."""

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
    """Answers: SyncGroup."""

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16
    protocol_type: nullable[string] = since(5, default=None, ignorable=True)
    protocol_name: nullable[string] = since(5, default=None, ignorable=True)
    assignment: blob


@message(api_key=15, kind="request", versions=(0, 6), flexible=5)
class DescribeGroupsRequest:
    """Asks: DescribeGroups."""

    groups: array[string]
    include_authorized_operations: boolean = since(3, default=False)


@message(api_key=15, kind="response", versions=(0, 6), flexible=5)
class DescribeGroupsResponse:
    """Answers: DescribeGroups."""

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
    """Asks: ListGroups."""

    states_filter: array[string] = since(4, default=())
    types_filter: array[string] = since(5, default=())


@message(api_key=16, kind="response", versions=(0, 5), flexible=3)
class ListGroupsResponse:
    """Answers: ListGroups."""

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
    """Asks: DeleteGroups."""

    groups_names: array[string]


@message(api_key=42, kind="response", versions=(0, 3), flexible=2)
class DeleteGroupsResponse:
    """Answers: DeleteGroups."""

    @struct
    class DeletableGroupResult:
        group_id: string
        error_code: int16
        error_message: nullable[string] = since(3, default=None, ignorable=True)

    throttle_time_ms: int32
    results: array[DeletableGroupResult]
