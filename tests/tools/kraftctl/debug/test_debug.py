"""`kraftctl debug bundle`: one archive, whole or with what failed in its manifest, for its owner alone."""

from __future__ import annotations

import hashlib
import json
import stat
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import running, write_properties
from tests.tools.offline.stock_directories import stock_directory
from tests.tools.offline.test_truncation import split
from tools.kraftctl.cluster.wait import run as wait
from tools.kraftctl.debug import bundle, disk_parts, node_parts
from tools.kraftctl.debug.bundle import write_archive
from tools.kraftctl.debug.debug import run
from tools.kraftctl.debug.subject import subject_of

if TYPE_CHECKING:
    from pathlib import Path

SHORT = ("--seconds", "0.3", "--every", "0.1", "--json")


def collect(root: Path, *options: str) -> tuple[int, dict[str, str], dict[str, Any]]:
    """The exit code, the files of the archive, and its manifest."""
    target = root / "ticket.tar.gz"
    code = run(["bundle", *options, "--out", str(target), *SHORT])
    with tarfile.open(target) as archive:
        files = {}
        for entry in archive.getmembers():
            file = archive.extractfile(entry)
            assert file is not None
            files[entry.name.removeprefix("ticket/")] = file.read().decode()
    return code, files, json.loads(files["manifest.json"])


def states(manifest: dict[str, Any]) -> dict[str, str]:
    return {name: each["state"] for name, each in manifest["sections"].items()}


def test_the_bundle_of_a_running_node_has_all_parts(tmp_path: Path) -> None:
    port = free_ports_in_a_row(2)
    with running(tmp_path, port, kraft_http_listener=f"127.0.0.1:{port + 1}"):
        assert wait(["-c", str(tmp_path / "controller.properties"), "--timeout", "20"]) == 0
        _, files, manifest = collect(
            tmp_path, "-c", str(tmp_path / "controller.properties"), "--log", str(tmp_path / "node.log")
        )

    assert set(states(manifest)) == {
        "versions", "directory", "records", "process", "disk", "config", "doctor", "node", "voters", "metrics", "logs",
    }  # fmt: skip
    assert {name: state for name, state in states(manifest).items() if state != "done"} == {}
    assert json.loads(files["node/quorum.json"])["node"]["id"] == 1
    assert "in run_node" in files["process/stacks.txt"]
    assert len([name for name in files if name.startswith("metrics/")]) >= 3
    assert len(json.loads(files["disk/fsync.json"])["ms"]) == disk_parts.FSYNCS
    assert json.loads(files["voters/views.json"])[0]["node_id"] == 1
    assert any(
        json.loads(line)["type"] == "FeatureLevelRecord"
        for line in files["records.jsonl"].splitlines()
        if "type" in line
    )
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [
        ".lock",
        "__cluster_metadata-0",
        "meta.properties",
    ]
    for name, entry in manifest["files"].items():
        assert entry == {
            "bytes": len(files[name].encode()), "sha256": hashlib.sha256(files[name].encode()).hexdigest()
        }, name  # fmt: skip


def test_the_bundle_of_a_stock_directory_has_what_the_disk_says(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")

    code, files, manifest = collect(tmp_path, "--directory", str(directory), "--records", "5")

    assert states(manifest) == {
        "versions": "done", "directory": "done", "records": "done", "process": "failed", "disk": "done",
    }  # fmt: skip
    assert code == 2
    assert "does not run" in manifest["sections"]["process"]["reason"]
    lines = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    log = json.loads(files["directory/log.json"])
    assert len(lines) == 5
    assert lines[-1]["offset"] == log["end_offset"] - 1
    assert log["voters"]


def test_the_last_records_of_several_segments_are_those_of_one_in_the_same_order(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    options = ("--directory", str(directory), "--records", "400")
    _, of_one, _ = collect(tmp_path, *options)
    (tmp_path / "ticket.tar.gz").unlink()
    split(directory, 580, 728)  # the last one has 311

    _, of_three, _ = collect(tmp_path, *options)
    assert of_three["records.jsonl"] == of_one["records.jsonl"]
    assert of_one["records.jsonl"].count("\n") == 400


def test_names_are_removed_on_request(tmp_path: Path) -> None:
    port = free_ports_in_a_row(2)
    changes: dict[str, str | None] = {
        "kraft_http_listener": f"127.0.0.1:{port + 1}", "controller_listener_names": "SECRETPLACE",
        "listeners": f"SECRETPLACE://127.0.0.1:{port}", "listener_security_protocol_map": "SECRETPLACE:PLAINTEXT",
    }  # fmt: skip
    with running(tmp_path, port, **changes):
        assert wait(["-c", str(tmp_path / "controller.properties"), "--timeout", "20"]) == 0
        with (tmp_path / "node.log").open("a") as log:
            log.write("client warehouse-7 of User:carol at 10.9.8.7 asked for topic salaries.2026\n")
        code, files, manifest = collect(
            tmp_path,
            "-c",
            str(tmp_path / "controller.properties"),
            "--log",
            str(tmp_path / "node.log"),
            "--remove-names",
        )

    assert (code, manifest["names_removed"]) == (0, True)
    assert "epoch" in files["node/quorum.json"]
    assert "/controller/server/start.py" in files["process/stacks.txt"]
    for name, text in files.items():
        for planted in ("SECRETPLACE", "127.0.0.1", str(tmp_path), "carol", "warehouse", "10.9.8.7", "salaries"):
            assert planted not in text, (name, planted)


def test_a_wrong_configuration_is_an_entry_and_shows_no_value(tmp_path: Path) -> None:
    path = write_properties(tmp_path, 9093, ssl_key_password="planted-secret", node_id="planted-number")

    code, files, manifest = collect(tmp_path, "-c", str(path))

    assert code == 2
    assert states(manifest)["config"] == "failed"
    assert "ssl.key.password" in files["config.json"]
    assert all("planted-secret" not in text for text in files.values())


def test_a_part_that_hangs_or_raises_is_an_entry_and_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    ended = threading.Event()

    def hangs(*_: object) -> Any:
        yield "directory/first.json", {"kept": True}
        ended.wait(20)

    def raises(*_: object) -> Any:
        raise ZeroDivisionError("a fault of ours")
        yield

    monkeypatch.setattr(disk_parts, "directory_part", hangs)
    monkeypatch.setattr(disk_parts, "records_part", raises)
    monkeypatch.setattr(bundle, "PARTS_S", 0.5)
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")

    code, files, manifest = collect(tmp_path, "--directory", str(directory), "--no-probe")
    ended.set()

    assert code == 2
    assert states(manifest)["directory"] == "unfinished"
    assert json.loads(files["directory/first.json"]) == {"kept": True}
    assert manifest["sections"]["records"]["reason"] == "ZeroDivisionError: a fault of ours"


def test_a_disk_that_cannot_be_written_to_is_an_entry(tmp_path: Path) -> None:
    subject = subject_of(None, str(stock_directory(tmp_path, "4.3-dynamic/node-1")))._replace(directory="/proc/self")

    parts = disk_parts.disk_part(subject)

    assert next(parts)[0] == "disk/space.json"
    with pytest.raises(node_parts.NotThere, match="the write with fsync failed"):
        next(parts)


def test_the_archive_is_for_its_owner_alone_and_replaces_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = str(stock_directory(tmp_path, "4.3-dynamic/node-1"))
    collect(tmp_path, "--directory", directory, "--no-probe")
    target = tmp_path / "ticket.tar.gz"
    before = target.read_bytes()

    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert run(["bundle", "--directory", directory, "--out", str(target)]) == 1
    assert "is there already" in capsys.readouterr().err
    assert target.read_bytes() == before


def test_a_file_that_is_made_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "x.tar.gz"
    target.write_text("another's")

    with pytest.raises(FileExistsError):
        write_archive(str(target), {"a": b"b"}, 0)

    assert target.read_text() == "another's"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("option", [("--seconds", "-1"), ("--seconds", "nan"), ("--every", "0"), ("--records", "0")])
def test_a_number_out_of_its_range_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    assert run(["bundle", "--directory", str(tmp_path), *option]) == 1
    assert f"{option[0]} " in capsys.readouterr().err


def test_a_directory_without_a_log_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bundle", "--directory", str(tmp_path)]) == 1
    assert "it has no __cluster_metadata-0" in capsys.readouterr().err
