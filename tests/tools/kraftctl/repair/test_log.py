"""`kraftctl log` finds the first fault of a directory, and removes it after a backup."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.tools.offline.stock_directories import SEGMENT, append_unreplayable, stock_directory
from tests.tools.offline.test_truncation import committed, flipped
from tools.kraftctl.repair.log import run
from tools.offline.saved_copy import digests

if TYPE_CHECKING:
    from pathlib import Path


def test_a_sound_log_has_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = str(stock_directory(tmp_path))

    assert run(["verify", directory]) == run(["replay", directory]) == 0

    assert capsys.readouterr().out.endswith(
        "replayed: offsets 0 to 1039 (exclusive), 256 batches, 1037 records, 3 checkpoints equal the log below them\n"
        "no fault\n"
    )


def test_a_fault_has_exit_code_2_and_is_named_with_file_byte_and_offset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = stock_directory(tmp_path)
    position = append_unreplayable(directory, 1039, 2)

    assert run(["verify", str(directory)]) == 0
    capsys.readouterr()
    assert run(["replay", str(directory), "--json"]) == 2

    fault = json.loads(capsys.readouterr().out)["fault"]
    assert (fault["file"], fault["position"], fault["offset"]) == (str(directory / SEGMENT), position, 1039)


def test_a_truncation_without_an_offset_removes_the_first_fault_after_a_backup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = stock_directory(tmp_path)
    sound = (directory / SEGMENT).read_bytes()
    append_unreplayable(directory, 1039, 2)
    before = digests(str(directory))

    assert run(["truncate", str(directory), "--dry-run"]) == 0
    assert digests(str(directory)) == before
    assert run(["truncate", str(directory), "--backup", str(tmp_path / "backup")]) == 0
    assert run(["replay", str(directory)]) == 0

    assert digests(str(tmp_path / "backup")) == before
    assert (directory / SEGMENT).read_bytes() == sound
    assert "lost: 1 offsets, of which 0 are known to be committed" in capsys.readouterr().out


def test_a_record_that_cannot_be_replayed_comes_before_the_damage_behind_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = stock_directory(tmp_path)
    sound = (directory / SEGMENT).read_bytes()
    position = append_unreplayable(directory, 1039, 2)
    damaged = append_unreplayable(directory, 1040, 2)
    (directory / SEGMENT).write_bytes(flipped((directory / SEGMENT).read_bytes()))

    assert run(["verify", str(directory), "--json"]) == run(["replay", str(directory), "--json"]) == 2
    faults = [json.loads(line)["fault"] for line in capsys.readouterr().out.splitlines()]
    assert [(fault["position"], fault["offset"]) for fault in faults] == [(damaged, 1040), (position, 1039)]
    assert run(["truncate", str(directory), "--backup", str(tmp_path / "backup")]) == 0

    assert (directory / SEGMENT).read_bytes() == sound


def test_committed_records_are_removed_only_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = stock_directory(tmp_path)
    before = digests(str(directory))

    assert run(["truncate", str(directory), "--to", "580"]) == 1
    assert digests(str(directory)) == before
    assert "132 offsets that would be removed are known to be committed" in capsys.readouterr().err
    assert run(["truncate", str(directory), "--to", "580", "--lose-committed", "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert (said["end_offset"], said["lost"], said["lost_committed"], said["done"]) == (580, 459, 132, True)


def test_committed_records_that_are_damaged_are_given_up_only_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = committed(stock_directory(tmp_path), 1039)
    (directory / SEGMENT).write_bytes(flipped((directory / SEGMENT).read_bytes()))
    before = digests(str(directory))

    assert run(["verify", str(directory)]) == 2
    verified = capsys.readouterr().out
    assert run(["truncate", str(directory)]) == 1
    assert digests(str(directory)) == before
    refused = capsys.readouterr()
    assert run(["truncate", str(directory), "--dry-run"]) == 0
    assert "it needs --lose-committed" in capsys.readouterr().out
    assert run(["truncate", str(directory), "--lose-committed"]) == 0
    assert run(["verify", str(directory)]) == 0

    assert "log: offsets 0 to 1038 (exclusive)" in verified
    assert "committed: at least the offsets below 1039\n" in verified
    assert "lost: 1 offsets, of which 1 are known to be committed; of the other 0 " in refused.out
    assert "1 offsets that would be removed are known to be committed; nothing was changed" in refused.err
    assert "committed: at least the offsets below 712\n" in capsys.readouterr().out


@pytest.mark.parametrize("verb", [["verify"], ["replay"], ["truncate", "--to", "580"], ["truncate", "--dry-run"]])
def test_the_directory_of_a_running_node_is_refused(
    tmp_path: Path, verb: list[str], capsys: pytest.CaptureFixture[str], locked_elsewhere: object
) -> None:
    assert callable(locked_elsewhere)
    directory = stock_directory(tmp_path)
    before = digests(str(directory))
    locked_elsewhere(directory / ".lock")

    assert run([verb[0], str(directory), *verb[1:]]) == 1

    assert "lock" in capsys.readouterr().err
    assert digests(str(directory)) == before


@pytest.mark.parametrize("arguments", [[], ["verify"], ["repair", "."], ["truncate", ".", "--to", "x"]])
def test_wrong_arguments_have_exit_code_1(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(arguments)

    assert ended.value.code == 1
