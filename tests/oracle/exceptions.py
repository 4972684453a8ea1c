"""The differences that are there on purpose: those of docs/differences.md, each with a sequence in `deliberate/`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.oracle.commands import Pass, Request
from tests.oracle.ours import SEVERAL_DUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Answer, Command
    from tests.oracle.compare import Difference


class Met(NamedTuple):
    """A difference where it was met.

    command: that of the answer, else the one that was just run. ours: what ours did then. is_unequal: whether the
    command is a CreatePartitions of a topic of which not all partitions had the same number of replicas.
    """

    command: Command
    difference: Difference
    ours: Answer
    is_unequal: bool = False

    @property
    def where(self) -> str:
        return self.difference.where

    def asks(self, *api_keys: int) -> bool:
        return isinstance(self.command, Request) and self.command.api_key in api_keys

    @property
    def body(self) -> dict[str, Any]:
        return self.command.body if isinstance(self.command, Request) else {}


class Deliberate(NamedTuple):
    """ends: whether the states of both differ from then on, so that the sequence ends there."""

    name: str
    ends: bool
    holds: Callable[[Met], bool]


DELETE_TOPICS, CREATE_PARTITIONS = 20, 37
REGISTRATION, HEARTBEAT, UNREGISTER, ASSIGN_REPLICAS = 62, 63, 64, 73
# ElectLeaders, AlterPartitionReassignments, AlterPartition, AssignReplicasToDirs.
PARTITION_APIS = (43, 45, 56, 73)
TOPIC = 2
BROKER = re.compile(r"Broker \d+ ")


def names_twice(met: Met) -> bool:
    """Whether a request names one partition twice."""
    if not met.asks(*PARTITION_APIS):
        return False
    found = partitions_of(met.body)
    return len(found) > len(set(found))


def partitions_of(tree: Any, topic: str = "") -> list[tuple[str, int]]:
    """The partitions that a body names, by topic, as often as it does."""
    if isinstance(tree, list):
        return [pair for item in tree for pair in partitions_of(item, topic)]
    if not isinstance(tree, dict):
        return []
    topic = str(tree.get("name") or tree.get("topic") or tree.get("topicId") or topic)
    found = []
    if "topics" not in tree and "topicPartitions" not in tree and "directories" not in tree:
        for key in ("partitions", "partitionIndexes"):
            found += [
                (topic, int(item.get("partitionIndex", 0) if isinstance(item, dict) else item))
                for item in tree.get(key, [])
            ]
    for key in ("topics", "topicPartitions", "directories"):
        found += partitions_of(tree.get(key) or [], topic)
    return found


def is_partition_change(met: Met) -> bool:
    """Whether the records that differ are PartitionChangeRecords, or fields of one."""
    return "PartitionChangeRecord" in met.where or (
        met.where.startswith("batches (")
        and all(
            record["type"] in ("PartitionChangeRecord", "BrokerRegistrationChangeRecord", "RegisterBrokerRecord")
            for batch in (*met.difference.ours, *met.difference.stock)
            for record in batch
        )
    )


def is_offline_heartbeat(met: Met) -> bool:
    """A heartbeat that tells of an offline directory and by which its broker changes its state."""
    if not met.asks(HEARTBEAT) or not met.body.get("offlineLogDirs") or not is_partition_change(met):
        return False
    return "broker_state_changed" in met.ours.events


def is_offline_assignment(met: Met) -> bool:
    """A replica that is put into a directory that is offline."""
    return met.asks(ASSIGN_REPLICAS) and is_partition_change(met)


def is_stale_index(met: Met) -> bool:
    """Partitions that Kafka finds by an index of ELRs from which ClearElrRecord took nothing."""
    return met.asks(REGISTRATION, UNREGISTER) and met.where == "batches[] (|PartitionChangeRecord)"


def is_stable_lookup(met: Met) -> bool:
    """A topic that is not committed yet, and is to be deleted."""
    return met.asks(DELETE_TOPICS) and met.where in ("batches (RemoveTopicRecord|)", "batches[] (RemoveTopicRecord|)")


def is_other_broker(met: Met) -> bool:
    """The broker that an error of UpdateFeatures names, the text being the same otherwise."""
    if met.where != "UpdateFeatures.errorMessage":
        return False
    texts = {BROKER.sub("", str(text)) for text in (met.difference.ours, met.difference.stock)}
    return len(texts) == 1


def is_unknown_error(met: Met) -> bool:
    """Stock answers -1, which is what an exception becomes that its controller does not expect."""
    return met.where.endswith("errorCode") and met.difference.stock == -1 and met.difference.ours != -1


def is_refused_and_written(met: Met) -> bool:
    """Records of partitions that stock writes although it refuses their topic with INVALID_REPLICATION_FACTOR."""
    return met.asks(CREATE_PARTITIONS) and met.where in ("batches (|PartitionRecord)", "batches[] (|PartitionRecord)")


def is_unequal_factor(met: Met) -> bool:
    """The replication factor of new partitions, where that of the others is not the same."""
    if not met.asks(CREATE_PARTITIONS) or not met.is_unequal:
        return False
    return met.where.startswith(("batches", "CreatePartitions.results[].error"))


def is_due_at_once(met: Met) -> bool:
    """A session and a periodic task that end in one passing of time: either may come first."""
    return isinstance(met.command, Pass) and met.where.startswith("batches") and SEVERAL_DUE in met.ours.events


def is_deleted_config(met: Met) -> bool:
    """Configs of topics in the image of stock alone."""
    if met.where != "snapshot (|ConfigRecord)":
        return False
    return all(record["resourceType"] == TOPIC for record in met.difference.stock)


def is_elr_in_image(met: Met) -> bool:
    """ELRs and last known ELRs in a snapshot of ours alone: their feature is off, and stock leaves them out."""
    return met.where.endswith((".eligibleLeaderReplicas", ".lastKnownElr")) and met.where.startswith("snapshot")


EXCEPTIONS: tuple[Deliberate, ...] = (
    Deliberate("stock-answers-unknown", True, is_unknown_error),
    # Stock fails: an event or a periodic task of its controller raised what it does not expect.
    Deliberate(
        "stock-fails", True, lambda met: met.where == "notes" and bool(met.difference.stock) and not met.difference.ours
    ),
    # Kafka computes both changes from one base, ours the second from what the first has left.
    Deliberate("partition-twice", True, names_twice),
    # Kafka computes both changes of a partition from one base, and can leave a leader outside the ISR.
    Deliberate("heartbeat-offline-and-state", True, is_offline_heartbeat),
    # Kafka computes the leaving of the ISR from the base before the assignment, and can leave the replica as leader.
    Deliberate("assign-offline-directory", True, is_offline_assignment),
    # The ELR of a partition that was cleared is emptied once more when a broker that was in it comes back.
    Deliberate("stale-elr-index", True, is_stale_index),
    # DeleteTopics looks names up in the latest state; Kafka in what is committed.
    Deliberate("delete-looks-up-latest", True, is_stable_lookup),
    # CreatePartitions of a topic ends at the first partition without an active replica; Kafka keeps those before it.
    Deliberate("refused-partitions-written", True, is_refused_and_written),
    # Kafka takes the factor of the first partition in a hash table, which depends on all writes since the last restart.
    Deliberate("unequal-replication-factor", True, is_unequal_factor),
    # What the comparison does not decide: the order of a fencing and a periodic task that are due at one moment.
    Deliberate("due-at-once", True, is_due_at_once),
    # In Kafka's image the configs of a deleted topic stay, and come back with a snapshot or a topic of that name.
    Deliberate("deleted-topic-configs", False, is_deleted_config),
    # Stock's snapshot loses the ELRs while their feature is off, so a restarted controller differs from the others.
    Deliberate("elr-in-image", True, is_elr_in_image),
    # Of several brokers that do not support a level Kafka names the first in a hash table, ours the lowest id.
    Deliberate("first-broker", False, is_other_broker),
    # APIs that ours does not serve are not announced.
    Deliberate("fewer-apis", False, lambda met: met.where.startswith("ApiVersions.apiKeys")),
)


def names() -> tuple[set[str], set[str]]:
    """The names of the deliberate ones, and of those that are not mended yet."""
    from tests.oracle.pending import PENDING

    return {row.name for row in EXCEPTIONS}, {row.name for row in PENDING}


def is_known(met: Met) -> tuple[str, bool] | None:
    """The name of the exception that a difference is, and whether the sequence ends there; None for a finding."""
    from tests.oracle.pending import PENDING  # it is written over this module

    for exception in (*EXCEPTIONS, *PENDING):
        if exception.holds(met):
            return exception.name, exception.ends
    return None
