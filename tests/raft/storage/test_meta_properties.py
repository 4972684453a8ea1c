"""meta.properties as Kafka writes it, and the checks of a start on a node's directories."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from raft.storage.bootstrap import read_bootstrap
from raft.storage.errors import StorageError
from raft.storage.files import OsFiles
from raft.storage.meta_properties import (
    MetaProperties,
    check_directories,
    meta_properties_text,
    new_directory_id,
    parse_meta_properties,
    read_meta_properties,
    write_meta_properties,
)
from records.frame import decode_record
from records.uuids import parse_uuid, uuid_text
from tests.raft.storage.disk import Disk, Inode
from tests.raft.storage.golden import DIRECTORIES, GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

ID_1 = parse_uuid("J8aAPcfLQt2bqs1JT_rMgQ")
ID_2 = parse_uuid("MvDxzVmcRsaTz33bUuRU6A")


@pytest.mark.parametrize(("quorum", "node"), DIRECTORIES)
def test_the_text_is_that_of_stock_nodes(quorum: str, node: str) -> None:
    text = (GOLDEN / quorum / node / "meta.properties").read_bytes()
    found = parse_meta_properties(text)
    second_line = text.splitlines()[1]
    clock = second_line.split()[3].split(b":")

    ours = meta_properties_text(found, 1_795_219_200 + int(clock[0]) * 3600 + int(clock[1]) * 60 + int(clock[2]))

    assert second_line.startswith(b"#Sat Nov 21 ")
    assert ours == text
    assert (found.version, found.node_id, found.cluster_id) == (1, int(node[-1]), found.cluster_id)
    assert found.directory_id is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"version=1\ncluster.id=c\nnode.id=2\n", MetaProperties(1, "c", 2, None)),
        (b" node.id : 2\r\nversion 1\ncluster.id = c\\u0041\n!x", MetaProperties(1, "cA", 2, None)),
        (b"broker.id=7\ncluster.id=c\n", MetaProperties(0, "c", 7, None)),
        (b"version=0\n", MetaProperties(0, None, None, None)),
    ],
)
def test_other_forms_are_read(text: bytes, expected: MetaProperties) -> None:
    assert parse_meta_properties(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"version=2\n", "version is 2"),
        (b"version=x\n", "version is 'x', not a number"),
        (b"version=1\ncluster.id=c\n", "node.id is missing"),
        (b"version=1\nnode.id=1\n", "cluster.id is missing"),
        (b"version=1\nnode.id=99999999999\ncluster.id=c", "node.id is '99999999999', not a number"),
        (b"version=1\nnode.id=\xb2\ncluster.id=c", "not a number"),
        (b"version=1\nnode.id=1\ncluster.id=c\ndirectory.id=zz", "directory.id"),
        (b"a=\\u12", "unicode|uxxxx"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_error(text: bytes, reason: str) -> None:
    disk = Disk()
    disk.files["node/meta.properties"] = Inode(bytearray(text))

    with pytest.raises(StorageError, match=f"^Error loading node/meta.properties: .*({reason})"):
        read_meta_properties(disk, "node")


def test_a_directory_that_is_not_formatted_has_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    assert read_meta_properties(OsFiles(), str(tmp_path)) is None
    assert read_meta_properties(OsFiles(), str(tmp_path / "gone")) is None
    assert read_meta_properties(OsFiles(), str(tmp_path / "file")) is None


def test_any_cluster_id_is_read_as_written(tmp_path: Path) -> None:
    for cluster_id in ("plain", "a=b: c#!", " leading", "tab\t\n\\"):
        values = MetaProperties(1, cluster_id, 5, ID_1)

        write_meta_properties(OsFiles(), str(tmp_path), values, 0)

        assert read_meta_properties(OsFiles(), str(tmp_path)) == values
    assert (tmp_path / "meta.properties").read_text().startswith("#\n#Thu Jan 01 00:00:00 UTC 1970\n")


def check(directories: dict[str, MetaProperties | None], metadata: str = "a", node_id: int = 1) -> MetaProperties:
    disk = Disk()
    disk.directories |= {"b/__cluster_metadata-0"}
    return check_directories(disk, directories, metadata, node_id)


def test_the_node_has_the_identity_of_its_metadata_directory() -> None:
    a, c = MetaProperties(1, "x", 1, ID_1), MetaProperties(1, "x", 1, ID_2)

    assert check({"a": a, "c": c}) == a
    assert check({"a": a, "c": c}, metadata="c") == c


@pytest.mark.parametrize(
    ("directories", "text"),
    [
        ({"a": None}, "No readable meta.properties files found in a: format the directories with kafka-storage first."),
        (
            {"a": MetaProperties(1, "x", 1, ID_1), "c": MetaProperties(1, "y", 1, ID_2)},
            "Invalid cluster.id in: c/meta.properties. Expected x, but read y",
        ),
        (
            {"a": MetaProperties(1, "x", 3, ID_1)},
            (
                "Stored node id 3 doesn't match previous node id 1 in a/meta.properties. If you moved your data, make"
                " sure your configured node id matches. If you intend to create a new node, you should remove all data"
                " in your data directories."
            ),
        ),
        (
            {"a": MetaProperties(1, "x", 1, bytes(15) + b"\x63")},
            "Invalid reserved directory ID AAAAAAAAAAAAAAAAAAAAYw found in a",
        ),
        (
            {"a": MetaProperties(1, "x", 1, ID_1), "c": MetaProperties(1, "x", 1, ID_1)},
            f"Duplicate directory ID {uuid_text(ID_1)} found. It was the ID of a, but also of c",
        ),
        (
            {"a": MetaProperties(1, "x", 1, ID_1), "b": MetaProperties(1, "x", 1, ID_2)},
            (
                "Found unexpected metadata location in data directory `b/__cluster_metadata-0` (the configured metadata"
                " directory is a)."
            ),
        ),
        (
            {"a": MetaProperties(1, "x", 1, ID_1), "c": None},
            "No `meta.properties` found in c (have you run `kafka-storage.sh` to format the directory?)",
        ),
        ({"a": MetaProperties(0, "x", None, ID_1)}, "Error: node ID not found in a"),
        ({"a": MetaProperties(0, None, 1, ID_1)}, "Error: cluster ID not found in a"),
    ],
)
def test_directories_of_another_node_are_refused(directories: dict[str, MetaProperties | None], text: str) -> None:
    with pytest.raises(StorageError) as error:
        check(directories)

    assert str(error.value) == text


def test_a_new_directory_id_is_a_fresh_one_that_no_tool_takes_for_an_option() -> None:
    drawn = [0, 99, int.from_bytes(ID_1, "big"), 0xF8 << 120, 0xFB << 120, 0xFC << 120]

    found = new_directory_id(lambda _: drawn.pop(0), {"a": MetaProperties(1, "x", 1, ID_1), "b": None})

    assert found == bytes([0xFC]) + bytes(15)
    rng = random.Random(1)
    texts = [uuid_text(new_directory_id(rng.getrandbits, {})) for _ in range(300)]
    assert not any(text.startswith("-") for text in texts)


@pytest.mark.parametrize(("quorum", "node"), DIRECTORIES)
def test_the_bootstrap_records_of_stock_nodes_are_read(quorum: str, node: str) -> None:
    values = read_bootstrap(OsFiles(), str(GOLDEN / quorum / node))

    assert values is not None
    record, _ = decode_record(values[0])
    assert (type(record).__name__, record.name) == ("FeatureLevelRecord", "metadata.version")


def test_a_node_without_bootstrap_records_has_none(tmp_path: Path) -> None:
    assert read_bootstrap(OsFiles(), str(tmp_path)) is None


def test_the_bootstrap_records_of_kafka_4_4_are_in_the_first_snapshot() -> None:
    from raft.storage.snapshot_file import SnapshotBytes

    source = SnapshotBytes(0, 1)
    data = source.header(0) + source.data([b"record"]) + source.footer()
    disk = Disk()
    disk.files["node/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"] = Inode(bytearray(data))

    assert read_bootstrap(disk, "node") == [b"record"]
