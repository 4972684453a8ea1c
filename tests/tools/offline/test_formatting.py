"""Formatting; the texts of errors are in `tests/tools/kafka/test_stock_answers.py`."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from raft.storage.bootstrap import read_bootstrap
from raft.storage.files import OsFiles
from raft.storage.meta_properties import MetaProperties, parse_meta_properties
from records.features.levels import KAFKA_4_3, KAFKA_4_4, Release
from records.java.java_order import hash_order
from tests.tools.kafka.cases import GOLDEN, checkpoint
from tests.tools.offline.stock_directories import stock_directory
from tools.offline import directory_files
from tools.offline.formatting import (
    Format,
    FormatError,
    WriteError,
    effective_levels,
    effective_release,
    format_directories,
)
from tools.offline.initial_voters import parse_voters
from tools.offline.load import load_image

SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
NOW_MS = 1_795_237_930_648


def asked(directory: Path, **changes: Any) -> Format:
    given: dict[str, Any] = {
        "node_id": 1,
        "cluster_id": "4L6g3nShT-eMCtK--X86sw",
        "directories": [str(directory)],
        "metadata_directory": str(directory),
        "static_voters": False,
        "listener": "CONTROLLER",
    }
    return Format(**{**given, **changes})


def formatted(wanted: Format) -> list[str]:
    said: list[str] = []
    format_directories(wanted, said.append, random.Random(3).getrandbits, NOW_MS)
    return said


def test_a_formatted_directory_equals_stocks_byte_for_byte(tmp_path: Path) -> None:
    """Except for times and checksums, the files equal those of the golden `--standalone` node."""
    golden = GOLDEN / "4.3-dynamic/node-1"
    wanted = asked(tmp_path / "node-1", known=KAFKA_4_3)
    wanted.voters = parse_voters("1@127.0.0.1:25091:72jNQffvShyiD5_x5d9riA")

    formatted(wanted)

    for name in ("bootstrap.checkpoint", "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"):
        ours, stock = (tmp_path / "node-1" / name).read_bytes(), (golden / name).read_bytes()
        assert (len(ours), checkpoint(ours)) == (len(stock), checkpoint(stock))
    mark = (tmp_path / "node-1/meta.properties").read_text().splitlines()
    stock_mark = (golden / "meta.properties").read_text().splitlines()
    assert (mark[0], mark[1], mark[2:]) == (stock_mark[0], "#Sat Nov 21 05:12:10 UTC 2026", stock_mark[2:])


@pytest.mark.parametrize("name", ["static", "standalone"])
def test_a_directory_of_4_4_equals_stocks_byte_for_byte(tmp_path: Path, name: str) -> None:
    """Except for times and checksums: the first records are in the snapshot 0-0 (KIP-1170)."""
    golden = GOLDEN / "4.4-formatted" / name
    wanted = asked(tmp_path, static_voters=name == "static")
    if name == "standalone":
        wanted.voters = parse_voters("1@127.0.0.1:19191:AtTZaWfgSF6FUZe9VS8CSQ")

    formatted(wanted)

    ours, stock = (tmp_path / SNAPSHOT).read_bytes(), (golden / SNAPSHOT).read_bytes()
    assert (len(ours), checkpoint(ours)) == (len(stock), checkpoint(stock))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in golden.iterdir())


def test_the_snapshot_of_the_voters_is_read_only(tmp_path: Path) -> None:
    wanted = asked(tmp_path)
    wanted.voters = parse_voters("1@h:1:72jNQffvShyiD5_x5d9riA")

    formatted(wanted)

    file = tmp_path / "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
    assert oct(file.stat().st_mode & 0o777) == "0o400"
    assert list(file.parent.iterdir()) == [file]


def test_each_directory_has_an_id_of_its_own(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in "abc"]

    formatted(asked(tmp_path, directories=names, metadata_directory=names[0]))

    marks = [parse_meta_properties((tmp_path / name / "meta.properties").read_bytes()) for name in "abc"]
    assert [mark._replace(directory_id=None) for mark in marks] == [
        MetaProperties(1, "4L6g3nShT-eMCtK--X86sw", 1, None)
    ] * 3
    assert len({mark.directory_id for mark in marks}) == 3


@pytest.mark.parametrize(("release", "operations"), [(KAFKA_4_3, 9), (KAFKA_4_4, 6)])
def test_meta_properties_is_written_last(
    release: Release, operations: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails before it, the directory can be formatted again."""
    wanted = asked(tmp_path, known=release)
    wanted.voters = parse_voters("1@h:1:72jNQffvShyiD5_x5d9riA")
    calls = 0

    class Failing(OsFiles):
        def _count(self) -> None:
            nonlocal calls
            calls += 1
            if calls == fail_at:
                raise OSError(28, "No space left on device")

        def write(self, handle: int, position: int, data: bytes) -> None:
            self._count()
            super().write(handle, position, data)

        def sync(self, handle: int) -> None:
            self._count()
            super().sync(handle)

        def rename(self, old: str, new: str) -> None:
            self._count()
            super().rename(old, new)

    monkeypatch.setattr(directory_files, "OsFiles", Failing)

    for fail_at in range(1, operations + 1):
        calls = 0
        with pytest.raises(WriteError):
            formatted(wanted)
        assert not (tmp_path / "meta.properties").exists(), fail_at

    fail_at = -1
    assert len(formatted(wanted)) == 2
    assert (tmp_path / "meta.properties").exists()


@pytest.mark.parametrize(
    ("level", "name"), [(30, "bootstrap.checkpoint"), (31, "bootstrap.checkpoint"), (33, SNAPSHOT)]
)
def test_the_bootstrap_records_are_read_back_as_an_image(level: int, name: str, tmp_path: Path) -> None:
    wanted = asked(tmp_path, static_voters=True)
    wanted.release = level

    formatted(wanted)

    image = load_image(str(tmp_path / name))
    assert image.features == {
        "metadata.version": level,
        "eligible.leader.replicas.version": 1,
        "group.version": 1,
        "share.version": 1 if level < 31 else 2,
        "streams.version": 1,
        "transaction.version": 2,
    }
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.checkpoint")) == [name]
    assert read_bootstrap(OsFiles(), str(tmp_path)) is not None


def test_only_the_metadata_directory_of_a_controller_has_the_records_of_4_4(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in "ab"]

    formatted(asked(tmp_path / "a", directories=names, metadata_directory=names[1], static_voters=True))
    formatted(asked(tmp_path / "c", is_controller=False, static_voters=True))

    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["a/meta.properties", f"b/{SNAPSHOT}", "b/meta.properties", "c/meta.properties"]


def test_a_release_formats_at_its_latest_level_for_production(tmp_path: Path) -> None:
    wanted = asked(tmp_path, static_voters=True)

    said = formatted(wanted)

    assert said[-1].endswith("with metadata.version 4.4-IV2.")
    assert effective_levels(wanted, 33)["share.version"] == 2
    assert effective_release(asked(tmp_path, known=KAFKA_4_4, unstable=True)) == 34


@pytest.mark.parametrize(
    ("known", "level", "text"),
    [
        (KAFKA_4_3, 32, "No MetadataVersion with feature level 32. Valid feature levels are from 7 to 31."),
        (KAFKA_4_3, 31, "metadata.version 4.4-IV0 is not yet stable."),
        (KAFKA_4_4, 34, "metadata.version 4.5-IV0 is not yet stable."),
        (KAFKA_4_4, 35, "No MetadataVersion with feature level 35. Valid feature levels are from 7 to 34."),
    ],
)
def test_a_level_beyond_those_of_the_release_is_refused(tmp_path: Path, known: Release, level: int, text: str) -> None:
    wanted = asked(tmp_path, known=known)
    wanted.levels = {"metadata.version": level}

    with pytest.raises(FormatError) as error:
        effective_release(wanted)

    assert str(error.value) == text


def test_a_metadata_log_without_meta_properties_is_not_formatted(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path, "4.3-dynamic/node-1")
    (directory / "meta.properties").unlink()
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}

    with pytest.raises(FormatError, match=r"has a metadata log, and no meta\.properties"):
        formatted(asked(directory))

    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before


def test_a_directory_that_is_refused_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    places = [str(tmp_path / f"data-{number}") for number in range(4)]
    *_, last = hash_order(places)
    shutil.move(stock_directory(tmp_path, "4.3-dynamic/node-1"), last)
    Path(last, "meta.properties").unlink()

    with pytest.raises(FormatError, match=r"has a metadata log, and no meta\.properties"):
        formatted(asked(Path(last), directories=places))

    assert [place for place in places if Path(place).exists()] == [last]
