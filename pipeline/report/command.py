"""`kraft-pipeline report`: a page on the fleet whose tables are in the warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.commands.options import (
    add_source,
    add_spark,
    failure,
    progress,
    say,
    session_for,
    source_options,
    wants_source,
)
from pipeline.session import NoSpark
from pipeline.source.logs import OptionError
from pipeline.tables.warehouse import Warehouse, WarehouseError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pipeline.tables.warehouse import Manifest


def add_arguments(parser: ArgumentParser) -> None:
    """The options of this command."""
    add_source(parser)
    add_spark(parser)
    parser.add_argument("--out", default="report.html", metavar="FILE", help="the page (default report.html)")


def run(arguments: Namespace) -> int:
    """Bring the tables up to date where a source is named, and write the page. Exit code 1, with one line, if not."""
    from pipeline.commands.tables import advance
    from pipeline.report.page import page

    warehouse = Warehouse(arguments.warehouse)
    try:
        options = source_options(arguments) if wants_source(arguments) else None
        manifest = warehouse.manifest()
        if options is None and not manifest.run:
            raise OptionError(f"{warehouse.directory} is no warehouse yet: name a log to read, or a quorum")
        session = session_for(arguments)
        manifest = advance(session, warehouse, manifest, options)
        text = page(_figures(session, warehouse, manifest))
        Path(arguments.out).write_text(text, encoding="utf-8")
    except (OptionError, NoSpark, WarehouseError, OSError) as error:
        say(str(error))
        return 1
    except Exception as error:
        say(failure(error))
        return 1
    print(arguments.out)
    return 0


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
