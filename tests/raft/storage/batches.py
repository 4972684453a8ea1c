"""Record batches for tests of the storage."""

from __future__ import annotations

from raft.storage.scan import Head, heads
from records.batch import build_batch, build_control_batch
from records.control import KRaftVersionRecord, LeaderChangeMessage
from records.control_batch import encode_control


def batch(base_offset: int, *, count: int = 1, epoch: int = 1, time_ms: int | None = None, size: int = 40) -> bytes:
    """A data batch whose records have distinct values of `size` bytes."""
    values = [f"{base_offset + at}:".encode().ljust(size, b"x") for at in range(count)]
    timestamp = 1_700_000_000_000 + base_offset if time_ms is None else time_ms
    return build_batch(values, base_offset=base_offset, leader_epoch=epoch, timestamp_ms=timestamp)


def run(base_offset: int, end_offset: int, *, epoch: int = 1, size: int = 40) -> bytes:
    """Batches of one record each."""
    return b"".join(batch(offset, epoch=epoch, size=size) for offset in range(base_offset, end_offset))


def leader_change(base_offset: int, epoch: int, leader_id: int = 1) -> bytes:
    """The control batch that a leader begins its epoch with."""
    voter = LeaderChangeMessage.Voter(voter_id=leader_id)
    message = LeaderChangeMessage(version=0, leader_id=leader_id, voters=(voter,), granting_voters=(voter,))
    return build_control_batch(
        [encode_control(message)], base_offset=base_offset, leader_epoch=epoch, timestamp_ms=1_700_000_000_000
    )


def kraft_version(base_offset: int, epoch: int, level: int) -> bytes:
    """A control batch that sets kraft.version."""
    record = encode_control(KRaftVersionRecord(version=0, kraft_version=level))
    return build_control_batch(
        [record], base_offset=base_offset, leader_epoch=epoch, timestamp_ms=1_700_000_000_000
    )  # fmt: skip


def bounds(data: bytes) -> list[tuple[int, int]]:
    """(base offset, last offset) of each batch."""
    return [(head.base_offset, head.last_offset) for head in heads(data)]


def last_head(data: bytes) -> Head:
    return list(heads(data))[-1]
