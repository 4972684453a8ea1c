"""Options that several commands share, and progress output."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.session import NoSpark
from pipeline.source.options import OptionError
from pipeline.tables.warehouse import WarehouseError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

WAREHOUSE = "warehouse"
_LINE = 100
# Exceptions of a task whose text is one line for the user.
REASONS = ("NoLeader", "Refused", "NotAnswered", "OptionError")


def add_source(parser: ArgumentParser) -> None:
    """Add the options of the source."""
    parser.add_argument(
        "source", nargs="*", metavar="PATH",
        help="a node's directory, a folder of the nodes of one cluster, a copy of either, or a glob of these",
    )  # fmt: skip
    parser.add_argument("--quorum", metavar="HOST:PORT,…", help="read a live quorum instead, as an observer")
    parser.add_argument(
        "--command-config", metavar="FILE",
        help="with --quorum: properties of the client, as for Kafka's tools: security.protocol, ssl.…, sasl.…",
    )  # fmt: skip
    parser.add_argument(
        "--watch", metavar="HOST:PORT,…", help="read a live quorum through its watch services (docs/watch.md)"
    )
    parser.add_argument(
        "--watch-tls", metavar="CA[,CHAIN,KEY]", help="PEM files: the CA of the services; our certificate chain and key"
    )
    parser.add_argument("--cluster-id", metavar="ID", help="read only this cluster")


def add_spark(parser: ArgumentParser) -> None:
    """Add the options of the warehouse and of Spark."""
    parser.add_argument(
        "--warehouse", default=WAREHOUSE, metavar="DIR", help=f"the directory of the tables (default ./{WAREHOUSE})"
    )
    parser.add_argument("--master", default="local[*]", help="the Spark master (default local[*])")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a Spark setting (repeatable)")


def wants_source(arguments: Namespace) -> bool:
    """Whether a source was named."""
    return bool(arguments.source or arguments.quorum or arguments.watch or arguments.command_config)


def source_options(arguments: Namespace) -> dict[str, str]:
    """The options of the source; raises OptionError if they name none, or conflict."""
    from pipeline.source.logs import logs_of

    options: dict[str, str] = {}
    if arguments.source:
        options["path"] = ",".join(arguments.source)
    if arguments.quorum:
        options["quorum"] = arguments.quorum
    if arguments.command_config:
        options["commandConfig"] = str(Path(arguments.command_config).absolute())
    if arguments.watch:
        options["watch"] = arguments.watch
        names = ("watchCa", "watchChain", "watchKey")
        options |= dict(zip(names, (arguments.watch_tls or "").split(","), strict=False)) if arguments.watch_tls else {}
    if arguments.cluster_id:
        options["cluster"] = arguments.cluster_id
    logs_of(options)
    return options


def report_skipped(options: dict[str, str]) -> None:
    """Print a line for each path that is not a log of the given clusters."""
    from pipeline.source.directories import find
    from pipeline.source.logs import Directories, logs_of

    logs = logs_of(options)
    if isinstance(logs, Directories):
        for skipped in find(logs.patterns, logs.cluster_id)[1]:
            say(f"skipped: {skipped.reason}")


def session_for(arguments: Namespace, *, is_short: bool = False) -> Any:
    """A session with these options; is_short: as for `spark_session`. Raises NoSpark."""
    from pipeline.session import spark_session

    settings = dict(pair.partition("=")[::2] for pair in arguments.conf)
    with progress(None, f"starting Spark on {arguments.master}"):
        return spark_session(master=arguments.master, settings=settings, is_short=is_short)


def say(line: str) -> None:
    """Print a line of progress: on stderr, since stdout has the output."""
    print(f"kraft-pipeline: {line}", file=sys.stderr, flush=True)


def exit_code(work: Callable[[], None]) -> int:
    """Run the work: 0 if it succeeds, 1 and one line if it fails."""
    try:
        work()
    except (OptionError, NoSpark, WarehouseError, OSError) as error:
        say(str(error))
        return 1
    except Exception as error:  # Spark raises errors of many classes; the user gets one line
        say(failure(error))
        return 1
    return 0


def failure(error: BaseException) -> str:
    """One line for an error: for errors of Spark, the cause."""
    text = str(error).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasons = [line for line in lines if any(f".{name}: " in line for name in REASONS)]
    if reasons:
        return reasons[-1].split(": ", 1)[-1]
    return lines[0] if lines else type(error).__name__


@contextmanager
def progress(session: Any, what: str) -> Iterator[None]:
    """Show Spark's progress on a terminal, and at the end how long it took."""
    begin = time.monotonic()
    done = threading.Event()
    if sys.stderr.isatty():
        threading.Thread(target=_show, args=(session, what, done, begin), daemon=True).start()
    try:
        yield
    finally:
        done.set()
        if sys.stderr.isatty():
            print(f"\r{' ' * _LINE}\r", end="", file=sys.stderr)
    say(f"{what}: {time.monotonic() - begin:.1f} s")


def _show(session: Any, what: str, done: threading.Event, begin: float) -> None:
    while not done.wait(0.5):
        tasks = ""
        if session is not None:
            tracker = session.sparkContext.statusTracker()
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            parts = [f"{stage.numCompletedTasks}/{stage.numTasks}" for stage in stages if stage is not None]
            tasks = f", tasks {' '.join(parts)}" if parts else ""
        line = f"{what}: {time.monotonic() - begin:.0f} s{tasks}"
        print(f"\r{line[:_LINE]:<{_LINE}}", end="", file=sys.stderr, flush=True)
