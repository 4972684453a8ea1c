"""Changing the voters of the quorum (KIP-853)."""

from records.schema import field, message, since, struct, tagged
from records.wire import array, boolean, int16, int32, nullable, string, uint16, uuid


@message(api_key=80, kind="request", versions=(0, 1), flexible=0)
class AddRaftVoterRequest:
    """Asks: AddRaftVoter."""

    @struct
    class Listener:
        name: string
        host: string
        port: uint16

    cluster_id: nullable[string]
    timeout_ms: int32
    voter_id: int32
    voter_directory_id: uuid
    listeners: array[Listener]
    ack_when_committed: boolean = since(1, default=True)


@message(api_key=80, kind="response", versions=(0, 1), flexible=0)
class AddRaftVoterResponse:
    """Answers: AddRaftVoter."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = field(ignorable=True)


@message(api_key=81, kind="request", versions=(0, 0), flexible=0)
class RemoveRaftVoterRequest:
    """Asks: RemoveRaftVoter."""

    cluster_id: nullable[string]
    voter_id: int32
    voter_directory_id: uuid


@message(api_key=81, kind="response", versions=(0, 0), flexible=0)
class RemoveRaftVoterResponse:
    """Answers: RemoveRaftVoter."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = field(ignorable=True)


@message(api_key=82, kind="request", versions=(0, 0), flexible=0)
class UpdateRaftVoterRequest:
    """Asks: UpdateRaftVoter."""

    @struct
    class Listener:
        name: string
        host: string
        port: uint16

    @struct
    class KRaftVersionFeature:
        min_supported_version: int16
        max_supported_version: int16

    cluster_id: nullable[string]
    current_leader_epoch: int32
    voter_id: int32
    voter_directory_id: uuid
    listeners: array[Listener]
    kraft_version_feature: KRaftVersionFeature


@message(api_key=82, kind="response", versions=(0, 0), flexible=0)
class UpdateRaftVoterResponse:
    """Answers: UpdateRaftVoter."""

    @struct
    class CurrentLeader:
        leader_id: int32 = -1
        leader_epoch: int32 = -1
        host: string
        port: int32

    throttle_time_ms: int32
    error_code: int16
    current_leader: CurrentLeader = tagged(0, default=None)
