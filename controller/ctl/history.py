"""`kraftctl history`: what changed in the metadata, when, at which offset, before -> after."""

from __future__ import annotations

import json
import sys
import time

from controller.ctl.changes import committed_json, committed_line, time_text
from controller.ctl.filters import add_filter_options, wanted_of
from controller.ctl.places import add_place_options, place_of, read, size_of
from controller.ctl.points import POINT_HELP, Reading, parse_point
from controller.ctl.running import running
from controller.ctl.terminal import Progress, parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


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
        "is. Secrets are hidden; that they changed is shown. Nothing is written.",
        "kraftctl history --topic orders --directory /var/lib/kafka/metadata",
        "kraftctl history --config topic:orders --broker 3 --since 1d --bootstrap-controller c1:9093 --json",
    )
    add_place_options(top, ("-c",))
    add_filter_options(top)
    top.add_argument("--since", metavar="OFFSET|TIME", default="0", help=POINT_HELP + "; default: the beginning")
    top.add_argument("--until", metavar="OFFSET|TIME", default="end", help="the same; default: the end")
    top.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _show(options: argparse.Namespace) -> int:
    now_ms = int(time.time() * 1000)
    place = place_of(options)
    assert place is not None, "one is required"
    since, until = parse_point(options.since, now_ms), parse_point(options.until, now_ms)
    with Progress("reading", size_of(place)) as note:
        reading = Reading(until, since, wanted_of(options), note)
        image = read(place, reading, "kraftctl-history")
    begin = reading.end_offset if reading.noted_from < 0 else reading.noted_from
    if options.json:
        print(json.dumps({
            "begin_offset": begin, "end_offset": reading.end_offset,
            "changes": [committed_json(each) for each in image.changes], "problems": image.problems,
        }))  # fmt: skip
        return 0
    for problem in image.problems:
        print(f"warning: {problem}", file=sys.stderr)
    end = f"offset {reading.end_offset} (exclusive), {time_text(image.last_time_ms)}"
    print(f"from offset {begin} to {end}: {len(image.changes)} changes", file=sys.stderr)
    for each in image.changes:
        print(committed_line(each))
    return 0
