"""`kraftctl backup` saves a directory, verifies, restores and exports it, and keeps the newest of a service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.tools.offline.stock_directories import PARTITION, SEGMENT, stock_directory
from tools.kraftctl.backup.backup import run
from tools.offline.saved_copy import digests

if TYPE_CHECKING:
    from pathlib import Path


def properties(tmp_path: Path) -> str:
    path = tmp_path / "node-7.properties"
    path.write_text(
        "process.roles=controller\nnode.id=7\ncontroller.quorum.voters=7@127.0.0.1:9093\n"
        "controller.listener.names=CONTROLLER\nlisteners=CONTROLLER://127.0.0.1:9093\n"
        f"log.dirs={tmp_path}/restored\n"
    )
    return str(path)


def test_a_directory_is_saved_verified_and_restored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory, backup = str(stock_directory(tmp_path)), str(tmp_path / "backup")

    assert run(["save", "--directory", directory, "--dry-run", backup]) == 0
    assert not (tmp_path / "backup").exists()
    assert run(["save", "--directory", directory, backup]) == 0
    assert run(["verify", backup]) == 0
    assert run(["restore", backup, "-c", properties(tmp_path), "--dry-run"]) == 0
    assert not (tmp_path / "restored").exists()
    assert run(["restore", backup, "-c", properties(tmp_path), "--as-of", "600", "--json"]) == 0
    assert run(["restore", backup, "-c", properties(tmp_path)]) == 1

    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (said["end_offset"], said["lost"], said["done"]) == (580, 459, True)


@pytest.mark.parametrize(("as_of", "end_offset"), [("end", 1039), ("0s", 1039), ("580", 580)])
def test_a_restore_takes_the_points_of_the_other_verbs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_of: str, end_offset: int
) -> None:
    backup = str(tmp_path / "backup")
    run(["save", "--directory", str(stock_directory(tmp_path)), backup])
    capsys.readouterr()

    assert run(["restore", backup, "-c", properties(tmp_path), "--as-of", as_of, "--dry-run", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["end_offset"] == end_offset


def test_what_is_no_point_is_refused_with_what_is_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backup = str(tmp_path / "backup")
    run(["save", "--directory", str(stock_directory(tmp_path)), backup])

    assert run(["restore", backup, "-c", properties(tmp_path), "--as-of", "yesterday"]) == 1

    assert "--as-of 'yesterday' is no point; give an offset, a time such as " in capsys.readouterr().err


def test_a_backup_that_is_not_whole_has_exit_code_2_and_is_not_restored(tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    run(["save", "--directory", str(stock_directory(tmp_path)), str(backup)])
    with (backup / SEGMENT).open("r+b") as log:
        log.truncate(1000)

    assert run(["verify", str(backup)]) == 2
    assert run(["restore", str(backup), "-c", properties(tmp_path)]) == 1
    assert not (tmp_path / "restored").exists()


def test_the_service_keeps_the_newest_and_touches_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = stock_directory(tmp_path)
    before = digests(str(directory))
    (tmp_path / "backups" / "by-hand").mkdir(parents=True)
    rounds = iter(range(4))
    monkeypatch.setattr("time.strftime", lambda *_: f"20261122T16000{next(rounds)}Z")

    def sleep(_seconds: float) -> None:
        if list((tmp_path / "backups").glob("20261122T160003Z-*")):
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    options = ["--directory", str(directory), "--every", "5m", "--keep", "2", str(tmp_path / "backups")]

    assert run(["save", *options]) == 130

    names = sorted(path.name for path in (tmp_path / "backups").iterdir())
    assert names == ["20261122T160002Z-1039", "20261122T160003Z-1039", "by-hand"]
    assert digests(str(directory)) == before


def test_the_service_keeps_what_it_has_just_made_although_the_clock_was_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = stock_directory(tmp_path)
    target = tmp_path / "backups"
    times = iter(["20300101T000000Z", "20261122T160001Z", "20261122T160002Z", "20261122T160003Z"])
    monkeypatch.setattr("time.strftime", lambda *_: next(times))

    def sleep(_seconds: float) -> None:
        if list(target.glob("20261122T160003Z-*")):
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    options = ["--directory", str(directory), "--every", "5m", "--keep", "1", str(target)]

    assert run(["save", *options]) == 130

    assert [path.name for path in target.iterdir()] == ["20261122T160003Z-1039"]


def test_the_service_keeps_a_shorter_log_of_a_later_epoch_rather_than_a_longer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restore as of an earlier offset the log is shorter, and its epoch is higher."""
    directory = stock_directory(tmp_path)
    target = tmp_path / "backups"
    former = target / "20261122T155959Z-5000"
    assert run(["save", "--directory", str(directory), str(former)]) == 0
    manifest = json.loads((former / "backup.json").read_text())
    (former / "backup.json").write_text(json.dumps({**manifest, "epoch": 1, "end_offset": 5000}))
    rounds = iter(range(2))
    monkeypatch.setattr("time.strftime", lambda *_: f"20261122T16000{next(rounds)}Z")

    def sleep(_seconds: float) -> None:
        if list(target.glob("20261122T160001Z-*")):
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    options = ["--directory", str(directory), "--every", "5m", "--keep", "2", str(target)]

    assert run(["save", *options]) == 130

    names = sorted(path.name for path in target.iterdir())
    assert names == ["20261122T160000Z-1039", "20261122T160001Z-1039"]


def test_the_service_removes_what_a_killed_round_left_and_runs_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = stock_directory(tmp_path)
    target = tmp_path / "backups"
    for name in ("20261122T160000Z.new.part", "20261122T160000Z.new", "mine.new.part"):
        (target / name).mkdir(parents=True)
    options = ["--directory", str(directory), "--every", "5m", str(target)]
    codes: list[int] = []

    def sleep(_seconds: float) -> None:
        codes.append(run(["save", *options]))
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    codes.append(run(["save", *options]))

    left = [path.name for path in target.iterdir() if ".new" in path.name]
    assert (codes, left) == ([1, 130], ["mine.new.part"])
    assert "another `backup save --every` runs for this directory" in capsys.readouterr().err


def test_an_export_of_a_damaged_directory_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = stock_directory(tmp_path)
    newest = directory / PARTITION / "00000000000000000712-0000000002.checkpoint"
    newest.write_bytes(newest.read_bytes()[:-40])

    code = run(["export", str(directory)])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert newest.name in said.err


def test_an_export_of_one_part_has_only_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(stock_directory(tmp_path)), "--only", "acls"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["#!/bin/sh", "# metadata below offset 1039", "set -eu"]
    assert {line.split()[0] for line in lines[3:]} == {"kafka-acls.sh"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["save", "--directory", "missing", "target"],
        ["save", "--bootstrap-controller", "nowhere", "target"],
        ["save", "--directory", "missing", "--every", "5", "target"],
        ["verify", "missing"],
        ["export", "missing"],
    ],
)
def test_what_cannot_be_done_has_an_exit_code_and_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(arguments) in (1, 2)

    assert len(capsys.readouterr().err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
