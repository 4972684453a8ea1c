"""Records of topics and partitions (KIP-631, KIP-858, KIP-966)."""

from records.schema import message, since, tagged
from records.wire import array, int8, int32, nullable, string, uuid


@message(api_key=2, kind="metadata", versions=(0, 0), flexible=0)
class TopicRecord:
    """Record 2."""

    name: string
    topic_id: uuid


@message(api_key=3, kind="metadata", versions=(0, 2), flexible=0)
class PartitionRecord:
    """Record 3."""

    partition_id: int32 = -1
    topic_id: uuid
    replicas: array[int32]
    isr: array[int32]
    removing_replicas: array[int32]
    adding_replicas: array[int32]
    leader: int32 = -1
    leader_recovery_state: int8 = tagged(0, default=0)
    leader_epoch: int32 = -1
    partition_epoch: int32 = -1
    directories: array[uuid] = since(1, default=())
    eligible_leader_replicas: nullable[array[int32]] = tagged(1, default=None, since=2)
    last_known_elr: nullable[array[int32]] = tagged(2, default=None, since=2)


@message(api_key=5, kind="metadata", versions=(0, 2), flexible=0)
class PartitionChangeRecord:
    """Record 5."""

    partition_id: int32 = -1
    topic_id: uuid
    isr: nullable[array[int32]] = tagged(0, default=None)
    leader: int32 = tagged(1, default=-2)
    replicas: nullable[array[int32]] = tagged(2, default=None)
    removing_replicas: nullable[array[int32]] = tagged(3, default=None)
    adding_replicas: nullable[array[int32]] = tagged(4, default=None)
    leader_recovery_state: int8 = tagged(5, default=-1)
    directories: nullable[array[uuid]] = tagged(8, default=None, since=1)
    eligible_leader_replicas: nullable[array[int32]] = tagged(6, default=None, since=2)
    last_known_elr: nullable[array[int32]] = tagged(7, default=None, since=2)


@message(api_key=9, kind="metadata", versions=(0, 0), flexible=0)
class RemoveTopicRecord:
    """Record 9."""

    topic_id: uuid


@message(api_key=28, kind="metadata", versions=(0, 0), flexible=0)
class ClearElrRecord:
    """Record 28."""

    topic_name: string
