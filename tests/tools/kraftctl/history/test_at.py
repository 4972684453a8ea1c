"""`kraftctl at`: the metadata as it was, which no tool of Kafka shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from records.uuids import uuid_text
from tests.records.golden import GOLDEN
from tests.tools.offline.stock_directories import SEGMENT, stock_directory
from tools.kafka.shell.metadata_shell import run as run_shell
from tools.kraftctl.history.at import find_nodes, run, tree_of
from tools.kraftctl.points.places import Place, read
from tools.kraftctl.points.points import Reading
from tools.offline.load import load_image

if TYPE_CHECKING:
    from pathlib import Path

NODE = str(GOLDEN / "4.3-static/node-1")
CHECKPOINT = f"{NODE}/__cluster_metadata-0/00000000000000000533-0000000002.checkpoint"


def test_a_deleted_topic_is_shown_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = stock_directory(tmp_path)

    # The metadata shell shows the end of the file alone: there is another topic of the name, without the configs.
    run_shell(["--snapshot", str(directory / SEGMENT), "cat", "/image/topics/byName/manual/id"])
    assert capsys.readouterr().out == "_N_CP7TfSwK8-j3NaHBVnA\n"

    assert run(["152", "/image/topics/byName/manual", "--directory", str(directory)]) == 0
    shown = capsys.readouterr()
    assert shown.err == "offset 152, epoch 1, 2026-11-21T04:55:00.530Z\n"
    lines = shown.out.splitlines()
    assert lines[:2] == ["/image/topics/byName/manual:", "  id: o-Uc515XTyqTlkW31FHHyA"]
    assert lines[2].startswith("  0: leader 101, replicas [101, 102], isr [101, 102]")

    assert run(["153", "topics/byName/manual", "--directory", str(directory)]) == 1
    assert capsys.readouterr().err == "kraftctl at: topics/byName/manual: no such path at offset 153\n"


@pytest.mark.parametrize("point", ["152", "2026-11-21T04:55:00.900Z", "2026-11-21 05:55:00.900+01:00"])
def test_an_offset_and_a_time_between_two_batches_are_the_same_state(
    point: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([point, "topics/byName/manual/id", "--directory", NODE, "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert said["end_offset"] == 152
    assert said["found"] == {"/image/topics/byName/manual/id": "o-Uc515XTyqTlkW31FHHyA"}


@pytest.mark.parametrize("end_offset", [21, 262, 263, 400, 533, 712, 1039])
def test_the_state_is_that_of_all_records_below_the_offset(
    end_offset: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever checkpoint was loaded: the oracle replays the log from its beginning."""
    directory = stock_directory(tmp_path)
    run([str(end_offset), "--directory", str(directory), "--json"])
    said = json.loads(capsys.readouterr().out)
    below = tmp_path / "below.log"
    data = (directory / SEGMENT).read_bytes()
    position = 0
    while position < len(data) and int.from_bytes(data[position : position + 8]) < said["end_offset"]:
        position += 12 + int.from_bytes(data[position + 8 : position + 12])
    below.write_bytes(data[:position])
    image = load_image(str(below))

    tree = said["found"]["/image"]
    assert said["end_offset"] == image.last_offset + 1
    assert {name: each["id"] for name, each in tree["topics"]["byName"].items()} == {
        name: uuid_text(topic_id) for name, topic_id in image.topic_ids.items()
    }
    assert {
        f"{name}-{number}": partition["isr"]
        for name, topic in tree["topics"]["byName"].items()
        for number, partition in topic.items()
        if number != "id"
    } == {
        f"{topic.name}-{number}": list(partition.isr)
        for topic in image.topics.values()
        for number, partition in topic.partitions.items()
    }
    brokers = tree.get("cluster", {}).get("brokers", {})
    assert {int(number): each["fenced"] for number, each in brokers.items()} == {
        number: broker.fenced for number, broker in image.brokers.items()
    }


def test_a_checkpoint_has_one_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["end", "/image/cluster/brokers/10?", "--file", CHECKPOINT, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["found"]) == [
        f"/image/cluster/brokers/{n}" for n in (101, 102, 103)
    ]

    assert run(["500", "--file", CHECKPOINT]) == 1
    assert capsys.readouterr().err == (
        "kraftctl at: the log does not reach back to offset 500: it begins with the checkpoint at offset 533, "
        "2026-11-21T04:55:48.030Z\n"
    )


def test_secrets_are_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    run(["500", "--directory", NODE])
    shown = capsys.readouterr().out

    assert "bob:SCRAM-SHA-256: iterations 4096, credential [hidden]\n" in shown


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["1040", "--directory", NODE], f"{NODE} ends at offset 1039, before offset 1040"),
        (["x", "--directory", NODE], "'x' is no point; give an offset, a time such as 2026-11-22T16:00:00Z"),
        (["1", "--directory", "missing"], "missing is no directory"),
        (["1", "--file", "missing.log"], "missing.log is neither a checkpoint nor a segment of the metadata log"),
        (["1", "--bootstrap-controller", "nowhere"], "--bootstrap-controller nowhere: HOST:PORT,… is expected"),
    ],
)
def test_what_is_not_there_has_exit_code_1_and_one_line(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 1

    said = capsys.readouterr().err
    assert said.startswith(f"kraftctl at: {error}")
    assert len(said.splitlines()) == 1


def test_a_log_that_was_cleaned_says_where_it_begins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = stock_directory(tmp_path)
    log = directory / SEGMENT
    data = log.read_bytes()
    position = 0
    while int.from_bytes(data[position : position + 8]) < 533:
        position += 12 + int.from_bytes(data[position + 8 : position + 12])
    log.with_name(f"{533:020}.log").write_bytes(data[position:])
    log.unlink()

    assert run(["500", "--directory", str(directory)]) == 1
    assert capsys.readouterr().err.endswith(" does not reach back to offset 500: it begins at offset 533\n")
    assert run(["2026-11-21T04:55:00Z", "--directory", str(directory)]) == 1
    assert " does not reach back to 2026-11-21T04:55:00.000Z: its log begins at offset 533, " in capsys.readouterr().err
    assert run(["600", "topics/byName/manual/id", "--directory", str(directory)]) == 0
    assert capsys.readouterr().out == "_N_CP7TfSwK8-j3NaHBVnA\n"


PATHS = [
    "/", "/image", "topics", "image/topics/", "topics/byName", "topics/*", "t*/b*", "*", "cluster/brokers/*", "topicz",
    "topics/byName/manual", "topics/byName/m*/id", "topics/byName/*/0", "topics/byName/manual/[01]", "*/*/*/id",
    "topics/byName/nothing", "topics/byName/manual/99", "topics/byName/manual/0/leader", "topics/byName/[mn]*",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_tree_for_a_path_has_all_that_it_names(path: str) -> None:
    image = read(Place(directory=NODE), Reading(), "test")
    whole, pruned = tree_of(image), tree_of(image, path)

    assert find_nodes({"image": pruned}, path) == find_nodes({"image": whole}, path)


def test_a_tree_for_a_partition_has_no_other() -> None:
    tree = tree_of(read(Place(directory=NODE), Reading(), "test"), "topics/byName/manual/0")

    assert [list(topic) for topic in tree["topics"]["byName"].values()] == [["id", "0"]]
