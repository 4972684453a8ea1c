"""`kraft-pipeline prepare`: keeps Spark's classes in an archive, with which the other commands start sooner."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.commands.options import exit_code, progress, say
from pipeline.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """There are none."""
    parser.description = (
        "Make an archive of the classes that Spark loads, in $XDG_CACHE_HOME or ~/.cache: some 170 MB. The other"
        " commands start in two thirds of the time with it. Again after an update of Spark or of Java."
    )


def run(_arguments: Namespace) -> int:
    """Exit code 1, with one line, if Spark cannot run or the JVM writes no archive."""
    return exit_code(_prepare)


def _prepare() -> None:
    from pipeline.class_archive import make
    from pipeline.session import java_home, spark_session, version_text

    def start(options: str) -> Any:
        return spark_session(master="local[2]", is_short=True, java_options=options)

    home = java_home()
    with progress(None, "loading Spark's classes and writing them"):
        path = make(home, version_text(home), start, _use)
    say(f"{path} is written")


def _use(session: Any) -> None:
    """What the commands do, on a small history."""
    from pipeline.histories import Size, write_history
    from pipeline.tables import running

    with tempfile.TemporaryDirectory(prefix="kraft-pipeline-") as name:
        cluster = Path(name, "cluster")
        write_history(cluster, Size(1000, 100, 3), 1)
        warehouse = Warehouse(str(Path(name, "warehouse")))
        options = {"path": str(cluster)}
        manifest = running.ingest(session, warehouse, warehouse.manifest(), options, say=_nothing)
        manifest = warehouse.commit(running.derive(session, warehouse, warehouse.commit(manifest), say=_nothing))
        for table in ("records", "leadership"):
            frame = running.frame_of(session, warehouse, manifest, table)
            assert frame.count()
            frame.limit(1).collect()


def _nothing(_line: str) -> None:
    """These runs tell nothing."""
