"""Schemas that are inside other bytes, or in files of their own."""

from records.schema import message, since, struct, until
from records.wire import array, blob, boolean, int32, int64, nullable, string, uuid


@message(kind="data", versions=(0, 1), flexible=0)
class QuorumStateData:
    """The election state of a voter: its epoch, vote and leader. As JSON, the file quorum-state (KIP-595, KIP-853).

    leader_id: -1 if there is none.
    voted_id: -1 if it has not voted.
    voted_directory_id: the directory of the candidate that it voted for.
    applied_offset: of version 0; always 0.
    current_voters: of version 0.
    """

    @struct
    class Voter:
        voter_id: int32 = until(0, default=0)

    cluster_id: string = until(0, default="")
    leader_id: int32 = -1
    leader_epoch: int32 = -1
    voted_id: int32 = -1
    voted_directory_id: uuid = since(1, default=bytes(16))
    applied_offset: int64 = until(0, default=0)
    current_voters: nullable[array[Voter]] = until(0, default=())


@message(kind="data", versions=(0, 0), flexible=0)
class DefaultPrincipalData:
    """A principal as brokers serialize it into an Envelope (KIP-590).

    type: User, as a rule.
    name: of the principal.
    token_authenticated: whether it came with a delegation token.
    """

    type: string
    name: string
    token_authenticated: boolean


@message(kind="data", versions=(0, 0), flexible=None)
class AbortedTxn:
    """One entry of a partition's index of aborted transactions (KIP-98).

    first_offset: the first record of the transaction.
    last_offset: its abort marker.
    last_stable_offset: as it was when the marker was written.
    """

    producer_id: int64
    first_offset: int64
    last_offset: int64
    last_stable_offset: int64


@message(kind="data", versions=(0, 3), flexible=None)
class ConsumerProtocolSubscription:
    """The subscription that a consumer of a classic group sends to the group's leader (KIP-429, KIP-792, KIP-881).

    user_data: for the assignor.
    owned_partitions: the partitions that it owns.
    """

    @struct
    class TopicPartition:
        topic: string = since(1, default="")
        partitions: array[int32] = since(1, default=())

    topics: array[string]
    user_data: nullable[blob] = None
    owned_partitions: array[TopicPartition] = since(1, default=(), ignorable=True)
    generation_id: int32 = since(2, default=-1, ignorable=True)
    rack_id: nullable[string] = since(3, default=None, ignorable=True)


@message(kind="data", versions=(0, 3), flexible=None)
class ConsumerProtocolAssignment:
    """The assignment that the leader of a classic group gives to a consumer.

    assigned_partitions: the partitions that it is to own.
    user_data: for the assignor.
    """

    @struct
    class TopicPartition:
        topic: string
        partitions: array[int32]

    assigned_partitions: array[TopicPartition]
    user_data: nullable[blob] = None
