"""The warehouse: files that count, files that do not, and deleted files."""

from __future__ import annotations

import os
from dataclasses import replace
from time import time
from typing import TYPE_CHECKING

import pytest

from pipeline.tables.warehouse import SCRATCH_SECONDS, Manifest, Warehouse, WarehouseError

if TYPE_CHECKING:
    from pathlib import Path


def run(warehouse: Warehouse, manifest: Manifest, *names: str) -> Manifest:
    """A run that writes these, of which it names all but those that begin with a dot."""
    directory = warehouse.next(manifest)
    for name in names:
        (directory / name).mkdir(parents=True)
        (directory / name / "part.parquet").write_text("x")
    named = [warehouse.relative(directory / name) for name in names if not name.startswith(".")]
    return warehouse.commit(replace(manifest, parts={"leadership": named}))


def test_a_run_counts_once_its_manifest_is_there(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    before = warehouse.manifest()

    (warehouse.next(before) / "leadership").mkdir()
    unfinished = warehouse.manifest()
    after = run(warehouse, before, "tables/part=leadership")

    assert (before.run, unfinished.run, after.run) == (0, 0, 1)
    assert warehouse.manifest() == after
    (directory,) = tmp_path.glob("runs/000001-*")
    assert warehouse.paths(after, "leadership") == [str(directory / "tables/part=leadership")]


def test_of_two_writers_the_second_is_refused(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    seen = warehouse.manifest()
    first = run(warehouse, seen, "tables/part=leadership")

    with pytest.raises(WarehouseError, match="another process writes"):
        warehouse.commit(seen)

    assert warehouse.manifest() == first


def test_files_in_neither_of_the_last_two_manifests_are_deleted(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    manifest = warehouse.manifest()
    for _ in range(3):
        manifest = run(warehouse, manifest, "tables/part=leadership", "tables/part=state")
        manifest = replace(manifest, parts={"leadership": manifest.parts["leadership"][:1]})
    to_come = warehouse.next(manifest) / "of a run to come"
    to_come.mkdir()
    (tmp_path / "runs" / "000002" / "of a former version").mkdir(parents=True)

    warehouse.sweep(warehouse.manifest())

    left = sorted(path.relative_to(tmp_path / "runs").parts for path in tmp_path.glob("runs/*/*/*"))
    assert [(run.partition("-")[0], *names) for run, *names in left] == [
        ("000002", "tables", "part=leadership"), ("000002", "tables", "part=state"),
        ("000003", "tables", "part=leadership"), ("000003", "tables", "part=state"),
    ]  # fmt: skip
    assert not (tmp_path / "runs" / "000002").exists()
    assert sorted(path.name for path in tmp_path.glob("manifests/*")) == ["000002.json", "000003.json"]
    assert to_come.is_dir()


def test_a_scratch_directory_is_removed_after_its_use_or_when_its_process_died(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    manifest = run(warehouse, warehouse.manifest(), "tables/part=leadership")
    with warehouse.scratch() as used, warehouse.scratch() as left, warehouse.scratch() as held:
        (used / "0.arrow").write_text("x")
        left.rename(tmp_path / "scratch-of-a-dead-process")
        os.utime(tmp_path / "scratch-of-a-dead-process", (0, time() - SCRATCH_SECONDS - 60))

        warehouse.sweep(manifest)

        assert sorted(tmp_path.glob("scratch-*")) == sorted((used, held))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifests", "runs"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 99}', '{"version": 1, "colour": 3}'])
def test_an_invalid_manifest_is_reported_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "000004.json").write_text(text)

    with pytest.raises(WarehouseError, match=r"000004\.json"):
        Warehouse(str(tmp_path)).manifest()


def test_an_unknown_table_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="unknown table colours; the tables are records, leadership"):
        Warehouse(str(tmp_path)).paths(Manifest(), "colours")
