"""The checks of logs and snapshots from outside: each planted violation is reported, and a correct quorum is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from records.batch import build_batch
from simulations.chaos.outside import LogChecks, digest_of
from simulations.chaos.tail import Batch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

A, B, C = Batch(0, 0, 1, 100), Batch(1, 1, 1, 101), Batch(2, 2, 2, 102)
OTHER_B = Batch(1, 1, 2, 201)


def other_bytes(checks: LogChecks) -> None:
    checks.saw_log(1, [], None, [A, B])
    checks.saw_log(2, [], None, [A, B._replace(crc=7)])


def other_past(checks: LogChecks) -> None:
    checks.saw_log(1, [], None, [A, B, C])
    checks.saw_log(2, [], None, [A, OTHER_B, C])


def hole(checks: LogChecks) -> None:
    checks.saw_log(1, [], None, [A, C])


def epoch_of_the_log_falls(checks: LogChecks) -> None:
    checks.saw_log(1, [], None, [A._replace(epoch=2), B])


def cut_below_committed(checks: LogChecks) -> None:
    checks.saw_log(1, [], None, [A, B])
    checks.on_committed(1, [A, B], 2)
    checks.saw_log(1, [B], A, [])


def committed_twice(checks: LogChecks) -> None:
    checks.on_committed(1, [A, B], 2)
    checks.on_committed(2, [A, OTHER_B], 2)


def lost_at_the_end(checks: LogChecks) -> None:
    checks.on_committed(1, [A, B], 2)
    checks.end({1: [A, B], 2: [A, OTHER_B]})


def other_snapshot(checks: LogChecks) -> None:
    checks.saw_snapshot(1, f"{0:020}-{0:010}.checkpoint", "aa")
    checks.saw_snapshot(2, f"{0:020}-{0:010}.checkpoint", "bb")
    checks.saw_snapshot(1, "7-1.checkpoint", "aa")
    checks.saw_snapshot(2, "7-1.checkpoint", "bb")


@pytest.mark.parametrize(
    ("plant", "property_id"),
    [
        (other_bytes, "S04"), (other_past, "S04"), (committed_twice, "S06"), (lost_at_the_end, "S06"),
        (cut_below_committed, "S11"), (hole, "S12"), (epoch_of_the_log_falls, "S16"), (other_snapshot, "S17"),
    ],
)  # fmt: skip
def test_a_planted_breach_is_reported(plant: Callable[[LogChecks], None], property_id: str) -> None:
    checks = LogChecks()

    plant(checks)

    assert [text[:4] for text in checks.wrong] == [f"{property_id}:"]


def test_truncating_uncommitted_batches_is_no_violation() -> None:
    checks = LogChecks()

    checks.saw_log(1, [], None, [A, B])
    checks.on_committed(1, [A, B], 1)
    checks.saw_log(2, [], None, [A, OTHER_B])
    checks.on_committed(2, [A, OTHER_B], 2)
    checks.saw_log(1, [B], A, [OTHER_B])
    checks.end({1: [A, OTHER_B], 2: [A, OTHER_B]})

    assert checks.wrong == []


def test_a_log_that_begins_after_a_snapshot_has_no_earlier_batches_to_compare() -> None:
    checks = LogChecks()
    checks.saw_log(1, [], None, [A, B, C])
    checks.on_committed(1, [A, B, C], 3)

    checks.saw_log(2, [], None, [C])
    checks.end({1: [A, B, C], 2: [C]})

    assert checks.wrong == []


def test_the_digest_of_a_snapshot_ignores_times_and_order(tmp_path: Path) -> None:
    def written(name: str, values: list[bytes], timestamp_ms: int) -> str:
        path = tmp_path / name
        path.write_bytes(build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=timestamp_ms))
        return digest_of(path)

    first = written("one", [b"a", b"b"], 1000)

    assert written("two", [b"b", b"a"], 2000) == first
    assert written("three", [b"a", b"c"], 1000) != first
