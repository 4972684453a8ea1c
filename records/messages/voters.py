"""Changing the voters of the quorum (KIP-853)."""

from records.schema import field, message, since, struct, tagged_field
from records.wire import array, boolean, int16, int32, nullable, string, uint16, uuid


@message(api_key=80, kind="request", versions=(0, 1), flexible=0)
class AddRaftVoterRequest:
    """Makes an observer a voter of the quorum (KIP-853, KIP-1186).

    cluster_id: null if the caller does not send it.
    timeout_ms: how long the leader may wait for the observer to catch up.
    voter_id: the new voter.
    voter_directory_id: its directory.
    listeners: where it listens.
    ack_when_committed: true to answer when the new set is committed, false when it is in the leader's log.
    """

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
    """Says whether the voter is added."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = field(ignorable=True)


@message(api_key=81, kind="request", versions=(0, 0), flexible=0)
class RemoveRaftVoterRequest:
    """Removes a voter from the quorum (KIP-853).

    cluster_id: null if the caller does not send it.
    voter_id: of the voter to remove.
    voter_directory_id: its directory.
    """

    cluster_id: nullable[string]
    voter_id: int32
    voter_directory_id: uuid


@message(api_key=81, kind="response", versions=(0, 0), flexible=0)
class RemoveRaftVoterResponse:
    """Says whether the voter was removed."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = field(ignorable=True)


@message(api_key=82, kind="request", versions=(0, 0), flexible=0)
class UpdateRaftVoterRequest:
    """A voter sends the leader its endpoints and the kraft.versions that it supports (KIP-853).

    cluster_id: null if the voter does not send it.
    current_leader_epoch: the epoch in which the voter follows.
    listeners: where it listens.
    kraft_version_feature: the levels of kraft.version that it supports.
    """

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
    """Whether the voter's entry is updated, and the leader.

    current_leader: set in every answer.
    """

    @struct
    class CurrentLeader:
        leader_id: int32 = -1
        leader_epoch: int32 = -1
        host: string
        port: int32

    throttle_time_ms: int32
    error_code: int16
    current_leader: CurrentLeader = tagged_field(0, default=None)
