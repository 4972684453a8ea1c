"""`kraftctl recover` measures, plans and applies, and refuses whatever is not as it was planned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.voters import VoterSet, voters_record
from raft.storage.errors import CorruptLog
from raft.storage.files import OsFiles
from raft.storage.log import LogLimits
from raft.storage.opening import open_partition
from raft.storage.snapshot_file import SnapshotBytes
from records.uuids import parse_uuid
from tests.controller.server.processes import write_properties
from tests.tools.offline.stock_directories import PARTITION, SEGMENT, stock_directory
from tools.kraftctl.repair.recover import run
from tools.offline.examined import examine
from tools.offline.saved_copy import digests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def planned(tmp_path: Path) -> tuple[Path, str]:
    """A copy of node 1 of 4.3-dynamic, whose other voter is lost, and its plan."""
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")
    assert run(["plan", "--output", str(tmp_path / "plan.json"), str(directory)]) == 0
    return directory, str(tmp_path / "plan.json")


def test_the_first_line_says_what_cannot_be_prevented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned(tmp_path)

    first = capsys.readouterr().out.splitlines()[0]

    assert first.endswith(
        "Keep voters 3 switched off: if a majority of the old voters returns, no tool can stop it from electing a "
        "leader of its own."
    )


def test_measure_names_the_best_log_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [stock_directory(tmp_path, f"4.0-static/node-{number}") for number in (1, 2)]
    with (nodes[0] / SEGMENT).open("r+b") as log:
        log.truncate(60_000)
    before = [digests(str(node)) for node in nodes]

    assert run(["measure", "--json", *map(str, nodes)]) == 0

    said = json.loads(capsys.readouterr().out)
    assert said["best"] == str(nodes[1])
    assert [row["node_id"] for row in said["directories"]] == [1, 2]
    assert said["directories"][0]["end_offset"] < said["directories"][1]["end_offset"]
    assert [digests(str(node)) for node in nodes] == before


def test_a_plan_is_applied_after_a_backup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory, plan = planned(tmp_path)
    before = digests(str(directory))

    assert run(["apply", plan, "--dry-run"]) == 0
    assert digests(str(directory)) == before
    assert run(["apply", plan, "--backup", str(tmp_path / "backup")]) == 0

    log = examine(str(directory))
    assert log.voters is not None
    assert (log.voters.ids, log.epoch) == ((1,), 1002)
    assert digests(str(tmp_path / "backup")) == before
    assert "kafka-metadata-quorum --bootstrap-controller" in capsys.readouterr().out


def test_a_survivor_beside_a_damaged_voter_gets_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the two voters one is damaged, and a node does not start from it."""
    directory, other = (stock_directory(tmp_path, f"4.3-dynamic/node-{number}") for number in (1, 3))
    segment = other / SEGMENT
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    with pytest.raises(CorruptLog):
        open_partition(OsFiles(), str(other / PARTITION), LogLimits())
    plan = str(tmp_path / "plan.json")

    assert run(["plan", "--output", plan, str(other), str(directory)]) == 0
    said = capsys.readouterr().out
    assert run(["apply", plan]) == 0

    assert said.startswith("No acknowledged write is lost: fewer than a majority of the voters are lost or damaged. ")
    assert "\ndamaged, and not used: survivors 3\n  where only quorum-state or a spare checkpoint is damaged" in said
    assert "keep switched off until" not in said
    log = examine(str(directory))
    assert log.voters is not None
    assert log.voters.ids == (1,)


def test_a_plan_is_applied_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, plan = planned(tmp_path)

    assert [run(["apply", plan, "--backup", str(tmp_path / name)]) for name in ("first", "second")] == [0, 1]

    assert "has changed since the plan was made" in capsys.readouterr().err


@pytest.mark.parametrize("name", [SEGMENT, "meta.properties", "__cluster_metadata-0/quorum-state"])
def test_a_directory_that_has_changed_is_refused(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    directory, plan = planned(tmp_path)
    with (directory / name).open("ab") as file:
        file.write(b"\n")
    before = digests(str(directory))

    assert run(["apply", plan, "--backup", str(tmp_path / "backup")]) == 1

    assert f"has changed since the plan was made: {name}" in capsys.readouterr().err
    assert digests(str(directory)) == before


def test_a_running_node_is_refused_at_each_step(
    tmp_path: Path, locked_elsewhere: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    directory, plan = planned(tmp_path)
    locked_elsewhere(directory / ".lock")
    capsys.readouterr()

    ended = [
        run(["measure", str(directory)]),
        run(["plan", "--output", str(tmp_path / "other"), str(directory)]),
        run(["apply", plan]),
        run(["apply", plan, "--dry-run"]),
    ]

    assert ended == [1, 1, 1, 1]
    assert capsys.readouterr().out == ""


def test_files_that_are_there_are_not_overwritten(tmp_path: Path) -> None:
    directory, plan = planned(tmp_path)
    (tmp_path / "backup").mkdir()
    before = digests(str(directory))

    assert run(["plan", "--output", plan, str(directory)]) == 1
    assert run(["apply", plan, "--backup", str(tmp_path / "backup")]) == 1
    assert digests(str(directory)) == before


def test_static_voters_become_dynamic_and_each_step_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = stock_directory(tmp_path, "4.3-static/node-1")
    voters = "1@c1:9093,2@c2:9093,3@c3:9093"
    config = write_properties(tmp_path, 9093, controller_quorum_voters=voters, log_dirs=str(directory))
    plan = str(tmp_path / "plan.json")

    assert run(["plan", "-c", str(config), "--output", plan, str(directory)]) == 0
    capsys.readouterr()
    assert run(["apply", plan]) == 0

    log = examine(str(directory))
    assert log.voters is not None
    assert (log.voters.ids, log.kraft_version, log.epoch) == ((1,), 1, 1002)
    assert capsys.readouterr().out.partition("now, in this order:\n")[2] == (
        """\
1. Node 1, in its properties:
     - controller.quorum.voters=...
     + controller.quorum.bootstrap.servers=c1:9093
   Start it, and wait until it leads:
     kraftctl wait --bootstrap-controller c1:9093
2. Nodes 2, 3, one after the other: empty the directories of log.dirs and metadata.log.dir. In the properties:
     - controller.quorum.voters=...
     + controller.quorum.bootstrap.servers=c1:9093
   Format it, start it, wait until it has the log, and add it to the voters:
     kafka-storage format --cluster-id=4L6g3nShT-eMCtK--X86sw -c FILE --no-initial-controllers
     kraftctl wait --observers --node ID --bootstrap-controller c1:9093
     kafka-metadata-quorum --bootstrap-controller c1:9093 --command-config FILE add-controller
3. Every broker: the same two lines in its properties, with all controllers in controller.quorum.bootstrap.servers.
   Restart it: a broker that has records beyond the end of this log must drop them.
"""
    )


def test_a_plan_for_static_voters_without_their_addresses_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = stock_directory(tmp_path, "4.3-static/node-1")
    others = write_properties(tmp_path, 9093, node_id="2", controller_quorum_voters="2@c2:9093,3@c3:9093,4@c4:9093")

    ended = [
        run(["plan", "--output", str(tmp_path / "plan"), str(directory)]),
        run(["plan", "-c", str(others), "--output", str(tmp_path / "plan"), str(directory)]),
    ]

    assert ended == [1, 1]
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("give the properties of a survivor by -c, or their number by --static-voters")
    assert second.endswith("node 1 is not in controller.quorum.voters; measure the directory of a voter")


@pytest.mark.parametrize("log", ["gone", "empty", "behind"])
def test_a_directory_whose_log_a_start_would_make_anew_is_recovered(tmp_path: Path, log: str) -> None:
    """A crash came between the rename of a downloaded checkpoint and the reset of the log."""
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")
    partition = directory / PARTITION
    key = ReplicaKey(1, parse_uuid(directory_id_of(directory)))
    voters = VoterSet(
        [
            Voter(key, (Endpoint("CONTROLLER", "c1", 9093),), (0, 1)),
            Voter(ReplicaKey(3, b"3" * 16), (Endpoint("CONTROLLER", "c3", 9093),), (0, 1)),
        ]
    )
    source = SnapshotBytes(9, 5)
    data = source.header(5, 1, voters_record(voters)) + source.footer()
    (partition / "00000000000000000100-0000000009.checkpoint").write_bytes(data)
    for path in partition.glob("*.*index"):
        path.unlink()
    segment = partition / "00000000000000000000.log"
    segment.unlink() if log == "gone" else segment.write_bytes(b"" if log == "empty" else segment.read_bytes())
    plan = str(tmp_path / "plan.json")

    codes = [run(["plan", "--output", plan, str(directory)]), run(["apply", plan])]

    opened = open_partition(OsFiles(), str(partition), LogLimits())
    assert codes == [0, 0]
    assert (opened.recovered.log_start, opened.recovered.log_end) == (100, 101)
    assert [voter.key for voter in opened.recovered.voter_sets[-1][1]] == [key]
    opened.log.close()


def directory_id_of(directory: Path) -> str:
    text = (directory / "meta.properties").read_text()
    return next(line for line in text.splitlines() if line.startswith("directory.id=")).removeprefix("directory.id=")
