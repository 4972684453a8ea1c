"""`kraft-pipeline serve`: a streaming job that keeps the tables live (see pipeline/tables/streaming.py)."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from pipeline.commands.options import add_source, add_spark, exit_code, report_skipped, say, session_for, source_options
from pipeline.source.options import OptionError
from pipeline.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """The options of this command."""
    add_source(parser)
    add_spark(parser)
    parser.add_argument("--interval", default="30s", help="minimum time between two runs: 500ms, 30s, 5m (default 30s)")
    parser.add_argument("--once", action="store_true", help="ingest the records that exist now, and exit")
    parser.add_argument(
        "--range-bytes", type=int, metavar="N", help="bytes of logs that one task reads (default 32 MiB)"
    )
    parser.add_argument("--max-bytes", type=int, metavar="N", help="bytes of logs that one run reads at most")


def run(arguments: Namespace) -> int:
    """Exit code 0 after Ctrl-C, SIGTERM, or --once."""
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    return exit_code(lambda: _serve(arguments))


def _serve(arguments: Namespace) -> None:
    from pipeline.tables.streaming import start

    warehouse = Warehouse(arguments.warehouse)
    query = None
    try:
        options = source_options(arguments)
        if arguments.range_bytes:
            options["rangeBytes"] = str(arguments.range_bytes)
        if arguments.max_bytes:
            options["maxBytesPerTrigger"] = str(arguments.max_bytes)
        interval = interval_of(arguments.interval)
        warehouse.manifest()
        report_skipped(options)
        session = session_for(arguments)
        query = start(session, warehouse, options, None if arguments.once else interval, say=say)
        query.awaitTermination()
    except KeyboardInterrupt:
        if query is not None:
            query.stop()
        say("stopped")


def interval_of(text: str) -> str:
    """An interval as Spark takes it; raises OptionError."""
    match = re.fullmatch(r"(\d{1,6})(ms|s|m|h)", text)
    if match is None:
        raise OptionError(f"--interval is {text!r}; expected a number with ms, s, m or h")
    return f"{match[1]} { ({'ms': 'milliseconds', 's': 'seconds', 'm': 'minutes', 'h': 'hours'}[match[2]]) }"
