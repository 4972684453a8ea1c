"""Records of topics and partitions (KIP-631, KIP-858, KIP-966)."""

from records.schema import message, since, tagged_field
from records.wire import array, int8, int32, nullable, string, uuid


@message(api_key=2, kind="metadata", versions=(0, 0), flexible=0)
class TopicRecord:
    """A topic was made (KIP-631, KIP-516)."""

    name: string
    topic_id: uuid


@message(api_key=3, kind="metadata", versions=(0, 2), flexible=0)
class PartitionRecord:
    """A partition was made, or is restated whole in a snapshot (KIP-631, KIP-858, KIP-966).

    replicas: all that there are, the preferred leader first.
    directories: log directory of each replica, in the order of replicas; zeros and other reserved ids say that it is
        not known, or lost.
    leader: -1 where there is none.
    """

    partition_id: int32 = -1
    topic_id: uuid
    replicas: array[int32]
    isr: array[int32]
    removing_replicas: array[int32]
    adding_replicas: array[int32]
    leader: int32 = -1
    leader_recovery_state: int8 = tagged_field(0, default=0)
    leader_epoch: int32 = -1
    partition_epoch: int32 = -1
    directories: array[uuid] = since(1, default=())
    eligible_leader_replicas: nullable[array[int32]] = tagged_field(1, default=None, since=2)
    last_known_elr: nullable[array[int32]] = tagged_field(2, default=None, since=2)


@message(api_key=5, kind="metadata", versions=(0, 2), flexible=0)
class PartitionChangeRecord:
    """A partition changed in the fields that stand here; what is null, -1 or -2 by default stays (KIP-631, KIP-858,
    KIP-966).

    isr: null unchanged. A change of it, or of leader, raises the partition epoch.
    leader: -1 none, -2 unchanged. A new leader raises the leader epoch.
    replicas: null unchanged.
    removing_replicas: null unchanged.
    adding_replicas: null unchanged.
    leader_recovery_state: 0 recovered, 1 recovering, -1 unchanged.
    directories: in the order of replicas; null unchanged.
    eligible_leader_replicas: null unchanged.
    last_known_elr: null unchanged.
    """

    partition_id: int32 = -1
    topic_id: uuid
    isr: nullable[array[int32]] = tagged_field(0, default=None)
    leader: int32 = tagged_field(1, default=-2)
    replicas: nullable[array[int32]] = tagged_field(2, default=None)
    removing_replicas: nullable[array[int32]] = tagged_field(3, default=None)
    adding_replicas: nullable[array[int32]] = tagged_field(4, default=None)
    leader_recovery_state: int8 = tagged_field(5, default=-1)
    directories: nullable[array[uuid]] = tagged_field(8, default=None, since=1)
    eligible_leader_replicas: nullable[array[int32]] = tagged_field(6, default=None, since=2)
    last_known_elr: nullable[array[int32]] = tagged_field(7, default=None, since=2)


@message(api_key=9, kind="metadata", versions=(0, 0), flexible=0)
class RemoveTopicRecord:
    """A topic was deleted, with its partitions and configs (KIP-631)."""

    topic_id: uuid


@message(api_key=28, kind="metadata", versions=(0, 0), flexible=0)
class ClearElrRecord:
    """Eligible leader replicas are forgotten, of one topic or of all (KIP-966).

    topic_name: empty for all topics.
    """

    topic_name: string
