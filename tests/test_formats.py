"""The formats of our own, on disk and on the wire: each has a version, and the bytes of each release are still read.

`tests/data/formats` has a folder for each recorded version of ours (`python -m tests.upgrade.record COMMIT`). Kafka's
own formats have their golden data in tests/data/golden.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgpack
import pytest

from controller.server.grpc.bodies import Form, in_form, read_body
from pipeline.tables.warehouse import FORMAT_VERSION, Manifest, Warehouse, WarehouseError
from raft.storage.committed_prefix import VERSION as PREFIX_VERSION
from raft.storage.committed_prefix import parse_prefix, prefix_text
from records.crc import crc32c
from records.release import AUDIT_FORMAT
from tests.upgrade.record import AUDIT, BACKUP, FORMATS, PREFIX
from tests.upgrade.writer import KEY
from tools.kraftctl.debug.bundle import FORMAT_VERSION as BUNDLE_VERSION
from tools.kraftctl.history.audit_files import read_requests
from tools.offline.backups import MANIFEST, BadBackup, read_manifest, verify_backup
from tools.offline.backups import VERSION as BACKUP_VERSION
from tools.offline.live_directory import LiveDirectory

VERSIONS = sorted(path.name for path in FORMATS.iterdir())
# Whoever raises one of these records the bytes of the last release first, and reads both.
PRESENT = {"backup": 1, "committed prefix": 0, "audit log": 1, "tables": 1, "debug bundle": 1}
WATCH = {"from_offset": 17, "filter": {"types": ["TopicRecord"]}, "cluster_id": "c", "allow_stale": False}
WATCH_JSON = b'\nZ{"from_offset":17,"filter":{"types":["TopicRecord"]},"cluster_id":"c","allow_stale":false}'
WATCH_MSGPACK = bytes.fromhex(
    "1243"
    "84ab66726f6d5f6f666673657411a666696c74657281a5747970657391ab546f7069635265636f7264aa636c75737465725f6964a163ab"
    "616c6c6f775f7374616c65c2"
)


def test_the_versions_are_those_whose_bytes_are_recorded() -> None:
    assert VERSIONS
    assert PRESENT == {
        "backup": BACKUP_VERSION, "committed prefix": PREFIX_VERSION, "audit log": AUDIT_FORMAT,
        "tables": FORMAT_VERSION, "debug bundle": BUNDLE_VERSION,
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_a_backup_of_each_version_is_read_and_replayed(version: str) -> None:
    backup = FORMATS / version / BACKUP

    manifest, found = verify_backup(str(backup))
    image = LiveDirectory(str(backup)).update()

    assert found.end_offset == manifest.end_offset == image.last_offset + 1 > 20
    assert KEY in image.configs[4, ""]
    assert image.problems == []


def test_a_backup_of_a_later_format_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "backup"
    shutil.copytree(FORMATS / VERSIONS[0] / BACKUP, copy)
    said = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(json.dumps({**said, "version": BACKUP_VERSION + 1}))

    with pytest.raises(BadBackup, match=f"version {BACKUP_VERSION + 1}"):
        read_manifest(str(copy))


@pytest.mark.parametrize("version", VERSIONS)
def test_an_audit_log_of_each_version_names_the_requests(version: str) -> None:
    path = FORMATS / version / AUDIT
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    written = [line for line in lines if line["api"] == "IncrementalAlterConfigs"]

    found = read_requests([str(path)], [(line["epoch"], line["first_offset"]) for line in written])

    assert len(written) >= 20
    assert found.unreadable == 0
    assert len(found._found) == len(written)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_committed_prefix_of_each_version_is_read_and_written_again_to_the_byte(version: str) -> None:
    data = (FORMATS / version / PREFIX).read_bytes()

    assert prefix_text(parse_prefix(data)) == data


def test_a_committed_prefix_of_a_later_format_is_refused() -> None:
    body = b"1\n" + (FORMATS / VERSIONS[0] / PREFIX).read_bytes()[2:-9]

    with pytest.raises(ValueError, match="only 0 is read"):
        parse_prefix(body + f"{crc32c(body):08x}\n".encode())


def test_a_manifest_of_tables_is_read_and_one_of_a_later_format_refused(tmp_path: Path) -> None:
    text = (
        '{"run": 3, "parts": {"records": ["runs/000003/records"]}, "records": [], "ingested": {"c": {"offset": 7, '
        '"epoch": 2}}, "folded": {"c": 7}, "memory": "runs/000003/memory", "batches": {}, "version": 1}'
    )
    (tmp_path / "manifests").mkdir()
    path = tmp_path / "manifests" / "000003.json"
    path.write_text(text)

    assert Warehouse(str(tmp_path)).manifest() == Manifest(
        3, {"records": ["runs/000003/records"]}, [], {"c": {"offset": 7, "epoch": 2}}, {"c": 7}, "runs/000003/memory"
    )
    path.write_text(text.replace('"version": 1', '"version": 2'))
    with pytest.raises(WarehouseError, match="version 2"):
        Warehouse(str(tmp_path)).manifest()


def test_the_bodies_of_the_watch_service_have_their_bytes() -> None:
    """Their version is in the name of the service, kraft.v1."""
    proto = (Path(__file__).parents[1] / "docs" / "watch" / "metadata.proto").read_text()

    assert "package kraft.v1;" in proto
    assert read_body(WATCH_JSON) == (Form.JSON, WATCH)
    assert read_body(WATCH_MSGPACK) == (Form.MSGPACK, WATCH)
    assert in_form(Form.JSON, msgpack.packb(WATCH)) == WATCH_JSON
    assert in_form(Form.MSGPACK, msgpack.packb(WATCH)) == WATCH_MSGPACK
