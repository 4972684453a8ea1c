"""`kraftctl history`: what changed in the metadata, when, at which offset, before -> after."""

from __future__ import annotations

import json
import sys
import time

from records.plain_text import plain_text
from tools.command_line.progress import Progress
from tools.kraftctl.history.audit_files import json_of, line_of, read_requests
from tools.kraftctl.points.changes import committed_json, committed_line, time_text
from tools.kraftctl.points.filters import add_filter_options, make_filter
from tools.kraftctl.points.places import add_place_options, place_of, read, size_of
from tools.kraftctl.points.points import POINT_HELP, Reading, parse_point
from tools.kraftctl.running import running
from tools.kraftctl.terminal import parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tools.kraftctl.history.audit_files import Requests
    from tools.kraftctl.points.changes import Committed


def run(arguments: list[str]) -> int:
    """Exit code 0: shown, also if nothing changed. 1: the log could not be read, or does not reach back to --since."""
    options = arguments_parser().parse_args(arguments)
    return running("history", lambda: _show(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl history",
        "Show each change of the metadata: offset, time, and its fields before -> after. A topic that was deleted and\n"
        "created anew has another id. The log reaches back to its oldest checkpoint; the first line says where that\n"
        "is. With --audit, the request that asked for a change is behind it. Secrets are hidden; that they changed is\n"
        "shown. Nothing is written.",
        "kraftctl history --topic orders --directory /var/lib/kafka/metadata",
        "kraftctl history --topic orders --directory /var/lib/kafka/metadata --audit /var/log/kafka/audit.log*",
        "kraftctl history --config topic:orders --broker 3 --since 1d --bootstrap-controller c1:9093 --json",
    )
    add_place_options(top, ("-c",))
    add_filter_options(top)
    top.add_argument("--since", metavar="OFFSET|TIME", default="0", help=POINT_HELP + "; default: the beginning")
    top.add_argument("--until", metavar="OFFSET|TIME", default="end", help="the same; default: the end")
    top.add_argument(
        "--audit", action="extend", nargs="+", metavar="FILE", default=[],
        help="audit logs of all controllers (kraft.audit.log), rotated ones too, also .gz: show who asked for a change",
    )  # fmt: skip
    top.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _show(options: argparse.Namespace) -> int:
    now_ms = int(time.time() * 1000)
    place = place_of(options)
    assert place is not None, "one is required"
    since, until = parse_point(options.since, now_ms), parse_point(options.until, now_ms)
    with Progress("reading", size_of(place)) as note:
        reading = Reading(until, since, make_filter(options), note)
        image = read(place, reading, "kraftctl-history")
    asked = requests_of(options.audit, image.changes)
    begin = reading.end_offset if reading.noted_from < 0 else reading.noted_from
    if options.json:
        print(json.dumps({
            "begin_offset": begin, "end_offset": reading.end_offset,
            "changes": [_json(each, asked) for each in image.changes],
            "problems": image.problems if asked is None else [*image.problems, *asked.problems()],
        }))  # fmt: skip
        return 0
    for problem in (*image.problems, *(() if asked is None else asked.problems())):
        print(f"warning: {plain_text(problem)}", file=sys.stderr)
    end = f"offset {reading.end_offset} (exclusive), {time_text(image.last_time_ms)}"
    known = "" if asked is None else f", of which {sum(1 for each in image.changes if asked.of(each))} have a request"
    print(f"from offset {begin} to {end}: {len(image.changes)} changes{known}", file=sys.stderr)
    for each in image.changes:
        request = None if asked is None else asked.of(each)
        say(committed_line(each) if request is None else f"{committed_line(each)}  {line_of(request)}")
    return 0


def requests_of(paths: list[str], changes: list[Committed]) -> Requests | None:
    """The requests of the changes; None without audit logs. Raises OSError."""
    if not paths:
        return None
    return read_requests(paths, ((each.epoch, each.offset) for each in changes))


def _json(change: Committed, asked: Requests | None) -> dict[str, Any]:
    said = committed_json(change)
    return said if asked is None else {**said, "request": json_of(asked.of(change))}
