"""`kraftctl history` and `diff`: each change with its offset, before -> after."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from records.hidden_text import HIDDEN
from tests.records.golden import GOLDEN
from tests.tools.offline.stock_directories import SEGMENT, stock_directory
from tools.kafka.dump_log.dump_log import run as run_dump_log
from tools.kraftctl.history.diff import run as run_diff
from tools.kraftctl.history.history import run

if TYPE_CHECKING:
    from pathlib import Path

NODE = str(GOLDEN / "4.3-static/node-1")
DYNAMIC = str(GOLDEN / "4.3-dynamic/node-1")
FORMER, LATTER = "o-Uc515XTyqTlkW31FHHyA", "_N_CP7TfSwK8-j3NaHBVnA"


def history(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run([*arguments, "--json"]) == 0
    changes: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["changes"]
    return changes


def test_a_topic_that_was_created_anew_is_told_apart_by_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    # The log itself has a change without what was before, and the removed topic without its name.
    run_dump_log(["--cluster-metadata-decoder", "--files", f"{NODE}/__cluster_metadata-0/{'0' * 20}.log"])
    dumped = next(line for line in capsys.readouterr().out.splitlines() if "offset: 152 " in line)
    assert FORMER in dumped
    assert "manual" not in dumped

    changes = history(capsys, "--topic", "manual", "--directory", NODE)

    topics = [(each["offset"], each["change"], each["topic_id"]) for each in changes if each["kind"] == "topic"]
    assert topics == [(67, "created", FORMER), (152, "deleted", FORMER), (155, "created", LATTER)]
    gone = [each for each in changes if each["offset"] == 152 and each["kind"] == "partition"]
    assert [(each["name"], each["fields"]["replicas"]["before"]) for each in gone] == [
        ("manual-0", [101, 102]),
        ("manual-1", [101, 103]),
    ]
    assert {each["topic_id"] for each in history(capsys, "--topic", LATTER, "--directory", NODE)} == {LATTER}


def test_a_config_is_shown_before_and_after_with_its_offset(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--config", "topic:orders", "--directory", NODE, "--until", "84"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "      43  2026-11-21T04:54:28.483Z  config topic:orders created: min.insync.replicas 2",
        "      82  2026-11-21T04:54:38.807Z  config topic:orders changed: max.message.bytes not set -> 2000000",
        "      83  2026-11-21T04:54:38.807Z  config topic:orders changed: segment.bytes not set -> 1048576",
    ]


def test_a_broker_and_a_partition_have_their_own_history(capsys: pytest.CaptureFixture[str]) -> None:
    broker = history(capsys, "--broker", "102", "--directory", NODE)
    fencing = [(each["offset"], each["fields"]["fenced"]) for each in broker if "fenced" in each["fields"]]
    partition = history(capsys, "--partition", "orders-0", "--directory", NODE, "--since", "58")

    assert fencing[0] == (28, {"before": None, "after": True})
    assert fencing[1] == (31, {"before": True, "after": False})
    assert {each["name"] for each in partition} == {"orders-0"}
    for one, other in pairwise(each["fields"]["partition_epoch"] for each in partition):
        assert one["after"] == other["before"]


def test_the_voter_set_and_the_leader_have_a_history(capsys: pytest.CaptureFixture[str]) -> None:
    changes = history(capsys, "--type", "voter", "--type", "leader", "--directory", DYNAMIC)

    assert [(each["offset"], each["kind"], each["name"], each["change"]) for each in changes] == [
        (0, "leader", "quorum", "changed"),
        (30, "voter", "2", "created"),
        (36, "voter", "3", "created"),
        (46, "voter", "2", "deleted"),
    ]


def test_a_checkpoint_in_the_middle_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = stock_directory(tmp_path)
    since = ["--since", "600", "--directory", str(directory)]
    before = history(capsys, *since)
    for checkpoint in (directory / SEGMENT).parent.glob("*.checkpoint"):
        checkpoint.unlink()

    assert before
    assert history(capsys, *since) == before


def test_the_first_line_says_which_part_of_the_log_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    for since, begin in (("0", 0), ("600", 580), ("2026-11-21T04:55:00.900Z", 152), ("1039", 1039)):
        assert run(["--directory", NODE, "--since", since]) == 0
        said = capsys.readouterr().err
        assert said.startswith(f"from offset {begin} to offset 1039 (exclusive), 2026-11-21T04:56:02.246Z: ")


def test_secrets_are_hidden_and_their_change_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    changes = history(capsys, "--type", "scram", "--directory", NODE)

    assert changes
    assert {value for each in changes for value in each["fields"]["credential"].values()} == {None, HIDDEN}


def test_a_difference_is_shown_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_diff(["152", "153", "--directory", NODE, "--type", "topic", "--exit-code"]) == 2
    assert capsys.readouterr().out.splitlines()[2:] == [f"topic manual (id {FORMER}) deleted", "1 differences"]

    assert run_diff([f"{NODE}@24", f"{NODE}@26", "--broker", "101", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["changes"] == [{
        "kind": "broker", "name": "101", "change": "changed",
        "fields": {"cordoned": {"before": None, "after": []}, "fenced": {"before": True, "after": False}},
    }]  # fmt: skip


def test_files_and_directories_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint = f"{NODE}/__cluster_metadata-0/00000000000000000533-0000000002.checkpoint"

    assert run_diff([checkpoint, f"{NODE}@533", "--exit-code"]) == 0
    assert capsys.readouterr().out.endswith("\n0 differences\n")
    assert run_diff([checkpoint, NODE, "--exit-code"]) == 2


def test_two_clusters_are_compared_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    other = str(GOLDEN / "4.0-static/node-1")

    run_diff([NODE, other, "--topic", "orders", "--type", "topic", "--json"])
    by_id = json.loads(capsys.readouterr().out)["changes"]
    run_diff([NODE, f"{other}@0", "--topic", "orders", "--type", "topic", "--by-name"])
    assert capsys.readouterr().out.splitlines()[2:] == ["topic orders deleted", "1 differences"]
    run_diff([NODE, other, "--topic", "orders", "--type", "topic", "--by-name", "--json"])

    assert [each["change"] for each in by_id] == ["deleted", "created"]
    assert json.loads(capsys.readouterr().out)["changes"] == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["5"], "5 is a point, but no source is named: give --directory, --file, --bootstrap-controller or -c"),
        (["nothing"], "nothing: neither a point, a directory, a file nor HOST:PORT,…"),
        (["nothing@5"], "nothing@5: nothing is no directory, no file and no HOST:PORT,…"),
        (["0", "2000", "--directory", NODE], f"{NODE} ends at offset 1039, before offset 2000"),
    ],
)
def test_what_cannot_be_compared_has_one_line(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_diff(arguments) == 1

    assert capsys.readouterr().err.startswith(f"kraftctl diff: {error}")


def test_a_config_file_as_a_filter_is_refused_with_the_right_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["--config", "/etc/kafka/controller.properties", "--directory", NODE])

    assert ended.value.code == 1
    assert "a controller.properties is given with -c" in capsys.readouterr().err
