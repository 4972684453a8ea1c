"""What is seen of nodes from outside is judged: each planted breach is told, and a sound quorum is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from records.batch import build_batch
from simulations.chaos.outside import Judge, digest_of
from simulations.chaos.tail import Batch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

A, B, C = Batch(0, 0, 1, 100), Batch(1, 1, 1, 101), Batch(2, 2, 2, 102)
OTHER_B = Batch(1, 1, 2, 201)


def other_bytes(judge: Judge) -> None:
    judge.saw_log(1, [], None, [A, B])
    judge.saw_log(2, [], None, [A, B._replace(crc=7)])


def other_past(judge: Judge) -> None:
    judge.saw_log(1, [], None, [A, B, C])
    judge.saw_log(2, [], None, [A, OTHER_B, C])


def hole(judge: Judge) -> None:
    judge.saw_log(1, [], None, [A, C])


def epoch_of_the_log_falls(judge: Judge) -> None:
    judge.saw_log(1, [], None, [A._replace(epoch=2), B])


def cut_below_committed(judge: Judge) -> None:
    judge.saw_log(1, [], None, [A, B])
    judge.saw_committed(1, [A, B], 2)
    judge.saw_log(1, [B], A, [])


def committed_twice(judge: Judge) -> None:
    judge.saw_committed(1, [A, B], 2)
    judge.saw_committed(2, [A, OTHER_B], 2)


def lost_at_the_end(judge: Judge) -> None:
    judge.saw_committed(1, [A, B], 2)
    judge.end({1: [A, B], 2: [A, OTHER_B]})


def other_snapshot(judge: Judge) -> None:
    judge.saw_snapshot(1, "7-1.checkpoint", "aa")
    judge.saw_snapshot(2, "7-1.checkpoint", "bb")


@pytest.mark.parametrize(
    ("plant", "property_id"),
    [
        (other_bytes, "S04"), (other_past, "S04"), (committed_twice, "S06"), (lost_at_the_end, "S06"),
        (cut_below_committed, "S11"), (hole, "S12"), (epoch_of_the_log_falls, "S16"), (other_snapshot, "S17"),
    ],
)  # fmt: skip
def test_a_planted_breach_is_told(plant: Callable[[Judge], None], property_id: str) -> None:
    judge = Judge()

    plant(judge)

    assert [text[:4] for text in judge.wrong] == [f"{property_id}:"]


def test_a_change_of_leader_that_cuts_what_nobody_had_committed_is_right() -> None:
    judge = Judge()

    judge.saw_log(1, [], None, [A, B])
    judge.saw_committed(1, [A, B], 1)
    judge.saw_log(2, [], None, [A, OTHER_B])
    judge.saw_committed(2, [A, OTHER_B], 2)
    judge.saw_log(1, [B], A, [OTHER_B])
    judge.end({1: [A, OTHER_B], 2: [A, OTHER_B]})

    assert judge.wrong == []


def test_a_log_that_begins_behind_a_snapshot_has_no_past_to_compare() -> None:
    judge = Judge()
    judge.saw_log(1, [], None, [A, B, C])
    judge.saw_committed(1, [A, B, C], 3)

    judge.saw_log(2, [], None, [C])
    judge.end({1: [A, B, C], 2: [C]})

    assert judge.wrong == []


def test_snapshots_say_the_same_whenever_and_in_whatever_order_they_were_written(tmp_path: Path) -> None:
    def written(name: str, values: list[bytes], timestamp_ms: int) -> str:
        path = tmp_path / name
        path.write_bytes(build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=timestamp_ms))
        return digest_of(path)

    first = written("one", [b"a", b"b"], 1000)

    assert written("two", [b"b", b"a"], 2000) == first
    assert written("three", [b"a", b"c"], 1000) != first
