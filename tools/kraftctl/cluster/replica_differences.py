"""Where the log or the state of a replica is not the leader's, and hashes of both for people to compare."""

from __future__ import annotations

from hashlib import blake2b
from itertools import zip_longest

from tools.kraftctl.points.changes import compare, line_of
from tools.kraftctl.points.entries import Secret
from tools.offline.metadata_values import MetadataError, metadata_record
from tools.offline.stored_records import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tools.kraftctl.cluster.replica_logs import ReplicaLog, Sum
    from tools.offline.log_file import StoredBatch

SHOWN_MAX = 5


def log_hash(replica: ReplicaLog, start_offset: int) -> str:
    """The hash of the batches from an offset on: equal for equal logs."""
    hashed = blake2b(digest_size=8)
    for each in replica.sums.values():
        if each.base_offset >= start_offset:
            hashed.update(b"%d %d %d %d\n" % each)
    return hashed.hexdigest()


def state_hash(replica: ReplicaLog) -> str:
    """Of all entries of the state, with their secrets; empty where it is not known."""
    if replica.image is None:
        return ""
    hashed = blake2b(digest_size=8)
    for entry in replica.image.entries():
        line = f"{entry.kind} {entry.name} {entry.topic_id} {_text(entry.fields)}\n"
        hashed.update(line.encode("utf-8", "surrogateescape"))
    return hashed.hexdigest()


def _text(value: Any) -> str:
    if isinstance(value, Secret):
        return repr(value.value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_text(value[key])}" for key in sorted(value)) + "}"
    return repr(value)


def log_difference(leader: ReplicaLog, other: ReplicaLog) -> int | None:
    """The base offset of the first batch that only one of the two has, or that differs; None without one.

    Where the log of the other cannot be read to its end, the part before is compared.
    """
    start = max(leader.start_offset, other.start_offset)
    end = max(other.sums, default=-1) + 1 if other.fault else leader.end_offset
    one, two = (
        {last: each for last, each in replica.sums.items() if each.base_offset >= start and last < end}
        for replica in (leader, other)
    )
    differing = [one.get(last) or two[last] for last in one.keys() | two.keys() if one.get(last) != two.get(last)]
    return min((each.base_offset for each in differing), default=None)


def batch_difference(leader: ReplicaLog, other: ReplicaLog, offset: int) -> tuple[str, int | None]:
    """The difference of the batches that hold an offset, in words; and the last offset of the leader's batch if the
    bytes alone differ, else None.
    """
    mine, theirs = (_holding(replica, offset) for replica in (leader, other))
    if mine is None or theirs is None:
        who, there = ("the leader", theirs) if mine is None else ("this replica", mine)
        assert there is not None, "one of them has the batch"
        batch = f"{there.base_offset} to {there.last_offset}"
        return f"the first difference is at offset {offset}: {who} has no batch of offsets {batch}", None
    head = f"the first difference is in the batch of offsets {theirs.base_offset} to {theirs.last_offset}"
    if theirs.epoch != mine.epoch:
        return f"{head}: its epoch is {theirs.epoch} here, {mine.epoch} on the leader", None
    return head, mine.last_offset


def _holding(replica: ReplicaLog, offset: int) -> Sum | None:
    return next((each for each in replica.sums.values() if each.base_offset <= offset <= each.last_offset), None)


def record_difference(leader: StoredBatch | None, other: StoredBatch | None) -> str:
    """The first record of a batch that is not the leader's, by its offset and type; no value, which may be secret.

    Raises DamagedLog.
    """
    if leader is None or other is None:
        return "other bytes than the leader's"
    pairs = zip_longest(*([] if each.is_control else records_of(each) for each in (leader, other)))
    for mine, theirs in pairs:
        if mine is None or theirs is None:
            there, where = (theirs, "only here") if mine is None else (mine, "only on the leader")
            return f"record {there.offset}, {_type(there.value)}, is {where}"
        if mine.value != theirs.value:
            types = f"{_type(theirs.value)} here, {_type(mine.value)} on the leader"
            return f"record {theirs.offset} has other bytes: {types}"
    return "equal records, and another header, such as a time"


def _type(value: bytes | None) -> str:
    try:
        return type(metadata_record(value)[0]).__name__
    except MetadataError as error:
        return f"unreadable ({error})"


def state_difference(leader: ReplicaLog, other: ReplicaLog) -> str:
    """The first entries in which the state of a replica is not the leader's; empty if none, or it is not known."""
    if leader.image is None or other.image is None:
        return ""
    changes = compare(leader.image.value_tables(), other.image.value_tables(), lambda _change: True)
    if not changes:
        return ""
    shown = "; ".join(line_of(change) for change in changes[:SHOWN_MAX])
    return f"the logs are equal and the states are not, {len(changes)} differences from the leader: {shown}"
