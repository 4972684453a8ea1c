"""Schemas that travel inside other bytes or lie in files of their own."""

from records.schema import message, since, struct, until
from records.wire import array, blob, boolean, int32, int64, nullable, string, uuid


@message(kind="data", versions=(0, 1), flexible=0)
class QuorumStateData:
    """QuorumStateData"""

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
    """DefaultPrincipalData"""

    type: string
    name: string
    token_authenticated: boolean


@message(kind="data", versions=(0, 0), flexible=None)
class AbortedTxn:
    """AbortedTxn"""

    producer_id: int64
    first_offset: int64
    last_offset: int64
    last_stable_offset: int64


@message(kind="data", versions=(0, 3), flexible=None)
class ConsumerProtocolSubscription:
    """ConsumerProtocolSubscription"""

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
    """ConsumerProtocolAssignment"""

    @struct
    class TopicPartition:
        topic: string
        partitions: array[int32]

    assigned_partitions: array[TopicPartition]
    user_data: nullable[blob] = None
