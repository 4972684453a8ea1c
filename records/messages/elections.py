"""Elections of the quorum: Vote, BeginQuorumEpoch, EndQuorumEpoch (KIP-595, KIP-853, KIP-996)."""

from records.schema import message, since, struct, tagged_field, until
from records.wire import array, boolean, int16, int32, int64, nullable, string, uint16, uuid


@message(api_key=52, kind="request", versions=(0, 2), flexible=0)
class VoteRequest:
    """A candidate asks another voter for its vote; a prospective one, whether it would get it (KIP-595, KIP-853,
    KIP-996).

    voter_id: the voter that the request is for.
    replica_epoch: the candidate's epoch; with pre_vote, the epoch that it is in.
    replica_id: the candidate.
    replica_directory_id: the candidate's directory.
    last_offset_epoch: the epoch of the last record in the candidate's log.
    last_offset: where the candidate's log ends, exclusive.
    pre_vote: whether this is a pre-vote, which changes no epoch.
    """

    @struct
    class TopicData:
        @struct
        class PartitionData:
            partition_index: int32
            replica_epoch: int32
            replica_id: int32
            replica_directory_id: uuid = since(1, default=bytes(16), ignorable=True)
            voter_directory_id: uuid = since(1, default=bytes(16), ignorable=True)
            last_offset_epoch: int32
            last_offset: int64
            pre_vote: boolean = since(2, default=False)

        topic_name: string
        partitions: array[PartitionData]

    cluster_id: nullable[string] = None
    voter_id: int32 = since(1, default=-1, ignorable=True)
    topics: array[TopicData]


@message(api_key=52, kind="response", versions=(0, 2), flexible=0)
class VoteResponse:
    """Whether the vote is granted, and the leader if the voter knows one (KIP-595, KIP-853).

    vote_granted: whether the candidate gets the vote.
    """

    @struct
    class TopicData:
        @struct
        class PartitionData:
            partition_index: int32
            error_code: int16
            leader_id: int32
            leader_epoch: int32
            vote_granted: boolean

        topic_name: string
        partitions: array[PartitionData]

    @struct
    class NodeEndpoint:
        node_id: int32 = since(1, default=0)
        host: string = since(1, default="")
        port: uint16 = since(1, default=0)

    error_code: int16
    topics: array[TopicData]
    node_endpoints: array[NodeEndpoint] = tagged_field(0, default=(), since=1)


@message(api_key=53, kind="request", versions=(0, 1), flexible=1)
class BeginQuorumEpochRequest:
    """A new leader notifies a voter of its election (KIP-595, KIP-853).

    voter_id: the voter that the request is for.
    leader_endpoints: where the leader listens.
    """

    @struct
    class TopicData:
        @struct
        class PartitionData:
            partition_index: int32
            voter_directory_id: uuid = since(1, default=bytes(16), ignorable=True)
            leader_id: int32
            leader_epoch: int32

        topic_name: string
        partitions: array[PartitionData]

    @struct
    class LeaderEndpoint:
        name: string = since(1, default="")
        host: string = since(1, default="")
        port: uint16 = since(1, default=0)

    cluster_id: nullable[string] = None
    voter_id: int32 = since(1, default=-1, ignorable=True)
    topics: array[TopicData]
    leader_endpoints: array[LeaderEndpoint] = since(1, default=(), ignorable=True)


@message(api_key=53, kind="response", versions=(0, 1), flexible=1)
class BeginQuorumEpochResponse:
    """Says whether the voter follows the leader, or knows a later epoch."""

    @struct
    class TopicData:
        @struct
        class PartitionData:
            partition_index: int32
            error_code: int16
            leader_id: int32
            leader_epoch: int32

        topic_name: string
        partitions: array[PartitionData]

    @struct
    class NodeEndpoint:
        node_id: int32 = since(1, default=0)
        host: string = since(1, default="")
        port: uint16 = since(1, default=0)

    error_code: int16
    topics: array[TopicData]
    node_endpoints: array[NodeEndpoint] = tagged_field(0, default=(), since=1)


@message(api_key=54, kind="request", versions=(0, 1), flexible=1)
class EndQuorumEpochRequest:
    """A leader that resigns asks the voters to elect another without waiting for a timeout (KIP-595, KIP-853).

    leader_id: the leader that resigns.
    preferred_successors: in version 0, voters by the end of their logs, the longest first.
    preferred_candidates: since version 1, likewise; a later one in the list waits longer before it starts an election.
    leader_endpoints: where the leader listens.
    candidate_id: the voter.
    candidate_directory_id: its directory.
    """

    @struct
    class TopicData:
        @struct
        class PartitionData:
            @struct
            class ReplicaInfo:
                candidate_id: int32 = since(1, default=0)
                candidate_directory_id: uuid = since(1, default=bytes(16))

            partition_index: int32
            leader_id: int32
            leader_epoch: int32
            preferred_successors: array[int32] = until(0, default=(), ignorable=True)
            preferred_candidates: array[ReplicaInfo] = since(1, default=(), ignorable=True)

        topic_name: string
        partitions: array[PartitionData]

    @struct
    class LeaderEndpoint:
        name: string = since(1, default="")
        host: string = since(1, default="")
        port: uint16 = since(1, default=0)

    cluster_id: nullable[string] = None
    topics: array[TopicData]
    leader_endpoints: array[LeaderEndpoint] = since(1, default=(), ignorable=True)


@message(api_key=54, kind="response", versions=(0, 1), flexible=1)
class EndQuorumEpochResponse:
    """Says whether the voter accepted the resignation."""

    @struct
    class TopicData:
        @struct
        class PartitionData:
            partition_index: int32
            error_code: int16
            leader_id: int32
            leader_epoch: int32

        topic_name: string
        partitions: array[PartitionData]

    @struct
    class NodeEndpoint:
        node_id: int32 = since(1, default=0)
        host: string = since(1, default="")
        port: uint16 = since(1, default=0)

    error_code: int16
    topics: array[TopicData]
    node_endpoints: array[NodeEndpoint] = tagged_field(0, default=(), since=1)
