"""A part of the fuzzing that `python -m tests.records.fuzz` does at length."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from records.codec import decode
from records.messages.partitions import AlterPartitionRequest
from records.wire import DecodeError
from tests.records import fuzz

ROOT = Path(__file__).parents[2]
SHARE = 100_000
GROWTH_MAX_KIB = 32 << 10


def test_mutated_bytes_raise_only_the_documented_error_and_take_no_memory() -> None:
    """In a process of its own, so that its memory is its own; a crash of the interpreter would be seen as well."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.records.fuzz", "--count", str(SHARE), "--seed", "7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    counts = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("grew"))
    assert sum(map(int, counts.values())) == SHARE
    assert int(counts["message refused"]) > SHARE // 3
    assert int(done.stdout.split("grew by")[1].split()[0]) < GROWTH_MAX_KIB


def test_the_fuzzer_changes_its_input() -> None:
    rng, others = Random(3), fuzz.compressed()
    data = bytes(range(50))

    changed = [fuzz.mutated(data, rng, others) for _ in range(200)]

    assert len(set(changed)) > 150


def test_an_array_of_four_billion_in_seventeen_bytes_is_refused() -> None:
    """The body that made another codec reserve 32 GiB."""
    body = bytes(4) + bytes(8) + b"\xff\xff\xff\xff\x0f"

    with pytest.raises(DecodeError) as raised:
        decode(AlterPartitionRequest, 3, body)

    assert str(raised.value) == (
        "AlterPartitionRequest v3 topics at byte 12: element count 4294967294 does not fit: 0 bytes are left"
    )
