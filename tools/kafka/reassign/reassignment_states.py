"""`--verify`: how far the reassignments of a file are, and the end of their throttles."""

from __future__ import annotations

import sys

from records.errors import Error
from tools.client.exceptions import KafkaError, execution_exception
from tools.command_line.java_texts import Uncaught
from tools.command_line.standard_streams import one_line
from tools.kafka.reassign.reassignment_calls import describe_directories, describe_replicas, reassignments_in_progress
from tools.kafka.reassign.reassignment_file import assignments_in
from tools.kafka.reassign.reassignment_throttles import clear_throttles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.client.admin import Admin
    from tools.kafka.reassign.reassignment_calls import Directories, Replica
    from tools.kafka.reassign.reassignment_file import Wanted

    Partition = tuple[str, int]


def report(admin: Admin, text: str, *, keep_throttles: bool) -> None:
    """Print the state of each reassignment; clear all throttles if none goes on. Raises Uncaught."""
    wanted = assignments_in(text)
    is_ongoing = _report_partitions(admin, wanted)
    is_moving = _report_moves(admin, wanted)
    if not is_ongoing and not is_moving and not keep_throttles:
        clear_throttles(admin, wanted)


def _report_partitions(admin: Admin, wanted: Wanted) -> bool:
    """Whether any reassignment goes on, of these partitions or of others. Raises Uncaught."""
    ongoing = reassignments_in_progress(admin)
    done = [(partition, target) for partition, target in wanted.partitions if partition not in ongoing]
    described = describe_replicas(admin, {topic for (topic, _), _ in done})
    lines = {
        partition: f"Reassignment of partition {_name(partition)} is still in progress."
        for partition, _ in wanted.partitions
        if partition in ongoing
    }
    for partition, target in done:
        current = _replicas_in(described[partition[0]], partition[1])
        if current == target:
            lines[partition] = f"Reassignment of partition {_name(partition)} is completed."
        else:
            ids, targets = (",".join(map(str, each)) for each in (current, target))
            lines[partition] = (
                f"There is no active reassignment of partition {_name(partition)}, but replica set is {ids} rather "
                f"than {targets}."
            )
    sys.stdout.write("\n".join(["Status of partition reassignment:", *(lines[each] for each in sorted(lines)), ""]))
    return bool(ongoing)


def _name(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"


def _replicas_in(described: list[tuple[int, ...]] | KafkaError, index: int) -> tuple[int, ...]:
    """None of a topic that is not there, or of a partition far beyond its last. Raises Uncaught, as stock does, also
    for the one partition after the last.
    """
    if isinstance(described, KafkaError):
        if described.code == Error.UNKNOWN_TOPIC_OR_PARTITION:
            return ()
        raise execution_exception(described)
    if index > len(described):
        return ()
    if not 0 <= index < len(described):
        text = f"Index {index} out of bounds for length {len(described)}"
        raise Uncaught("java.lang.IndexOutOfBoundsException", text)
    return described[index]


def _report_moves(admin: Admin, wanted: Wanted) -> bool:
    """Whether one of the replicas is being moved to another directory, or is in none. Raises Uncaught."""
    directories = describe_directories(admin, wanted.directories)
    order = sorted(wanted.directories, key=lambda replica: replica.place)
    lines = [_move_text(replica, directories[replica], wanted.directories[replica]) for replica in order]
    sys.stdout.write("\n".join(lines) + "\n")
    return any(place.current is None or is_active(place) for place in directories.values())


def is_active(place: Directories) -> bool:
    """Whether a replica is being moved to another directory."""
    return place.current is not None and place.future is not None


def _move_text(replica: Replica, place: Directories, target: str) -> str:
    where = f"Partition {replica.topic}-{replica.partition}"
    if place.current is None:
        return (
            f"{where} is not found in any live log dir on broker {replica.broker}. There is likely an offline log "
            "directory on the broker."
        )
    if place.future is not None:
        if place.future == target:
            return f"Reassignment of replica {replica} is still in progress."
        to = one_line(place.future)
        return f"{where} on broker {replica.broker} is being moved to log dir {to} instead of {target}."
    if place.current == target:
        return f"Reassignment of replica {replica} completed successfully."
    return f"{where} on broker {replica.broker} is not being moved from log dir {one_line(place.current)} to {target}."
