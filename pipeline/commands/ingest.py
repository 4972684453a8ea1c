"""`kraft-pipeline ingest`: adds the records of the logs that are not in the warehouse yet to the table `records`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.options import (
    add_source,
    add_spark,
    exit_code,
    progress,
    report_skipped,
    say,
    session_for,
    source_options,
)
from pipeline.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """The options of this command."""
    add_source(parser)
    add_spark(parser)


def run(arguments: Namespace) -> int:
    """Exit code 1, with one line, if nothing could be read; 0 also if some of it could not."""
    return exit_code(lambda: _ingest(arguments))


def _ingest(arguments: Namespace) -> None:
    from pipeline.tables import running

    warehouse = Warehouse(arguments.warehouse)
    options = source_options(arguments)
    before = warehouse.manifest()
    report_skipped(options)
    session = session_for(arguments, is_short=True)
    with progress(session, "reading the logs"):
        after = running.ingest(session, warehouse, before, options, say=say)
    if after is not before:
        warehouse.sweep(warehouse.commit(after))
    else:
        say("nothing is new")
