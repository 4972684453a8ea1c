"""FetchSnapshot (KIP-630)."""

from records.schema import field, message, since, struct, tagged_field
from records.wire import array, int16, int32, int64, nullable, record_bytes, string, uint16, uuid


@message(api_key=59, kind="request", versions=(0, 1), flexible=0)
class FetchSnapshotRequest:
    """A replica of the quorum fetches a part of a snapshot (KIP-630, KIP-853).

    cluster_id: null if the replica does not send it.
    replica_id: of the sender; -1 unless it is a voter or observer.
    max_bytes: the limit for the whole response.
    current_leader_epoch: the epoch in which the replica follows.
    position: the first byte wanted.
    snapshot_id.end_offset: the snapshot covers all records below.
    """

    @struct
    class TopicSnapshot:
        @struct
        class PartitionSnapshot:
            @struct
            class SnapshotId:
                end_offset: int64
                epoch: int32

            partition: int32
            current_leader_epoch: int32
            snapshot_id: SnapshotId
            position: int64
            replica_directory_id: uuid = tagged_field(0, default=bytes(16), since=1, ignorable=True)

        name: string
        partitions: array[PartitionSnapshot]

    cluster_id: nullable[string] = tagged_field(0, default=None)
    replica_id: int32 = -1
    max_bytes: int32 = 2147483647
    topics: array[TopicSnapshot]


@message(api_key=59, kind="response", versions=(0, 1), flexible=0)
class FetchSnapshotResponse:
    """Returns a part of a snapshot; replicas join the parts (KIP-630, KIP-853).

    index: the partition.
    current_leader: set if this replica is not the leader, or the epoch differs.
    size: of the whole snapshot, in bytes.
    position: where this part starts.
    unaligned_records: bytes of the snapshot; start and end may be within a batch.
    snapshot_id.end_offset: the snapshot covers all records below.
    """

    @struct
    class TopicSnapshot:
        @struct
        class PartitionSnapshot:
            @struct
            class SnapshotId:
                end_offset: int64
                epoch: int32

            @struct
            class LeaderIdAndEpoch:
                leader_id: int32
                leader_epoch: int32

            index: int32
            error_code: int16
            snapshot_id: SnapshotId
            current_leader: LeaderIdAndEpoch = tagged_field(0, default=None)
            size: int64
            position: int64
            unaligned_records: record_bytes

        name: string
        partitions: array[PartitionSnapshot]

    @struct
    class NodeEndpoint:
        node_id: int32 = since(1, default=0)
        host: string = since(1, default="")
        port: uint16 = since(1, default=0)

    throttle_time_ms: int32 = field(ignorable=True)
    error_code: int16
    topics: array[TopicSnapshot]
    node_endpoints: array[NodeEndpoint] = tagged_field(0, default=(), since=1)
