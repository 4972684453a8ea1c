"""`kraft-pipeline plan`: files, output and exit codes."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from pathlib import Path

import pytest

from pipeline.planner.command import add_arguments, run

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
NODE = str(GOLDEN / "4.0-static" / "node-1")


def command(*arguments: str) -> int:
    parser = ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments))


def test_the_plan_is_printed_on_stdout_and_its_summary_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    code = command(NODE)

    out, err = capsys.readouterr()
    assert code == 0
    assert json.loads(out)["version"] == 1
    assert err.splitlines()[0].startswith("Cluster ")
    assert "as of offset 812" in err
    assert "342 partitions, 3 brokers." in err


def test_files_are_written_with_the_rollback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, back = tmp_path / "plan.json", tmp_path / "back.json"

    code = command(NODE, "--topics", "bulk-1,bulk-2", "--out", str(out), "--rollback", str(back))

    assert (code, capsys.readouterr().out) == (0, "")
    there, here = (
        [(one["topic"], one["partition"]) for one in json.loads(path.read_text())["partitions"]] for path in (out, back)
    )
    assert there == here
    assert {topic for topic, _ in there} <= {"bulk-1", "bulk-2"}


def test_a_plan_of_several_files_is_numbered(tmp_path: Path) -> None:
    assert command(NODE, "--out", str(tmp_path / "whole")) == 0
    whole = json.loads((tmp_path / "whole").read_text())["partitions"]

    assert command(NODE, "--out", str(tmp_path / "part"), "--partitions-per-file", "7") == 0

    files = [tmp_path / f"part.{number}" for number in range(1, 100)]
    parts = [json.loads(file.read_text())["partitions"] for file in files if file.exists()]
    assert [one for part in parts for one in part] == whole
    assert {len(part) for part in parts[:-1]} <= {7}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([str(GOLDEN)], "no plan: .*golden is no metadata log"),
        ([NODE, "--drain", "9"], r"no plan: broker 9 cannot .* not registered; registered are \[101, 102, 103\]"),
        ([NODE, "--topics", "no-such"], "no plan: there is no topic 'no-such'"),
        ([], "no plan: give either a directory to plan from, or --warehouse"),
        ([NODE, "--warehouse", "w"], "no plan: give either a directory to plan from, or --warehouse"),
        ([NODE, "--partitions-per-file", "7"], "--partitions-per-file needs --out"),
        ([NODE, "--out", "/nowhere/plan.json"], "no plan: .*No such file.*/nowhere/plan.json"),
    ],
)  # fmt: skip
def test_an_impossible_plan_is_reported_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command(*arguments)

    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert re.match(said, err)


@pytest.mark.parametrize("arguments", [["--tolerance", "1"], ["--drain", "a"], ["--partitions-per-file", "0"]])
def test_a_wrong_option_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command(NODE, *arguments)

    assert arguments[0] in capsys.readouterr().err
