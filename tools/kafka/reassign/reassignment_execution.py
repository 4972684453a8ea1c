"""`--execute` and `--cancel`: starts and cancels the reassignments and the moves between directories of a file."""

from __future__ import annotations

import sys
from typing import NamedTuple

from records.errors import Error
from records.java.java_order import integer_order, partition_order
from tools.client.exceptions import execution_exception
from tools.client.retries import Retries
from tools.command_line.java_texts import Uncaught
from tools.command_line.option_tools import Exit
from tools.command_line.standard_streams import one_line
from tools.kafka.cluster_calls import describe_cluster
from tools.kafka.reassign.reassignment_calls import (
    alter_directories,
    alter_reassignments,
    describe_directories,
    reassignments_in_progress,
    replica_order,
)
from tools.kafka.reassign.reassignment_file import COMMAND_FAILED, assignments_in, find_repeated, json_of
from tools.kafka.reassign.reassignment_replicas import current_directories, replicas_of_partitions
from tools.kafka.reassign.reassignment_states import is_active
from tools.kafka.reassign.reassignment_throttles import (
    clear_throttles,
    moves_of,
    throttle_directories,
    throttle_moves,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from tools.client.admin import Admin
    from tools.kafka.reassign.reassignment_calls import Replica

    Partition = tuple[str, int]
    Replicas = dict[Partition, tuple[int, ...]]

AGAIN_S = 0.1
ONGOING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create a "
    "new partition assignment in addition to the existing one. The --additional flag can also be used to change the "
    "throttle by resubmitting the current reassignment."
)
VERIFY_LATER = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."
)


class Limits(NamedTuple):
    """between_brokers, between_directories: in bytes per second, negative for none. timeout_ms: for moves to begin."""

    between_brokers: int
    between_directories: int
    timeout_ms: int


def start(admin: Admin, text: str, limits: Limits, *, additional: bool, fixed_factor: bool) -> None:
    """Start what a file asks for. Raises Exit, Uncaught.

    additional: even if other reassignments go on. fixed_factor: only where the number of replicas does not change.
    """
    wanted = assignments_in(text)
    proposed = _check_targets(wanted.partitions)
    ongoing = reassignments_in_progress(admin)
    if ongoing and not additional:
        raise _end_with(ONGOING)
    _check_brokers(admin, [broker for replicas in proposed.values() for broker in replicas])
    current = replicas_of_partitions(admin, proposed)
    saved = json_of(current, current_directories(admin, current))
    sys.stdout.write(f"Current partition replica assignment\n\n{saved}\n\n")
    sys.stdout.write("Save this to use as the --reassignment-json-file option during rollback\n")
    if limits.between_brokers >= 0 or limits.between_directories >= 0:
        sys.stdout.write(f"{VERIFY_LATER}\n")
    if limits.between_brokers >= 0:
        throttle_moves(admin, moves_of(ongoing, proposed, current), limits.between_brokers)
    if limits.between_directories >= 0:
        throttle_directories(admin, [replica.broker for replica in wanted.directories], limits.between_directories)
    errors = alter_reassignments(admin, proposed, fixed_factor=fixed_factor)
    if errors:
        raise _end_with("\n".join(["Error reassigning partition(s):", *_error_lines(errors)]))
    sys.stdout.write(f"Successfully started partition reassignment{_s(proposed)} for {_names(proposed)}\n")
    _move(admin, wanted.directories, limits.timeout_ms)


def stop(admin: Admin, text: str, timeout_ms: int, *, keep_throttles: bool) -> None:
    """Cancel what a file asks for. Raises Exit, Uncaught."""
    wanted = assignments_in(text)
    targets = {partition for partition, _ in wanted.partitions}
    ongoing = {
        partition: None
        for partition, moving in reassignments_in_progress(admin, targets).items()
        if moving.adding or moving.removing
    }
    if ongoing:
        errors = alter_reassignments(admin, ongoing)
        if errors:
            lines = [f"Error cancelling partition reassignment{_s(errors)} for:", *_error_lines(errors)]
            raise _end_with("\n".join(lines))
        sys.stdout.write(f"Successfully cancelled partition reassignment{_s(ongoing)} for: {_names(ongoing)}\n")
    else:
        sys.stdout.write("None of the specified partition reassignments are active.\n")
    places = describe_directories(admin, wanted.directories)
    # A move ends when the replica is sent to the directory in which it is.
    moving = {replica: place.current for replica, place in places.items() if place.current and is_active(place)}
    if moving:
        _move(admin, moving, timeout_ms)
    else:
        sys.stdout.write("None of the specified partition moves are active.")
    if not keep_throttles:
        clear_throttles(admin, wanted)


def _check_targets(partitions: list[tuple[Partition, tuple[int, ...]]]) -> Replicas:
    """The target replicas of each partition. Raises Uncaught."""
    if not partitions:
        raise Uncaught(COMMAND_FAILED, "Partition reassignment list cannot be empty")
    if not all(replicas for _, replicas in partitions):
        raise Uncaught(COMMAND_FAILED, "Partition replica list cannot be empty")
    twice = partition_order(find_repeated(partition for partition, _ in partitions))
    if twice:
        listed = ",".join(f"{topic}-{index}" for topic, index in twice)
        raise Uncaught(COMMAND_FAILED, f"Partition reassignment contains duplicate topic partitions: {listed}")
    repeats = []
    for (topic, index), replicas in partitions:
        brokers = integer_order(find_repeated(replicas))
        if brokers:
            repeats.append(f"{topic}-{index} contains multiple entries for {','.join(map(str, brokers))}")
    if repeats:
        text = f"Partition replica lists may not contain duplicate entries: {'. '.join(repeats)}"
        raise Uncaught(COMMAND_FAILED, text)
    return dict(partitions)


def _check_brokers(admin: Admin, brokers: Iterable[int]) -> None:
    """Check that brokers live. Raises Uncaught for the first that does not."""
    live = {node.broker_id for node in describe_cluster(admin).brokers}
    for broker in integer_order(brokers):
        if broker not in live:
            raise Uncaught(COMMAND_FAILED, f"Unknown broker id {broker}")


def _move(admin: Admin, wanted: Mapping[Replica, str], timeout_ms: int) -> None:
    """Start moves between directories; one of a replica that its broker does not have yet is tried again.

    Raises Exit, Uncaught.
    """
    retries = Retries(timeout_ms / 1000, AGAIN_S)
    left = dict(wanted)
    while left:
        outcomes = alter_directories(admin, left)
        for replica in replica_order(left):
            error = outcomes[replica]
            if error is not None and getattr(error, "code", None) != Error.REPLICA_NOT_AVAILABLE:
                raise Uncaught(COMMAND_FAILED, f"Failed to alter dir for {replica}", execution_exception(error))
        for replica in sorted((each for each in left if outcomes[each] is None), key=lambda each: each.place):
            sys.stdout.write(
                f"Successfully started moving log directory to {left.pop(replica)} for replica "
                f"{replica.topic}-{replica.partition} with broker {replica.broker} \n"
            )
        if left and not retries.pause():
            listed = ",".join(map(str, sorted(left, key=lambda each: each.place)))
            raise _end_with(f"Timed out before log directory move{_s(left)} could be started for: {listed}")


def _end_with(text: str) -> Exit:
    """Print why the tool ends, without an exception; what to raise."""
    sys.stdout.write(f"{text}\n")
    return Exit(1)


def _error_lines(errors: Mapping[Partition, str | None]) -> list[str]:
    return [f"{one_line(topic)}-{index}: {errors[topic, index] or 'null'}" for topic, index in sorted(errors)]


def _names(partitions: Iterable[Partition]) -> str:
    return ",".join(f"{one_line(topic)}-{index}" for topic, index in sorted(partitions))


def _s(several: Collection[object]) -> str:
    return "" if len(several) == 1 else "s"
