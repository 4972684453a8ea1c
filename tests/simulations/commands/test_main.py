"""The commands report their result as text and by their exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from simulations.commands import sweep
from simulations.commands.determinism import Place, first_difference
from simulations.commands.main import main
from simulations.commands.sweep import Goal
from simulations.plans.plan import from_json
from simulations.raft.swarm import draw

if TYPE_CHECKING:
    from pathlib import Path


def test_run_prints_the_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "plan.json"

    code = main(["run", "--seed", "12", "--story", "2", "--save-plan", str(kept)])
    output = capsys.readouterr().out.splitlines()

    assert (code, len(output), output[-1]) == (0, 6, "every property held")
    assert output[2].startswith("seed 12: ")
    assert from_json(kept.read_text()) == draw(12)


def test_a_plan_from_a_file_gives_the_same_world(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "plan.json"
    main(["run", "--seed", "12", "--save-plan", str(kept)])
    first = capsys.readouterr().out

    main(["run", "--plan", str(kept)])

    assert capsys.readouterr().out == first


def test_a_page_and_a_trace_are_written(tmp_path: Path) -> None:
    main(["run", "--seed", "12", "--page", str(tmp_path / "a.html"), "--trace", str(tmp_path / "a.trace")])

    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "a.trace").stat().st_size > 1000


def test_a_sweep_without_a_broken_world_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["sweep", "--seeds", "11-13", "--jobs", "1", "--hashes"])
    output = capsys.readouterr().out.splitlines()

    assert code == 0
    assert [line.split()[0] for line in output[:3]] == ["11", "12", "13"]
    assert output[-1].startswith("3 seeds, 0 broken: ")


def test_every_64th_seed_of_a_range_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["sweep", "--seeds", "1-130/64", "--jobs", "1", "--hashes"])

    assert code == 0
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == ["1", "65", "129"]
    assert lines[3] == "3"


def test_a_goal_of_the_gate_that_is_not_met_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweep, "CI_SEEDS", {"raft": range(11, 13), "raft-long": range(2, 3)})
    monkeypatch.setattr(sweep, "GOALS", (Goal(("raft",), 2, 2), Goal(("raft-long",), 2, 1)))

    code = main(["sweep", "--ci", "--jobs", "1"])
    output = capsys.readouterr().out

    assert code == 1
    assert "simulated s; 2 and 2 are required: met\n" in output
    assert "simulated s; 2 and 1 are required: NOT MET\n" in output


def test_equal_traces_are_reported_as_equal(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["determinism", "--seeds", "12", "--jobs", "1"])

    assert code == 0
    assert "1 seeds, 4 times each, under PYTHONHASHSEED 0, 1, " in capsys.readouterr().out


def test_the_first_difference_of_two_traces_is_printed() -> None:
    output = first_difference(Place("0", "raft", (12,)), Place("1", "raft", (11, 13)))

    assert "  PYTHONHASHSEED=0: [" in output
    assert "  PYTHONHASHSEED=1: [" in output


def test_speed_is_measured_against_its_goal(capsys: pytest.CaptureFixture[str]) -> None:
    main(["bench", "raft-idle", "--times", "1"])

    assert capsys.readouterr().out.startswith("raft-idle: ")


def test_a_sweep_with_a_mutant_prints_the_command_that_repeats_it(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["sweep", "--seeds", "4", "--jobs", "1", "--mutant", "R01"])
    output = capsys.readouterr().out

    assert code == 1
    assert "seed 4: S02 node " in output
    assert "again: python -m simulations run --seed 4 --mutant R01" in output


def test_a_mutant_that_is_missed_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["mutants", "R01", "--seeds", "12", "--jobs", "1"])

    assert code == 1
    assert "R01   a second vote is granted in an epoch: MISSED in 1 seeds" in capsys.readouterr().out


def test_wrong_arguments_are_refused_with_a_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"seed": 1, "colour": 1}))
    for argv, message in (
        (["run", "--seed", "1", "--mutant", "R00"], "no mutant 'R00'"),
        (["run", "--plan", str(tmp_path / "x.json")], "Plan has colour; known are "),
        (["run", "--plan", str(tmp_path / "y.json")], "No such file"),
        (["sweep", "--seeds", "9-3"], "9-3 is empty"),
        (["sweep", "--seeds", "x"], "neither a seed N nor a range A-B"),
        (["sweep", "--seeds", "1", "--jobs", "0"], "not a number of at least 1"),
    ):
        with pytest.raises(SystemExit) as raised:
            main(argv)

        assert (raised.value.code, message in capsys.readouterr().err) == (2, True)


def test_a_missing_extra_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "greenlet.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'greenlet'\", name='greenlet')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-m", "simulations", "run", "--seed", "1"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr == (
        "python -m simulations: greenlet is not installed; pip install 'greenlet>=3.1' 'msgpack>=1.1'\n"
    )
