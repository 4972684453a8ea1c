"""`kraft-pipeline tables`: updates all tables, from the warehouse and from new records in the logs;
and prints images.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pipeline.commands.options import (
    add_source,
    add_spark,
    exit_code,
    progress,
    report_skipped,
    say,
    session_for,
    source_options,
    wants_source,
)
from pipeline.schemas import BY_NAME, TABLES
from pipeline.source.options import OptionError
from pipeline.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pipeline.tables.warehouse import Manifest

IMAGE = "image_at"


def add_arguments(parser: ArgumentParser) -> None:
    """The options of this command."""
    add_source(parser)
    add_spark(parser)
    parser.add_argument("--show", metavar="TABLE", choices=sorted(BY_NAME), help="print rows of a table, as JSON lines")
    parser.add_argument("--limit", type=int, default=20, help="how many rows --show prints (default 20)")
    parser.add_argument("--schema", action="store_true", help="print the tables and their columns, and exit")
    parser.add_argument(
        "--image-at", metavar="OFFSET|TIME",
        help="write the table image_at as of this offset or time (2026-11-21T10:00:00), to --out or for --show",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="where --image-at writes Parquet")


def run(arguments: Namespace) -> int:
    """Exit code 1, with one line, if something failed."""
    if arguments.schema:
        print(schema_text())
        return 0
    return exit_code(lambda: _report(*advance_warehouse(arguments), arguments))


def advance_warehouse(arguments: Namespace) -> tuple[Any, Warehouse, Manifest]:
    """A session, and the warehouse, updated if a source is named. Raises OptionError, WarehouseError."""
    warehouse = Warehouse(arguments.warehouse)
    options = source_options(arguments) if wants_source(arguments) else None
    manifest = warehouse.manifest()
    if options is None and not manifest.run:
        raise OptionError(f"{warehouse.directory} is not a warehouse yet: give a log directory, --quorum or --watch")
    if options is not None:
        report_skipped(options)
    session = session_for(arguments, is_short=True)
    return session, warehouse, advance(session, warehouse, manifest, options)


def advance(session: Any, warehouse: Warehouse, manifest: Manifest, options: dict[str, str] | None) -> Manifest:
    """Ingest new records, and derive the tables from them."""
    from pipeline.tables import running

    before = manifest
    if options is not None:
        with progress(session, "reading the logs"):
            new_manifest = running.ingest(session, warehouse, manifest, options, say=say)
        if new_manifest is not manifest:
            manifest = warehouse.commit(new_manifest)
    with progress(session, "deriving the tables"):
        new_manifest = running.derive(session, warehouse, manifest, say=say)
    if new_manifest is not manifest:
        manifest = warehouse.commit(new_manifest)
    if manifest is before:
        say("nothing is new")
        return manifest
    warehouse.sweep(manifest)
    return manifest


def _report(session: Any, warehouse: Warehouse, manifest: Manifest, arguments: Namespace) -> None:
    """Print the requested tables."""
    from pipeline.tables import running
    from pipeline.tables.images import image_frame

    if arguments.image_at is not None:
        with ExitStack() as stack:
            with progress(session, f"the image as of {arguments.image_at}"):
                image = stack.enter_context(image_frame(session, warehouse, manifest, arguments.image_at))
                if arguments.out:
                    image.write.mode("overwrite").parquet(arguments.out)
            if not arguments.out:
                _show(image, arguments.limit)
    elif arguments.show:
        _show(running.frame_of(session, warehouse, manifest, arguments.show), arguments.limit)
    else:
        for table in TABLES:
            if table.name != IMAGE:
                print(f"{table.name:<18} {running.frame_of(session, warehouse, manifest, table.name).count():>12,}")


def _show(frame: Any, limit: int) -> None:
    for line in frame.limit(limit).toJSON().collect():
        print(line)


def schema_text() -> str:
    """All tables with their columns, for people."""
    lines: list[str] = []
    for table in TABLES:
        lines += ["", f"{table.name}: {table.meaning}. One row for each {', '.join(table.key)}."]
        lines += [f"  {column.name:<17} {column.type:<13} {column.meaning}" for column in table.columns]
    return "\n".join(lines[1:])
