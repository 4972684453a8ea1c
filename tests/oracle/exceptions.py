"""The differences that are there on purpose: those of docs/differences.md, each with a sequence in `sequences/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.oracle.commands import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Command
    from tests.oracle.compare import Difference


class Deliberate(NamedTuple):
    """ends: whether the states of both differ from then on, so that the sequence ends there."""

    name: str
    ends: bool
    holds: Callable[[Command, Difference], bool]


DELETE_TOPICS = 20
REGISTRATION, HEARTBEAT, UNREGISTER, ASSIGN_REPLICAS = 62, 63, 64, 73
# ElectLeaders, AlterPartitionReassignments, AlterPartition, AssignReplicasToDirs.
PARTITION_APIS = (43, 45, 56, 73)
SEVERAL_ERRORS = ("UpdateFeatures.errorMessage", "AlterConfigs.responses[].errorMessage",
                  "IncrementalAlterConfigs.responses[].errorMessage")  # fmt: skip


def is_other_error(command: Command, difference: Difference) -> bool:
    """A text of an error where the request has several entries that may be wrong, the code being the same."""
    return (
        isinstance(command, Request)
        and difference.where in SEVERAL_ERRORS
        and bool(difference.ours)
        and bool(difference.stock)
        and max(len(items) for items in entries(command.body)) > 1
    )


def entries(body: dict[str, Any]) -> list[list[Any]]:
    """The lists of things that are checked one by one."""
    found = [body.get("featureUpdates", [])]
    return [*found, *(resource.get("configs", []) for resource in body.get("resources", []))]


def names_twice(command: Command) -> bool:
    """Whether a request names one partition twice."""
    if not isinstance(command, Request) or command.api_key not in PARTITION_APIS:
        return False
    found = partitions_of(command.body)
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


def is_offline_directory(command: Command, difference: Difference, api_key: int) -> bool:
    """Records that come of a directory that is offline, told by a heartbeat or an AssignReplicasToDirs."""
    if not isinstance(command, Request) or command.api_key != api_key or not difference.where.startswith("batches"):
        return False
    return api_key == ASSIGN_REPLICAS or bool(command.body.get("offlineLogDirs"))


def is_stale_index(command: Command, difference: Difference) -> bool:
    """Partitions that Kafka finds by an index of ELRs from which ClearElrRecord took nothing."""
    if not isinstance(command, Request) or command.api_key not in (REGISTRATION, UNREGISTER):
        return False
    return difference.where == "batches[] (|PartitionChangeRecord)"


def is_stable_lookup(command: Command, difference: Difference) -> bool:
    """A topic that is not committed yet, and is to be deleted."""
    of_request = isinstance(command, Request) and command.api_key == DELETE_TOPICS
    return of_request and difference.where == "batches (RemoveTopicRecord|)"


def is_unknown_error(difference: Difference) -> bool:
    """Stock answers -1, which is what an exception becomes that its controller does not expect."""
    return difference.where.endswith("errorCode") and difference.stock == -1 and difference.ours != -1


EXCEPTIONS: tuple[Deliberate, ...] = (
    Deliberate("stock-answers-unknown", True, lambda _, d: is_unknown_error(d)),
    # Stock fails: an event or a periodic task of its controller raised what it does not expect.
    Deliberate("stock-fails", True, lambda _, d: d.where == "notes" and bool(d.stock) and not d.ours),
    # Kafka computes both changes from one base, ours the second from what the first has left.
    Deliberate("partition-twice", True, lambda c, _: names_twice(c)),
    # A heartbeat that fences or unfences and tells of an offline directory: Kafka computes both from one base, and can
    # leave a leader outside the ISR.
    Deliberate("heartbeat-offline-and-state", True, lambda c, d: is_offline_directory(c, d, HEARTBEAT)),
    # A replica that is put into a directory that is offline: Kafka computes its leaving of the ISR from the base before
    # the assignment, and can leave it as the leader.
    Deliberate("assign-offline-directory", True, lambda c, d: is_offline_directory(c, d, ASSIGN_REPLICAS)),
    # The ELR of a partition that was cleared is emptied once more when a broker that was in it comes back.
    Deliberate("stale-elr-index", True, is_stale_index),
    # DeleteTopics looks names up in the latest state; Kafka in what is committed.
    Deliberate("delete-looks-up-latest", True, is_stable_lookup),
    # Of several errors of one request Kafka names the first in the order of a hash map, ours the first of the request.
    Deliberate("first-error", False, is_other_error),
    # In Kafka's image the configs of a deleted topic stay, and come back with a snapshot or a topic of that name.
    Deliberate("deleted-topic-configs", False, lambda _, d: d.where == "snapshot (|ConfigRecord)"),
    # APIs that ours does not serve are not announced.
    Deliberate("fewer-apis", False, lambda _, d: d.where.startswith("ApiVersions.apiKeys")),
)


def names() -> tuple[set[str], set[str]]:
    """The names of the deliberate ones, and of those that are not mended yet."""
    from tests.oracle.pending import PENDING

    return {row.name for row in EXCEPTIONS}, {row.name for row in PENDING}


def is_known(command: Command, difference: Difference) -> tuple[str, bool] | None:
    """The name of the exception that a difference is, and whether the sequence ends there; None for a finding."""
    from tests.oracle.pending import PENDING  # it is written over this module

    for exception in (*EXCEPTIONS, *PENDING):
        if exception.holds(command, difference):
            return exception.name, exception.ends
    return None
