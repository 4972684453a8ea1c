"""Fetch, of clients, of replicas and of the quorum (KIP-227, KIP-320, KIP-595)."""

from records.schema import message, since, struct, tagged_field, until
from records.wire import array, int8, int16, int32, int64, nullable, record_bytes, string, uuid


@message(api_key=1, kind="request", versions=(0, 18), served=(4, 18), flexible=12)
class FetchRequest:
    """Reads record batches of partitions from given offsets on; consumers, replicas and the voters of the quorum ask so
    (KIP-74, KIP-227, KIP-320, KIP-595, KIP-853, KIP-1166).

    cluster_id: asked of the quorum's replicas; null from consumers.
    replica_id: the broker or controller that replicates; -1 from a consumer.
    replica_state: the replica that asks, since version 15.
    replica_epoch: its broker epoch; -1 from a consumer or controller.
    max_wait_ms: how long the answer may wait until there are min_bytes.
    min_bytes: as soon as there are as many, the answer goes out.
    max_bytes: a bound for the whole answer; its first batch may exceed it, so that a reader gets on.
    isolation_level: 0 reads up to the high watermark, 1 leaves out what is not committed by its transaction.
    session_id: the fetch session; 0 opens one, or asks without.
    session_epoch: counts the requests of a session: 0 opens one, -1 asks without or ends it.
    forgotten_topics_data: partitions that leave the session.
    rack_id: where the consumer stands, so that a replica nearby can be named to it.
    fetch_offset: the first offset wanted; a replica so says that it has all before it on its disk.
    last_fetched_epoch: the epoch of the last record that a replica has; -1 for none. The leader finds divergence by it.
    log_start_offset: the first offset that a replica has; -1 from a consumer.
    partition_max_bytes: a bound for this partition; its first batch may exceed it.
    partitions.high_watermark: the one that the replica knows, so that a leader with a later one answers at once; -1
        unknown, 2^63 - 1 where the replica does not say.
    forgotten_topics_data.partitions: their indexes.
    """

    @struct
    class ReplicaState:
        replica_id: int32 = since(15, default=-1)
        replica_epoch: int64 = since(15, default=-1)

    @struct
    class FetchTopic:
        @struct
        class FetchPartition:
            partition: int32
            current_leader_epoch: int32 = since(9, default=-1, ignorable=True)
            fetch_offset: int64
            last_fetched_epoch: int32 = since(12, default=-1)
            log_start_offset: int64 = since(5, default=-1, ignorable=True)
            partition_max_bytes: int32
            replica_directory_id: uuid = tagged_field(0, default=bytes(16), since=17, ignorable=True)
            high_watermark: int64 = tagged_field(1, default=9223372036854775807, since=18, ignorable=True)

        topic: string = until(12, default="", ignorable=True)
        topic_id: uuid = since(13, default=bytes(16), ignorable=True)
        partitions: array[FetchPartition]

    @struct
    class ForgottenTopic:
        topic: string = since(7, default="", until=12, ignorable=True)
        topic_id: uuid = since(13, default=bytes(16), ignorable=True)
        partitions: array[int32] = since(7, default=())

    cluster_id: nullable[string] = tagged_field(0, default=None, since=12, ignorable=True)
    replica_id: int32 = until(14, default=-1)
    replica_state: ReplicaState = tagged_field(1, default=None, since=15)
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = since(3, default=2147483647, ignorable=True)
    isolation_level: int8 = since(4, default=0, ignorable=True)
    session_id: int32 = since(7, default=0, ignorable=True)
    session_epoch: int32 = since(7, default=-1, ignorable=True)
    topics: array[FetchTopic]
    forgotten_topics_data: array[ForgottenTopic] = since(7, default=())
    rack_id: string = since(11, default="", ignorable=True)


@message(api_key=1, kind="response", versions=(0, 18), served=(4, 18), flexible=12)
class FetchResponse:
    """Gives record batches, whole or cut at the end, and where the log stands; to a replica, also where its log
    diverges (KIP-227, KIP-320, KIP-392, KIP-595, KIP-630, KIP-951).

    session_id: the session to go on with; 0 for none.
    last_stable_offset: below it every transaction is decided; -1 where unknown.
    diverging_epoch: the last epoch that both logs share, and where it ends here: the replica truncates to it.
    diverging_epoch.epoch: that epoch; -1 where there is no divergence.
    diverging_epoch.end_offset: where it ends in the leader's log, exclusive.
    current_leader: set where the asked replica is not the leader.
    snapshot_id: what a replica must fetch by FetchSnapshot, since the log no longer reaches back to its offset.
    snapshot_id.end_offset: the snapshot holds everything below; -1 where there is none to fetch.
    aborted_transactions: those whose records a reader of committed records leaves out; null where none was asked for.
    aborted_transactions.first_offset: the first record of the aborted transaction.
    preferred_read_replica: the replica that the consumer should rather read from; -1 for none.
    records: batches from the offset wanted on; the last may be cut off.
    """

    @struct
    class FetchableTopicResponse:
        @struct
        class PartitionData:
            @struct
            class EpochEndOffset:
                epoch: int32 = since(12, default=-1)
                end_offset: int64 = since(12, default=-1)

            @struct
            class LeaderIdAndEpoch:
                leader_id: int32 = since(12, default=-1)
                leader_epoch: int32 = since(12, default=-1)

            @struct
            class SnapshotId:
                end_offset: int64 = -1
                epoch: int32 = -1

            @struct
            class AbortedTransaction:
                producer_id: int64 = since(4, default=0)
                first_offset: int64 = since(4, default=0)

            partition_index: int32
            error_code: int16
            high_watermark: int64
            last_stable_offset: int64 = since(4, default=-1, ignorable=True)
            log_start_offset: int64 = since(5, default=-1, ignorable=True)
            diverging_epoch: EpochEndOffset = tagged_field(0, default=None, since=12)
            current_leader: LeaderIdAndEpoch = tagged_field(1, default=None, since=12)
            snapshot_id: SnapshotId = tagged_field(2, default=None, since=12)
            aborted_transactions: nullable[array[AbortedTransaction]] = since(4, default=(), ignorable=True)
            preferred_read_replica: int32 = since(11, default=-1)
            records: nullable[record_bytes]

        topic: string = until(12, default="", ignorable=True)
        topic_id: uuid = since(13, default=bytes(16), ignorable=True)
        partitions: array[PartitionData]

    @struct
    class NodeEndpoint:
        node_id: int32 = since(16, default=0)
        host: string = since(16, default="")
        port: int32 = since(16, default=0)
        rack: nullable[string] = since(16, default=None)

    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    error_code: int16 = since(7, default=0, ignorable=True)
    session_id: int32 = since(7, default=0)
    responses: array[FetchableTopicResponse]
    node_endpoints: array[NodeEndpoint] = tagged_field(0, default=(), since=16)
