"""`kraft-pipeline report`: a page on the fleet whose tables are in the warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.commands.options import (
    add_source,
    add_spark,
    exit_code,
    progress,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pipeline.tables.warehouse import Manifest, Warehouse


def add_arguments(parser: ArgumentParser) -> None:
    """The options of this command."""
    add_source(parser)
    add_spark(parser)
    parser.add_argument("--out", default="report.html", metavar="FILE", help="the page (default report.html)")


def run(arguments: Namespace) -> int:
    """Update the tables if a source is named, and write the page. Exit code 1, with one line, if that fails."""
    return exit_code(lambda: _report(arguments))


def _report(arguments: Namespace) -> None:
    from pipeline.commands.tables import advance_warehouse
    from pipeline.report.page import page

    text = page(_figures(*advance_warehouse(arguments)))
    Path(arguments.out).write_text(text, encoding="utf-8")
    print(arguments.out)


def _figures(session: Any, warehouse: Warehouse, manifest: Manifest) -> Any:
    from pipeline.report.gather import PARTITIONS, gather
    from pipeline.tables.partitions import STATE, STATE_COLUMNS
    from pipeline.tables.running import frame_of

    def table(name: str) -> Any:
        if name == PARTITIONS:
            ddl = ", ".join(f"`{column.name}` {column.type}" for column in STATE_COLUMNS)
            paths = [warehouse.absolute(path) for path in manifest.parts.get(STATE, ())]
            return session.read.schema(ddl).parquet(*paths) if paths else session.createDataFrame([], ddl)
        return frame_of(session, warehouse, manifest, name)

    with progress(session, "asking the tables"):
        return gather(session, table)
