"""The storage of the tables: directories of Parquet files, and a manifest that lists the valid ones.

A run writes into a directory of its own; its files count once its manifest exists, which is created atomically. So a
run that dies leaves only files that a later run deletes, and a reader sees each run completely or not at all. Of two
processes that write at once, neither touches the files of the other before one of them has committed.

    DIR/manifests/000007.json     the newest counts
    DIR/runs/000007-1f0c36d2/…    the files of run 7, of the process with this mark
    DIR/scratch-5d02…/            files between the tasks of a job, removed after it
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pipeline.schemas import BY_NAME, INTERVALS

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT_VERSION = 1
# After this time a scratch directory is of a process that died.
SCRATCH_SECONDS = 86_400
OPEN = "open_"


class WarehouseError(Exception):
    """A warehouse that cannot be used. The text is one line that says why."""


@dataclass(slots=True)
class Manifest:
    """The valid files after a run.

    parts: by table, the directories of its files; of a table of intervals those that have ended, and under `open_` and
    its name the open ones. records: each with, by cluster, the lowest and highest offset in it. ingested: by cluster
    the offset after the last record, and its epoch. folded: by cluster the offset up to which the tables are derived.
    memory: the file of the state for the next run. batches: by stream, the last micro-batch that counts.
    """

    run: int = 0
    parts: dict[str, list[str]] = field(default_factory=dict)
    records: list[dict[str, Any]] = field(default_factory=list)
    ingested: dict[str, dict[str, int]] = field(default_factory=dict)
    folded: dict[str, int] = field(default_factory=dict)
    memory: str | None = None
    batches: dict[str, int] = field(default_factory=dict)
    version: int = FORMAT_VERSION


class Warehouse:
    """The tables in one directory. One process writes it; others may read at the same time."""

    def __init__(self, directory: str) -> None:
        self.directory = Path(directory).absolute()
        self._mark = uuid4().hex[:8]

    def manifest(self) -> Manifest:
        """The newest manifest; an empty one if there is no warehouse yet. Raises WarehouseError."""
        number = max(self._numbers(), default=0)
        if not number:
            return Manifest()
        path = self._manifest(number)
        try:
            tree = dict(json.loads(path.read_text()))
            if tree.get("version") != FORMAT_VERSION:
                raise WarehouseError(f"{path} has version {tree.get('version')}; only {FORMAT_VERSION} is supported")
            return Manifest(**tree)
        except (OSError, ValueError, TypeError) as error:
            raise WarehouseError(f"{path} cannot be read: {error}") from None

    def next(self, manifest: Manifest) -> Path:
        """The directory for the next run, of this object alone. A failed attempt's files are overwritten."""
        directory = self.directory / "runs" / f"{manifest.run + 1:06d}-{self._mark}"
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def commit(self, manifest: Manifest) -> Manifest:
        """Make the next run count. Raises WarehouseError if another process was first."""
        done = Manifest(**{**asdict(manifest), "run": manifest.run + 1})
        path = self._manifest(done.run)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        with part.open("w") as file:
            file.write(json.dumps(asdict(done), indent=1, sort_keys=True))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(part, path)  # unlike a rename, this fails where there is one
        except FileExistsError:
            raise WarehouseError(f"{path} exists already: another process writes to {self.directory}") from None
        finally:
            part.unlink()
        return done

    def paths(self, manifest: Manifest, table: str) -> list[str]:
        """The directories of a table's files; raises WarehouseError for an unknown table."""
        if table not in BY_NAME:
            raise WarehouseError(f"unknown table {table}; the tables are {', '.join(BY_NAME)}")
        if table == "records":
            return [self.absolute(part["path"]) for part in manifest.records]
        names = [table, OPEN + table] if any(table == one.name for one in INTERVALS) else [table]
        return [self.absolute(path) for name in names for path in manifest.parts.get(name, ())]

    def absolute(self, path: str) -> str:
        return str(self.directory / path)

    def relative(self, path: Path) -> str:
        return str(path.relative_to(self.directory))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A directory for files between the tasks of a job; it is removed at the end."""
        directory = self.directory / f"scratch-{uuid4().hex}"
        directory.mkdir(parents=True)
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def sweep(self, manifest: Manifest) -> None:
        """Delete files that no longer count, except those of the manifest before, which readers may still use."""
        for left in self.directory.glob("scratch*"):  # former versions had one of this name alone
            with suppress(FileNotFoundError):
                if time() - left.stat().st_mtime > SCRATCH_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
        keep = {manifest.run, manifest.run - 1}
        named = {manifest.memory or ""}
        for number in self._numbers():
            if number in keep:
                tree = json.loads(self._manifest(number).read_text())
                named |= {path for paths in tree["parts"].values() for path in paths}
                named |= {part["path"] for part in tree["records"]} | {tree["memory"] or ""}
            elif number < manifest.run:
                self._manifest(number).unlink(missing_ok=True)
        for run in sorted((self.directory / "runs").iterdir()):
            if int(run.name.partition("-")[0]) > manifest.run:  # former versions had the number alone
                continue
            self._sweep(run, named)

    def _sweep(self, directory: Path, named: set[str]) -> None:
        """Delete files and directories that are not named, and contain nothing named."""
        for path in directory.iterdir():
            own = self.relative(path)
            if own in named:
                continue
            if any(other.startswith(own + "/") for other in named):
                self._sweep(path, named)
            elif path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if not any(directory.iterdir()):
            directory.rmdir()

    def _numbers(self) -> list[int]:
        try:
            names = [entry.name for entry in os.scandir(self.directory / "manifests")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise WarehouseError(f"{self.directory}: {error.strerror}") from None
        return [int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit()]

    def _manifest(self, number: int) -> Path:
        return self.directory / "manifests" / f"{number:06d}.json"
