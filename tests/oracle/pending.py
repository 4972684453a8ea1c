"""The differences that were found and are not mended yet, so that a run finds others. It must become empty.

Each row has its sequence in `found/`, which fails as a test once ours is mended: then the row goes, and the sequence
moves to `sequences/`. "Row" is a row of part 7 of the issue.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.oracle.commands import Pass, Request
from tests.oracle.exceptions import Deliberate, partitions_of

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.compare import Difference

CREATE_TOPICS, DELETE_TOPICS, CREATE_PARTITIONS = 19, 20, 37
REASSIGN, LIST_REASSIGNMENTS = 45, 46
REGISTRATION, HEARTBEAT = 62, 63
INVALID_REPLICATION_FACTOR, INVALID_REPLICA_ASSIGNMENT = 38, 39
ENDED = ("batches (BrokerRegistrationChangeRecord|)", "batches[] (BrokerRegistrationChangeRecord|)")
# Of one request.
RECORDS_MAX = 10_000
# CreateTopics, DeleteTopics, CreatePartitions, ElectLeaders, AlterPartitionReassignments.
TIMED = (19, 20, 37, 43, 45)


def of(command: Command, *api_keys: int) -> bool:
    return isinstance(command, Request) and command.api_key in api_keys


def text(value: Any) -> str:
    return json.dumps(value)


def is_cordoned(command: Command, difference: Difference) -> bool:
    """Row 1; the code is a difference of its own, and what is refused is not always a change."""
    is_code = difference.where.endswith("errorCode") and difference.ours == INVALID_REPLICA_ASSIGNMENT
    if is_code and of(command, CREATE_TOPICS, CREATE_PARTITIONS, REASSIGN):
        return True
    return "but all its log directories are cordoned" in text(difference.ours)


def is_cordoned_record(command: Command, difference: Difference) -> bool:
    """Row 1: what stock writes then."""
    return of(command, CREATE_TOPICS, CREATE_PARTITIONS, REASSIGN) and difference.where.startswith("batches (|")


def is_replication_factor(command: Command, difference: Difference) -> bool:
    """Row 2."""
    if of(command, CREATE_PARTITIONS) and difference.where.startswith("batches"):
        return True
    is_code = difference.where == "CreatePartitions.results[].errorCode"
    if is_code:
        return {difference.ours, difference.stock} <= {0, INVALID_REPLICATION_FACTOR, INVALID_REPLICA_ASSIGNMENT}
    is_text = difference.where == "CreatePartitions.results[].errorMessage"
    return is_text and "replica" in text(difference.ours) + text(difference.stock)


def is_too_many(command: Command, _: Difference) -> bool:
    """Row 5."""
    return of(command, REASSIGN) and len(partitions_of(command.body)) > RECORDS_MAX  # type: ignore[union-attr]


def is_stripped(_: Command, difference: Difference) -> bool:
    """Row 3: the election that ours makes uncleanly."""
    return difference.where.startswith("batches") and '"leaderRecoveryState": 1' in text(difference.ours)


def is_shutdown_end(command: Command, difference: Difference) -> bool:
    """Row 4."""
    if not of(command, HEARTBEAT):
        return False
    is_record = difference.where in ENDED and '"fenced": 1' in text(difference.ours)
    return is_record or difference.where == "BrokerHeartbeat.shouldShutDown"


def is_timeout(command: Command, difference: Difference) -> bool:
    """Row 8."""
    if not isinstance(command, Request) or command.api_key not in TIMED or difference.where == "snapshot":
        return False
    return int(command.body.get("timeoutMs", 0)) <= 0


def is_deletion_disabled(command: Command, difference: Difference) -> bool:
    """Row 9."""
    if not of(command, DELETE_TOPICS) or not difference.where.startswith(("DeleteTopics", "batches")):
        return False
    return difference.where.startswith("batches") or difference.stock in (42, 73)


def is_empty_message(_: Command, difference: Difference) -> bool:
    """Row 10."""
    return difference.where.endswith(".errorMessage") and difference.ours is None and difference.stock == ""


def is_listed_twice(command: Command, _: Difference) -> bool:
    """Row 11."""
    if not isinstance(command, Request) or command.api_key != LIST_REASSIGNMENTS:
        return False
    names = [topic.get("name") for topic in command.body.get("topics") or []]
    return len(names) > len(set(names))


def is_broker_id(_: Command, difference: Difference) -> bool:
    """Row 12."""
    return "Broker id must be an integer" in text(difference.stock)


def is_previous_epoch(command: Command, difference: Difference) -> bool:
    """Row 14."""
    if not isinstance(command, Request) or command.api_key != REGISTRATION:
        return False
    is_record = difference.where == "batches[] (PartitionChangeRecord|)"
    return is_record and command.body.get("previousBrokerEpoch") == -2


def is_placement(command: Command, difference: Difference) -> bool:
    """Row 15, and the order in which racks draw their random numbers."""
    if not of(command, CREATE_TOPICS):
        return False
    if difference.where == "CreateTopics.topics[].errorCode":
        return {difference.ours, difference.stock} == {0, INVALID_REPLICATION_FACTOR}
    if difference.where == "CreateTopics.topics[].errorMessage":
        return "Unable to replicate" in text(difference.ours) and "Unable to replicate" in text(difference.stock)
    return difference.where.startswith("batches[][].PartitionRecord.")


def is_fenced_again(command: Command, difference: Difference) -> bool:
    """A fenced broker that falls silent is fenced once more: a batch more in stock, of one record."""
    if not isinstance(command, Pass) or not difference.where.startswith("batches ("):
        return False
    return any(len(batch) == 1 and batch[0].get("fenced") == 1 for batch in difference.stock)


def is_contact_order(command: Command, difference: Difference) -> bool:
    """After a failover the sessions of ours begin in the order of registration, those of stock by broker id here."""
    in_time = isinstance(command, Pass) and difference.where.startswith("batches[]")
    return in_time and ": " not in difference.where


def is_disabled_elr(_: Command, difference: Difference) -> bool:
    """An image has no ELRs while eligible.leader.replicas.version is 0."""
    return difference.where.startswith("snapshot") and (
        "lastKnownElr" in difference.where
        or "ligibleLeaderReplicas" in difference.where
        or "PartitionRecord" in difference.where
    )


PENDING: tuple[Deliberate, ...] = (
    Deliberate("row-05-too-many", True, is_too_many),
    Deliberate("row-01-cordoned", True, is_cordoned),
    Deliberate("row-01-cordoned", True, is_cordoned_record),
    Deliberate("row-08-timeout", True, is_timeout),
    Deliberate("row-02-replication-factor", True, is_replication_factor),
    Deliberate("row-03-stripped", True, is_stripped),
    Deliberate("row-04-shutdown-end", True, is_shutdown_end),
    Deliberate("row-09-deletion-disabled", True, is_deletion_disabled),
    Deliberate("row-10-empty-message", False, is_empty_message),
    Deliberate("row-11-listed-twice", False, is_listed_twice),
    Deliberate("row-12-broker-id", False, is_broker_id),
    Deliberate("row-14-previous-epoch", True, is_previous_epoch),
    Deliberate("row-15-placement", True, is_placement),
    Deliberate("fenced-again", True, is_fenced_again),
    Deliberate("contact-order", True, is_contact_order),
    Deliberate("elr-in-image", False, is_disabled_elr),
)
