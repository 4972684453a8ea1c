"""`kraftctl doctor` names what keeps a node from starting, with the remedy, and changes nothing."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import struct
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from controller.config.edges import HTTP
from controller.security.edges import EdgeSecurity
from tests.controller.server.processes import (
    CLUSTER_ID,
    format_directory,
    free_port,
    run_to_end,
    running,
    write_properties,
)
from tests.tools.offline.stock_directories import append_unreplayable, stock_directory
from tools.client.quorum import Member, View
from tools.config_file import read_config
from tools.kraftctl.cluster.wait import run as wait
from tools.kraftctl.doctor.doctor import run
from tools.kraftctl.doctor.doctor_directories import Own, _space
from tools.kraftctl.doctor.doctor_network import Peer, edges, live_voters, peer_findings, static_voters, until
from tools.kraftctl.findings import ERROR, OK, WARNING
from tools.offline import lock
from tools.offline.lock import lock_holder

TLS = Path(__file__).parents[3] / "data" / "tls"


def doctor(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and what is not ok."""
    code = run(["-c", str(path), "--json", *options])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return code, [each for each in findings if each["level"] != OK]


def only(outcome: tuple[int, list[dict[str, Any]]], code: int) -> tuple[str, str]:
    """Text and remedy of the only finding."""
    assert outcome[0] == code
    assert len(outcome[1]) == 1, outcome[1]
    return outcome[1][0]["text"], outcome[1][0]["remedy"]


def of_stock(tmp_path: Path, **changes: str | None) -> tuple[Path, Path]:
    """The configuration and directory of a stock node with dynamic voters, which has id 1."""
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")
    keys: dict[str, str | None] = {
        "log_dirs": str(directory), "controller_quorum_voters": None,
        "controller_quorum_bootstrap_servers": "127.0.0.1:25091", **changes,
    }  # fmt: skip
    return write_properties(tmp_path, free_port(), **keys), directory


def test_a_node_that_is_not_formatted_is_told_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_properties(tmp_path, free_port())
    (tmp_path / "data").mkdir()
    refused = run_to_end(path)
    assert refused.returncode == 1
    outcome = doctor(capsys, path, "--offline")

    text, remedy = only(outcome, 2)
    assert text == "it is not formatted"
    assert remedy == f"kafka-storage format --cluster-id=CLUSTER_ID -c {path}"
    format_directory(path)
    assert doctor(capsys, path, "--offline") == (0, [])


def test_the_ids_that_do_not_agree_are_named_with_file_and_both_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_properties(tmp_path, free_port())
    format_directory(path)
    path.write_text(path.read_text().replace("node.id=1", "node.id=2").replace("1@", "2@"))
    assert run_to_end(path).returncode == 1

    text, remedy = only(doctor(capsys, path, "--offline"), 2)
    assert text == "node.id=1 here, node.id=2 in the configuration"
    assert remedy == "set node.id=1 if this disk is that node's, else mount the disk of node 2"


def test_a_log_without_meta_properties_must_not_be_formatted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, directory = of_stock(tmp_path)
    (directory / "meta.properties").unlink()

    text, remedy = only(doctor(capsys, path, "--offline"), 2)
    assert text == "it is missing, and the directory has a metadata log"
    assert remedy.endswith("do not format")


def test_a_cluster_id_with_a_leading_dash_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_properties(tmp_path, free_port())
    format_directory(path)
    mark = tmp_path / "data/meta.properties"
    mark.write_text(mark.read_text().replace(CLUSTER_ID, f"-{CLUSTER_ID[1:]}"))

    text, remedy = only(doctor(capsys, path, "--offline"), 1)
    assert text.endswith("begins with a dash, which tools take for an option")
    assert remedy.startswith("write --cluster-id=-")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change an owner")
def test_files_of_another_user_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, directory = of_stock(tmp_path)
    (directory / "bootstrap.checkpoint.tmp").write_bytes(b"")
    os.chown(directory / "bootstrap.checkpoint.tmp", 4711, 4711)

    text, remedy = only(doctor(capsys, path, "--offline"), 2)
    assert text == f"user 0 owns it, but not {directory}/bootstrap.checkpoint.tmp"
    assert remedy == f"chown -R 0 {directory}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change an owner")
def test_files_of_another_user_are_named_where_meta_properties_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, directory = of_stock(tmp_path)
    (directory / "meta.properties").write_text("damaged")
    os.chown(directory / "meta.properties", 4711, 4711)

    code, findings = doctor(capsys, path, "--offline")
    assert code == 2
    assert f"user 0 owns it, but not {directory}/meta.properties" in [each["text"] for each in findings]


def test_static_settings_on_a_dynamic_quorum_and_the_reverse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = of_stock(tmp_path, controller_quorum_voters="1@127.0.0.1:25091")
    text, _ = only(doctor(capsys, path, "--offline"), 1)
    assert text == "controller.quorum.voters is ignored: the voters are in the log (kraft.version=1)"

    static = stock_directory(tmp_path, "4.3-static/node-1")
    path = write_properties(
        tmp_path, free_port(), log_dirs=str(static), controller_quorum_voters=None,
        controller_quorum_bootstrap_servers="127.0.0.1:25091",
    )  # fmt: skip
    code, findings = doctor(capsys, path, "--offline")
    assert code == 2
    assert "controller.quorum.voters is not set, and the log has kraft.version=0: the voters are there" in [
        each["text"] for each in findings
    ]


def test_a_replaced_disk_is_told_apart_from_the_one_in_the_voter_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, directory = of_stock(tmp_path)
    assert doctor(capsys, path, "--offline") == (0, [])
    mark = directory / "meta.properties"
    former = next(line for line in mark.read_text().splitlines() if line.startswith("directory.id="))
    mark.write_text(mark.read_text().replace(former, "directory.id=4L6g3nShT-eMCtK--X86sw"))

    text, remedy = only(doctor(capsys, path, "--offline"), 2)
    assert text.startswith("directory.id=4L6g3nShT-eMCtK--X86sw, but the voter set has node 1 with ")
    assert former.partition("=")[2] in text
    assert remedy == "start this node, and then: kraftctl quorum replace --id 1"


def test_a_damaged_log_is_named_and_nothing_is_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, directory = of_stock(tmp_path)
    append_unreplayable(directory, 58, 1)
    before = {file: file.read_bytes() for file in directory.rglob("*") if file.is_file()}

    text, remedy = only(doctor(capsys, path, "--offline"), 2)
    assert text.startswith("1 records cannot be replayed, first offset 58: FenceBrokerRecord cannot be taken in")
    assert remedy == f"kraftctl log replay {directory}"
    assert {file: file.read_bytes() for file in directory.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("free_mib", "size_mib", "warned"),
    [(255, 100_000, True), (256, 100_000, False), (99, 1_000, True), (100, 1_000, False)],
)
def test_a_disk_is_full_below_256_mib_or_a_tenth_whichever_is_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_mib: int, size_mib: int, warned: bool
) -> None:
    look = os.statvfs

    def statvfs(path: str) -> Any:
        found = look(path)
        return SimpleNamespace(f_bavail=free_mib, f_blocks=size_mib, f_frsize=1 << 20, f_bsize=found.f_bsize)

    monkeypatch.setattr(os, "statvfs", statvfs)

    found = [finding.text for finding in _space(str(tmp_path))]

    assert found == ([f"{free_mib} MiB are free"] if warned else [])


def test_two_directories_of_different_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_properties(tmp_path, free_port())
    format_directory(path)
    shutil.copytree(tmp_path / "data", tmp_path / "other")
    mark = tmp_path / "other/meta.properties"
    mark.write_text(mark.read_text().replace(CLUSTER_ID, "another"))
    path.write_text(path.read_text().replace(f"log.dirs={tmp_path}/data", f"log.dirs={tmp_path}/data,{tmp_path}/other"))

    code, findings = doctor(capsys, path, "--offline")

    assert code == 2
    assert (
        f"the directories are of different clusters: cluster.id={CLUSTER_ID} in {tmp_path}/data, "
        in findings[1]["text"]
    )


def test_a_running_node_is_well_and_its_lock_is_only_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    with running(tmp_path, port) as process:
        path = tmp_path / "controller.properties"
        assert wait(["-c", str(path)]) == 0
        assert lock_holder(f"{tmp_path}/data/.lock") == process.pid
        code, findings = doctor(capsys, path)
        assert (code, findings) == (0, [])

        # The same port for a node that does not run.
        other = tmp_path / "other"
        other.mkdir()
        second = write_properties(other, port)
        format_directory(second)
        text, remedy = only(doctor(capsys, second), 2)
        assert text == "another process listens on the port, and the node does not run"
        assert f"ss -ltnp 'sport = :{port}'" in remedy


def said_of_lock(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    run(["-c", str(path), "--json", "--offline"])
    (text,) = (
        each["text"] for each in json.loads(capsys.readouterr().out)["findings"] if each["where"].endswith("/.lock")
    )
    return str(text)


def test_the_holder_of_the_lock_is_named_on_bsd_and_macos_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their struct flock ends with type and whence, with which that of Linux begins."""
    path, directory = of_stock(tmp_path)
    (directory / ".lock").touch()
    layout = struct.Struct("qqihh")

    def answer(_handle: int, _command: int, asked: bytes) -> bytes:
        start, length, _process, kind, whence = layout.unpack(asked)
        assert (start, length, kind, whence) == (0, 0, fcntl.F_WRLCK, os.SEEK_SET)
        return layout.pack(start, length, 4711, kind, whence)

    monkeypatch.setattr(lock, "_IS_LINUX", False)
    monkeypatch.setattr(lock, "_FLOCK", layout)
    monkeypatch.setattr(fcntl, "fcntl", answer)

    assert said_of_lock(capsys, path) == "process 4711 holds the lock"


def test_a_lock_that_cannot_be_read_ends_no_doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, directory = of_stock(tmp_path)
    (directory / ".lock").symlink_to(".lock")

    assert said_of_lock(capsys, path).startswith("no process holds the lock")


def test_a_name_that_is_not_resolved_and_a_quorum_of_another_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    with running(tmp_path, port):
        assert wait(["-c", str(tmp_path / "controller.properties")]) == 0
        other = tmp_path / "other"
        other.mkdir()
        own = free_port()
        path = write_properties(
            other, own, controller_quorum_voters=f"1@127.0.0.1:{own},2@127.0.0.1:{port},3@nowhere.invalid:9093"
        )
        format_directory(path)
        mark = other / "data/meta.properties"
        mark.write_text(mark.read_text().replace(CLUSTER_ID, "another-cluster-of-kfk"))
        code, findings = doctor(capsys, path)

    texts = [each["text"] for each in findings]
    assert code == 2
    assert any(text.startswith("the name is not resolved: ") for text in texts)
    assert f"its cluster.id is {CLUSTER_ID}, and another-cluster-of-kfk in {other}/data/meta.properties" in texts
    assert "it has nodes 1, 2, 3, the quorum has voters 1" in texts


@pytest.mark.parametrize(("cluster_id", "level", "part"), [
    (CLUSTER_ID, OK, "it answers, and knows no leader; cluster.id="),
    ("another-cluster-of-kfk", ERROR, "it refuses another-cluster-of-kfk, the cluster.id in "),
])  # fmt: skip
def test_a_controller_that_knows_no_leader_says_whether_it_has_the_cluster_id(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster_id: str, level: str, part: str
) -> None:
    port, own = free_port(), free_port()
    voters = f"1@127.0.0.1:{own},2@127.0.0.1:{port},3@127.0.0.1:{free_port()}"
    with running(tmp_path, port, node_id="2", controller_quorum_voters=voters):
        other = tmp_path / "other"
        other.mkdir()
        path = write_properties(other, own, controller_quorum_voters=voters)
        format_directory(path)
        mark = other / "data/meta.properties"
        mark.write_text(mark.read_text().replace(CLUSTER_ID, cluster_id))
        run(["-c", str(path), "--json", "--timeout", "1"])

    findings = json.loads(capsys.readouterr().out)["findings"]
    (said,) = [each for each in findings if each["where"] == f"127.0.0.1:{port}"]
    assert (said["level"], said["text"][: len(part)]) == (level, part)


def test_a_node_without_meta_properties_finds_the_controllers_that_are_in_its_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, own = free_port(), free_port()
    alone = {"controller_quorum_voters": None, "controller_quorum_bootstrap_servers": f"127.0.0.1:{port}"}
    path = write_properties(tmp_path, port, **alone)
    format_directory(path, "--standalone")
    with running(tmp_path, port, **alone):
        assert wait(["--bootstrap-controller", f"127.0.0.1:{port}"]) == 0
        capsys.readouterr()
        other = tmp_path / "other"
        shutil.copytree(tmp_path / "data", other / "data")
        (other / "data/meta.properties").unlink()
        alone["controller_quorum_bootstrap_servers"] = f"127.0.0.1:{own}"  # as after `recover apply`
        run(["-c", str(write_properties(other, own, node_id="2", **alone)), "--timeout", "5"])

    assert f"cluster.id={CLUSTER_ID} node.id=2 " in capsys.readouterr().out


def test_a_controller_that_cannot_name_its_cluster_yet_is_not_well() -> None:
    own: Any = SimpleNamespace(mark=None)

    (finding,) = peer_findings([Peer(("c2", 9093))], cast("Any", None), own)

    assert (finding.level, finding.text) == (
        WARNING, "it answers, and cannot name its cluster.id: it knows no leader, or has no metadata yet"
    )  # fmt: skip
    assert finding.remedy.startswith("compare cluster.id in its meta.properties")


@pytest.mark.parametrize(("accepts", "level", "text"), [
    (True, OK, "it answers, and knows no leader; cluster.id=mine"),
    (False, ERROR, "it refuses mine, the cluster.id in /data/meta.properties: its own is another"),
])  # fmt: skip
def test_a_controller_without_metadata_is_asked_whether_it_accepts_our_cluster_id(
    accepts: bool, level: str, text: str
) -> None:
    own: Any = SimpleNamespace(mark=SimpleNamespace(cluster_id="mine"))
    config: Any = SimpleNamespace(metadata_log_dir="/data")

    (finding,) = peer_findings([Peer(("c2", 9093), is_of_ours=accepts)], config, own)

    assert (finding.level, finding.text) == (level, text)


def test_a_ghost_a_missing_voter_and_a_clock_are_found_in_what_the_leader_says(tmp_path: Path) -> None:
    config = read_config(str(write_properties(tmp_path, 9093)))
    members = {node: Member(node, "", 10, 1_000_000, 1_000_000) for node in (1, 2)}
    view = View(CLUSTER_ID, 2, 5, 10, members, {}, ("a", 1), taken_ms=1_005_000)

    findings = list(live_voters(view, {1, 2, 7}, config, Own([], None, None, False)))

    assert [(each.level, each.where) for each in findings] == [
        (OK, "quorum"),
        (ERROR, "controller.quorum.voters"),
        (WARNING, "controller 7"),
        (WARNING, "clock"),
    ]


def half_edited(tmp_path: Path, directory_id: str) -> list[tuple[str, str]]:
    """What is found where this node's list has another address of node 2, and of node 3 that of node 2, than the leader
    has. directory_id: of the voters, empty for static ones.
    """
    voters = "1@127.0.0.1:9093,2@c2.new:9093,3@c2:9093"
    config = read_config(str(write_properties(tmp_path, 9093, controller_quorum_voters=voters)))
    members = {node: Member(node, directory_id, 10, 1_000_000, 1_000_000) for node in (1, 2, 3)}
    addresses = {1: ("127.0.0.1", 9093), 2: ("c2", 9093), 3: ("c3", 9093)}
    listeners = {node: {"CONTROLLER": address} for node, address in addresses.items()}
    view = View(CLUSTER_ID, 2, 5, 10, members, {}, ("a", 1), listeners=listeners)
    places = {address: node for node, address in addresses.items()}
    return [(each.level, each.text) for each in static_voters(view, places, config)]


def test_a_list_of_static_voters_that_was_changed_on_this_node_only_is_named_entry_by_entry(tmp_path: Path) -> None:
    assert half_edited(tmp_path, "") == [
        (WARNING, "it has node 2 at c2.new:9093, and the list of the leader, node 2, at c2:9093"),
        (ERROR, "it has node 3 at c2:9093, which is the address of controller 2"),
    ]


def test_a_list_that_was_changed_without_a_restart_is_found_on_a_running_quorum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    with running(tmp_path, port):
        assert wait(["-c", str(tmp_path / "controller.properties")]) == 0
        path = write_properties(tmp_path, port, controller_quorum_voters=f"1@localhost:{port}")
        _, findings = doctor(capsys, path)

    text = f"it has node 1 at localhost:{port}, and the list of the leader, node 1, at 127.0.0.1:{port}"
    assert text in [each["text"] for each in findings]


def test_no_list_counts_where_the_voters_are_in_the_log(tmp_path: Path) -> None:
    assert half_edited(tmp_path, "AAAAAAAAAAAAAAAAAAAAAQ") == []


@pytest.mark.parametrize(("left_s", "level"), [(-1, ERROR), (3600, WARNING), (30 * 24 * 3600, OK)])
def test_a_certificate_is_reported_two_weeks_before_its_end(left_s: int, level: str) -> None:
    assert until("CONTROLLER", "node.pem", 1_800_000_000 + left_s, 1_800_000_000).level == level


@pytest.mark.parametrize(
    ("where", "certificate", "key", "expected"),
    [
        ("localhost:9094", "node.pem", "node.key", [OK]),
        ("0.0.0.0:9094", "node.pem", "node.key", [OK]),
        ("10.1.2.3:9094", "node.pem", "node.key", [OK, "IP address mismatch, certificate is not valid for '10.1.2.3'"]),
        ("c1:9094", "node.pem", "node.key", [OK, "Hostname mismatch, certificate is not valid for 'c1'"]),
        ("localhost:9094", "node.pem", "renewed.key", ["node.pem does not match the key in "]),
        ("localhost:9094", "none.pem", "node.key", ["none.pem"]),
    ],
)
@pytest.mark.parametrize("port", ["kraft_http", "kraft_grpc"])
def test_the_certificates_of_the_own_ports_are_examined(
    tmp_path: Path, port: str, where: str, certificate: str, key: str, expected: list[str]
) -> None:
    keys = {
        f"{port}_listener": where, f"{port}_tls_certificate_path": str(TLS / certificate),
        f"{port}_tls_key_path": str(TLS / key),
    }  # fmt: skip
    config = read_config(write_properties(tmp_path, free_port(), **keys))

    findings = list(edges(config, 1_800_000_000))

    assert len(findings) == len(expected)
    for finding, text in zip(findings, expected, strict=True):
        assert finding.level == OK if text == OK else text in finding.text


def test_a_certificate_of_the_http_port_that_ends_is_reported(tmp_path: Path) -> None:
    keys = {"kraft_http_tls_certificate_path": str(TLS / "node.pem"), "kraft_http_tls_key_path": str(TLS / "node.key")}
    config = read_config(write_properties(tmp_path, free_port(), kraft_http_listener="127.0.0.1:9094", **keys))
    ((_, expires_s),) = [EdgeSecurity(config, HTTP, now=time.monotonic, note=lambda *_: None).certificate()]

    assert [each.level for each in edges(config, expires_s - 3600)] == [WARNING]
    assert [each.level for each in edges(config, expires_s + 1)] == [ERROR]
