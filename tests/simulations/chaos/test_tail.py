"""Reading a log while it changes: new batches, and batches removed from its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.batch import build_batch
from simulations.chaos.tail import Tail

if TYPE_CHECKING:
    from pathlib import Path


def batch(offset: int, value: bytes, epoch: int = 1) -> bytes:
    return build_batch([value], base_offset=offset, leader_epoch=epoch, timestamp_ms=0)


def seen(tail: Tail) -> tuple[list[int], int | None, list[int]]:
    """The offsets of the removed batches, of the last one before them, and of the new ones."""
    gone, before, came = tail.look()
    last = None if before is None else before.base_offset
    return [each.base_offset for each in gone], last, [each.base_offset for each in came]


def test_batches_written_since_the_last_look_are_returned(tmp_path: Path) -> None:
    file = tmp_path / f"{0:020}.log"
    tail = Tail(tmp_path)
    file.write_bytes(batch(0, b"a") + batch(1, b"b"))
    first = seen(tail)

    with file.open("ab") as log:
        log.write(batch(2, b"c"))

    assert first == ([], None, [0, 1])
    assert seen(tail) == ([], 1, [2])


def test_a_half_written_batch_is_not_returned_yet(tmp_path: Path) -> None:
    file = tmp_path / f"{0:020}.log"
    tail = Tail(tmp_path)
    file.write_bytes(batch(0, b"a") + batch(1, b"b")[:-3] + bytes(3))
    first = seen(tail)

    file.write_bytes(batch(0, b"a") + batch(1, b"b"))

    assert first == ([], None, [0])
    assert seen(tail) == ([], 0, [1])


def test_overwritten_batches_are_reported_as_removed(tmp_path: Path) -> None:
    file = tmp_path / f"{0:020}.log"
    tail = Tail(tmp_path)
    file.write_bytes(batch(0, b"a") + batch(1, b"b") + batch(2, b"c"))
    tail.look()

    file.write_bytes(batch(0, b"a") + batch(1, b"x", epoch=2))

    assert seen(tail) == ([1, 2], 0, [1])


def test_deleted_segments_are_forgotten(tmp_path: Path) -> None:
    (tmp_path / f"{0:020}.log").write_bytes(batch(0, b"a"))
    (tmp_path / f"{1:020}.log").write_bytes(batch(1, b"b"))
    tail = Tail(tmp_path)
    tail.look()

    (tmp_path / f"{0:020}.log").unlink()

    assert seen(tail) == ([], 1, [])
    assert [each.base_offset for each in tail.batches] == [1]
