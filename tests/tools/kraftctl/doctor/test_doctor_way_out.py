"""The block at the end of `kraftctl doctor`: for each break, given what the other voters have.

tests/interop/test_doctor_leads_out.py follows it on real quorums.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.controller.server.processes import write_properties
from tests.tools.offline.stock_directories import SEGMENT, append_unreplayable, stock_directory
from tests.tools.offline.test_truncation import committed
from tools.client.quorum import Member, View
from tools.config_file import read_config
from tools.kraftctl.doctor.doctor_directories import examine_directories
from tools.kraftctl.doctor.doctor_way_out import Around, Node, obstacles, way_out
from tools.kraftctl.findings import ERROR, OK, WARNING, Finding, Obstacle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLUSTER = "4L6g3nShT-eMCtK--X86sw"
OTHERS = (("c2", 9093), ("c3", 9093))
NO_LEADER = Around(None, (), OTHERS, OTHERS)
STATE = "__cluster_metadata-0/quorum-state"


def with_leader(*voters: int, high_watermark: int = 5000) -> Around:
    members = {node: Member(node, "", 5000, 1_000, 1_000) for node in voters}
    return Around(View(CLUSTER, 2, 5, high_watermark, members, {}, ("c2", 9093)), (CLUSTER,), (), OTHERS)


def block(
    tmp_path: Path, name: str, change: Callable[[Path], object], around: Around, *findings: Finding, number: str = "1"
) -> list[str]:
    """What doctor says of a broken copy of a stock directory, the paths as DIR and FILE."""
    directory = stock_directory(tmp_path, name)
    change(directory)
    static = "1@c1:9093,2@c2:9093,3@c3:9093" if "static" in name else None
    servers = None if static else "c2:9093,c3:9093"
    path = write_properties(
        tmp_path, 9093, log_dirs=str(directory), controller_quorum_voters=static,
        controller_quorum_bootstrap_servers=servers, node_id=number,
    )  # fmt: skip
    config: Any = read_config(str(path))
    own = examine_directories(config, str(path), 0, lambda _: None)
    lines = way_out(Node(config, str(path), own, around), obstacles([*own.findings, *findings]))
    return [line.replace(str(directory), "DIR").replace(str(path), "FILE") for line in lines]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data))


def flip_checkpoint(directory: Path) -> None:
    flip(max((directory / "__cluster_metadata-0").glob("*.checkpoint")))


def garble_both(directory: Path) -> None:
    """The two names are those of one file."""
    (directory / f"{STATE}-kept").hardlink_to(directory / STATE)
    (directory / STATE).write_bytes(b'{"cl')


def commands(lines: list[str]) -> list[str]:
    """Those above the first comment that begins with a condition."""
    command_lines = []
    for line in lines:
        if line.startswith(("# if ", "# only if ")):
            break
        if not line.startswith("#"):
            command_lines.append(line)
    return command_lines


STATIC, DYNAMIC = "4.3-static/node-1", "4.3-dynamic/node-1"
SERVERS = "--bootstrap-controller c2:9093,c3:9093"
WAIT = f"kraftctl wait --node 2 --node 3 {SERVERS}"
REPLACE = f"kraftctl quorum replace --yes --id 1 {SERVERS}"


@pytest.mark.parametrize(("name", "change", "expected"), [
    (STATIC, shutil.rmtree, [
        WAIT, "mkdir -p DIR", f"kafka-storage format --cluster-id={CLUSTER} -c FILE",
        f"kraftctl wait --node 1 {SERVERS}",
    ]),
    (DYNAMIC, shutil.rmtree, [
        WAIT, "mkdir -p DIR", f"kafka-storage format --cluster-id={CLUSTER} -c FILE --no-initial-controllers", REPLACE,
    ]),
    (STATIC, lambda at: flip(at / SEGMENT), [
        WAIT, "mv DIR DIR.damaged-$(date +%s%N)", "mkdir -p DIR",
        f"kafka-storage format --cluster-id={CLUSTER} -c FILE",
        f"kraftctl wait --node 1 {SERVERS}",
    ]),
    (STATIC, lambda at: (at / STATE).write_bytes(b'{"cl'), [
        "mv DIR/__cluster_metadata-0/quorum-state DIR.quorum-state.damaged-$(date +%s%N)",
    ]),
    (STATIC, garble_both, [
        "mv DIR/__cluster_metadata-0/quorum-state DIR.quorum-state.damaged-$(date +%s%N)",
        "mv DIR/__cluster_metadata-0/quorum-state-kept DIR.quorum-state-kept.damaged-$(date +%s%N)",
    ]),
    (STATIC, lambda at: (at / f"{STATE}-kept").write_bytes(b""), [
        "mv DIR/__cluster_metadata-0/quorum-state-kept DIR.quorum-state-kept.damaged-$(date +%s%N)",
    ]),
    (DYNAMIC, lambda at: (at / "meta.properties").write_text("garbage"), [
        (f'printf "%s\\n" version=1 cluster.id={CLUSTER} node.id=1 directory.id=72jNQffvShyiD5_x5d9riA '
        "> DIR/meta.properties"),
    ]),
    (STATIC, lambda at: (at / "meta.properties").unlink(), [
        f'printf "%s\\n" version=1 cluster.id={CLUSTER} node.id=1 > DIR/meta.properties',
    ]),
    (STATIC, lambda at: (at / STATE).unlink(), []),
    (STATIC, lambda _at: None, []),
])  # fmt: skip
def test_with_a_leader_the_node_gets_back_what_the_others_have(
    tmp_path: Path, name: str, change: Callable[[Path], object], expected: list[str]
) -> None:
    assert commands(block(tmp_path, name, change, with_leader(1, 2, 3))) == expected


def test_a_vote_is_lost_only_when_both_names_of_quorum_state_are_damaged(tmp_path: Path) -> None:
    def garble_one(directory: Path) -> None:
        shutil.copy(directory / STATE, directory / f"{STATE}-kept")
        (directory / STATE).write_bytes(b'{"cl')

    one = block(tmp_path / "one", STATIC, garble_one, with_leader(1, 2, 3))
    both = block(tmp_path / "both", STATIC, garble_both, with_leader(1, 2, 3))

    assert one[0] == "# the vote that this node gave is in the other copy of quorum-state:"
    assert both[0].startswith("# the vote that this node gave is lost: start it when the others have a leader")


@pytest.mark.parametrize("name", [STATIC, DYNAMIC])
def test_without_a_leader_an_empty_directory_is_not_formatted(tmp_path: Path, name: str) -> None:
    lines = block(tmp_path, name, shutil.rmtree, NO_LEADER)

    assert commands(lines) == []
    assert lines[0].startswith("# do not format it now: two empty directories of three elect a leader")
    assert "#   kraftctl backup restore BACKUP -c FILE" in lines


def test_a_cluster_id_that_nobody_knows_is_no_word_to_copy(tmp_path: Path) -> None:
    lines = block(tmp_path, DYNAMIC, lambda at: (at / "meta.properties").unlink(), NO_LEADER)

    assert commands(lines) == []
    assert lines[-3].startswith("#   printf ")
    assert lines[-2].startswith("# if no directory of a controller or a broker has it any more: ")


@pytest.mark.parametrize(("name", "option"), [(STATIC, "-c FILE "), (DYNAMIC, "")])
def test_a_survivor_without_a_leader_becomes_the_quorum_only_if_the_majority_is_lost(
    tmp_path: Path, name: str, option: str
) -> None:
    lines = block(tmp_path, name, lambda _at: None, NO_LEADER)

    assert commands(lines) == []
    assert [line for line in lines if not line.startswith("#")] == [
        "plan=$(mktemp -u)", f"kraftctl recover plan --output $plan {option}DIR", "kraftctl recover apply $plan",
    ]  # fmt: skip


def test_a_survivor_that_is_no_voter_in_its_log_gives_its_properties(tmp_path: Path) -> None:
    lines = block(tmp_path, "4.3-dynamic/node-2", lambda _at: None, NO_LEADER, number="2")

    assert "kraftctl recover plan --output $plan -c FILE DIR" in lines


def test_a_node_that_knows_more_than_the_quorum_becomes_the_quorum(tmp_path: Path) -> None:
    lines = block(tmp_path, STATIC, lambda _at: None, with_leader(1, 2, 3, high_watermark=12))

    assert lines[0] == "# the other controllers have lost what this one has: stop them, the brokers, and this node"
    assert commands(lines)[-1] == "kraftctl recover apply $plan"


def test_a_damaged_checkpoint_is_set_aside_where_the_log_has_what_is_in_it(tmp_path: Path) -> None:
    lines = commands(block(tmp_path, STATIC, flip_checkpoint, NO_LEADER))

    assert [line.split()[0] for line in lines] == ["mv"]
    assert lines[0].endswith(".checkpoint.damaged-$(date +%s%N)")


def cut_below_the_committed_end(directory: Path) -> None:
    for path in directory.glob("*/*.checkpoint"):
        path.unlink()
    os.truncate(committed(directory, 1039) / SEGMENT, 53219)


def test_a_truncation_loses_the_committed_records_that_are_gone(tmp_path: Path) -> None:
    lines = block(tmp_path, STATIC, cut_below_the_committed_end, NO_LEADER)

    kept = "a truncation keeps what is below offset 580, and loses 459 records for good"
    assert f"# if this directory is the best that is left: {kept}" in lines
    assert "kraftctl log truncate --lose-committed DIR" in lines


def unreplayable(directory: Path) -> None:
    append_unreplayable(directory, 58, 1)


def test_a_record_that_cannot_be_replayed_is_fetched_anew_where_a_leader_goes_on(tmp_path: Path) -> None:
    lines = block(tmp_path, DYNAMIC, unreplayable, with_leader(1, 2, 3, high_watermark=58))

    assert lines[0].startswith("# a record cannot be replayed here: offset 58: FenceBrokerRecord cannot be taken in")
    assert commands(lines) == [
        WAIT, "mv DIR DIR.damaged-$(date +%s%N)", "mkdir -p DIR",
        f"kafka-storage format --cluster-id={CLUSTER} -c FILE --no-initial-controllers", REPLACE,
    ]  # fmt: skip


def test_a_record_that_no_controller_can_replay_is_cut_off_and_never_met_again(tmp_path: Path) -> None:
    lines = block(tmp_path, DYNAMIC, unreplayable, NO_LEADER)

    assert commands(lines) == []
    assert [line for line in lines if not line.startswith("#")] == [
        "kraftctl log truncate DIR --lose-committed --dry-run", "kraftctl log truncate DIR --lose-committed",
    ]  # fmt: skip


def of_another_user(directory: Path) -> None:
    os.chown(directory / SEGMENT, 1234, 1234)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change an owner")
def test_the_owner_is_mended_before_the_node_is_started(tmp_path: Path) -> None:
    assert block(tmp_path, STATIC, of_another_user, with_leader(1, 2, 3)) == ["chown -R 0 DIR", "# start the node"]


def of_another_node(directory: Path) -> None:
    mark = directory / "meta.properties"
    mark.write_text(mark.read_text().replace("node.id=1", "node.id=2"))


@pytest.mark.parametrize("around", [NO_LEADER, with_leader(1, 2, 3)], ids=["no leader", "leader"])
def test_nothing_is_done_to_the_disk_of_another_node(tmp_path: Path, around: Around) -> None:
    assert block(tmp_path, STATIC, of_another_node, around) == [
        ("# DIR/meta.properties: node.id=2 here, node.id=1 in the configuration: set node.id=2 if this disk is that "
         "node's, else mount the disk of node 1"),
        "# then run this again: kraftctl doctor -c FILE",
    ]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), [
    (lambda at: flip(at / SEGMENT), [(ERROR, "the CRC does not fit the bytes")]),
    (flip_checkpoint, [(ERROR, "the CRC does not fit the bytes")]),
    (lambda at: (at / STATE).write_bytes(b'{"cl'), [(ERROR, "is not JSON")]),
    (lambda at: (at / STATE).unlink(), [(WARNING, "the node has forgotten which vote it gave")]),
    (lambda at: (at / "meta.properties").write_text("garbage"), [(ERROR, "it has no node.id: it is damaged")]),
    (lambda at: (at / "meta.properties").unlink(), [(ERROR, "it is missing, and the directory has a metadata log")]),
])  # fmt: skip
def test_each_fault_is_found_once(
    tmp_path: Path, change: Callable[[Path], object], expected: list[tuple[str, str]]
) -> None:
    directory = stock_directory(tmp_path, STATIC)
    change(directory)
    path = write_properties(
        tmp_path, 9093, log_dirs=str(directory), controller_quorum_voters="1@c1:9093,2@c2:9093,3@c3:9093"
    )
    config: Any = read_config(str(path))

    findings = examine_directories(config, str(path), time.time_ns() // 1_000_000, lambda _: None).findings

    faults = [each for each in findings if each.level != OK]
    assert [each.level for each in faults] == [level for level, _ in expected]
    assert all(text in fault.text for fault, (_, text) in zip(faults, expected, strict=True)), faults


def test_a_survivor_beside_a_cluster_that_was_formatted_anew_has_a_way_back(tmp_path: Path) -> None:
    text = "its cluster.id is another, and this one in DIR/meta.properties"
    other = Obstacle(ERROR, "c2:9093", text, "mount the disk of this cluster, or correct the address")
    view = with_leader(1, 2, 3).view
    around = Around(view, ("another",), (), OTHERS)

    lines = block(tmp_path, DYNAMIC, lambda _at: None, around, other)

    assert lines[:2] == [
        f"# c2:9093: {text}: mount the disk of this cluster, or correct the address",
        "# then run this again: kraftctl doctor -c FILE",
    ]
    assert commands(lines) == []
    assert lines[2].startswith("# if the others were formatted anew in the place of this cluster")
    assert lines[-2] == "kraftctl recover apply $plan"
