"""Compaction of files: each run adds some, and a job that runs twice a minute adds thousands a day.

When a table has many small parts, they are rewritten as one. A part that has become large is not rewritten, so each row
is rewritten a few times at most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipeline.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pipeline.tables.warehouse import Manifest, Warehouse

PARTS_MAX = 48
LARGE_BYTES = 64 << 20


def compact(session: Any, warehouse: Warehouse, manifest: Manifest, directory: Path) -> Manifest:
    """The manifest in which the small parts of each table with too many are one, in the run's directory."""
    parts = dict(manifest.parts)
    for name in BY_NAME:
        if small := _small(warehouse, parts.get(name, ())):
            target = directory / f"compact-{name}"
            _rewrite(session, warehouse, name, small, target)
            parts[name] = [*(path for path in parts[name] if path not in small), warehouse.relative(target)]
    records = manifest.records
    if small := _small(warehouse, [part["path"] for part in records]):
        target = directory / "compact-records"
        _rewrite(session, warehouse, "records", small, target)
        merged = {"path": warehouse.relative(target), "clusters": _bounds(records, small)}
        records = [*(part for part in records if part["path"] not in small), merged]
    return replace(manifest, parts=parts, records=records)


def _small(warehouse: Warehouse, paths: Iterable[str]) -> list[str]:
    """Parts that should be merged; none if there are few."""
    small = [path for path in paths if _size(warehouse.directory / path) < LARGE_BYTES]
    return small if len(small) > PARTS_MAX else []


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.glob("*.parquet"))


def _rewrite(session: Any, warehouse: Warehouse, name: str, paths: list[str], target: Path) -> None:
    frame = session.read.schema(BY_NAME[name].ddl).parquet(*map(warehouse.absolute, paths))
    frame.coalesce(1).write.mode("overwrite").parquet(str(target))


def _bounds(records: list[dict[str, Any]], paths: list[str]) -> dict[str, list[int]]:
    """The lowest and the highest offset in these parts, by cluster."""
    bounds: dict[str, list[int]] = {}
    for part in records:
        if part["path"] in paths:
            for cluster, (low, high) in part["clusters"].items():
                known = bounds.setdefault(cluster, [low, high])
                bounds[cluster] = [min(known[0], low), max(known[1], high)]
    return bounds
