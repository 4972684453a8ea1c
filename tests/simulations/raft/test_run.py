"""Runs: each is a function of its plan, and the unchanged code violates no property."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simulations.plans.plan import Load, Plan, from_json, to_json
from simulations.raft.level import play
from simulations.raft.run import Run
from simulations.raft.swarm import draw

ROOT = Path(__file__).resolve().parents[3]


# `sweep --ci` plays the first 400 seeds.
@pytest.mark.parametrize("first", [1, 11])
def test_ten_worlds_violate_no_property(first: int) -> None:
    outcomes = [play(draw(seed))[0] for seed in range(first, first + 10)]

    assert [(each.seed, each.property_id, each.text) for each in outcomes if not each.is_well] == []


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_a_repeated_run_has_the_same_trace(seed: int) -> None:
    first: list[bytes] = []
    second: list[bytes] = []

    outcome = Run(draw(seed), first.append).execute()
    again = Run(from_json(to_json(draw(seed))), second.append).execute()

    assert outcome == again
    assert b"".join(first) == b"".join(second) != b""


def test_processes_with_other_hash_seeds_have_the_same_trace() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "simulations", "run", "--seed", "5", "--story", "0"],
            cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True,
        ).stdout
        for hash_seed in ("0", "12345")
    ]  # fmt: skip

    assert outputs[0] == outputs[1]
    assert f"trace {play(draw(5))[0].trace_hash}" in outputs[0]


def test_a_run_does_not_change_its_plan() -> None:
    plan = draw(4)
    before = to_json(plan)

    play(plan)

    assert to_json(plan) == before


def test_passing_messages_as_bytes_or_objects_gives_the_same_trace() -> None:
    def trace(*, codec: bool) -> str:
        plan = Plan(3, chaos_ms=2000, codec=codec, snapshot_every=10, load=Load(every_ms=20))
        return play(plan)[0].trace_hash

    assert trace(codec=True) == trace(codec=False)


def test_any_exception_of_the_code_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> None:
        raise AssertionError("the log has a hole")

    monkeypatch.setattr("simulations.world.process.step", broken)

    outcome, _ = play(Plan(1, chaos_ms=500))

    assert (outcome.property_id, "the log has a hole" in outcome.text) == ("ASSERT", True)
