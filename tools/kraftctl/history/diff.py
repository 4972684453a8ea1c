"""`kraftctl diff A B`: what is different between two states of the metadata, before -> after."""

from __future__ import annotations

import json
import os
import sys
import time

from records.plain_text import plain_text
from tools.command_line.progress import Progress
from tools.kraftctl.plain_streams import GREEN, RED, YELLOW
from tools.kraftctl.points.changes import compare, json_of, line_of, time_text
from tools.kraftctl.points.filters import add_filter_options, make_filter
from tools.kraftctl.points.places import Place, add_place_options, place_of, read, size_of
from tools.kraftctl.points.points import END, POINT_HELP, NoPoint, Point, Reading, parse_point
from tools.kraftctl.running import running
from tools.kraftctl.terminal import colour_text, parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from raft.network.security import ClientSecurity
    from tools.kraftctl.points.noting_image import NotingImage

COLOURS = {"created": GREEN, "deleted": RED, "changed": YELLOW}


def run(arguments: list[str]) -> int:
    """Exit code 0: compared. 1: a state could not be read. 2: with --exit-code, there is a difference."""
    options = arguments_parser().parse_args(arguments)
    return running("diff", lambda: _show(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl diff",
        "Show what is different in B, before -> after. A and B are each a point of what the options name, or a\n"
        "directory, a file, or HOST:PORT,… of a live quorum, each with @POINT for an earlier point of it. Without B:\n"
        "the end. Secrets are hidden; whether they differ is shown. Nothing is written.",
        "kraftctl diff 2026-11-21T22:00:00Z 2026-11-22T06:00:00Z --directory /var/lib/kafka/metadata",
        "kraftctl diff /backup/today@4711 c1:9093,c2:9093 --topic orders --json",
    )
    top.add_argument("one", metavar="A", help=POINT_HELP + ", DIR, FILE, HOST:PORT,…")
    top.add_argument("other", metavar="B", nargs="?", default="end", help="the same; default: the end of A's source")
    add_place_options(top, ("-c",), is_required=False)
    add_filter_options(top)
    top.add_argument("--by-name", action="store_true", help="compare topics by name, not by id: for two clusters")
    top.add_argument("--exit-code", action="store_true", help="exit with 2 if there is a difference")
    top.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _show(options: argparse.Namespace) -> int:
    now_ms = int(time.time() * 1000)
    default = place_of(options)
    security = None if default is None else default.security
    if default is None and options.command_config is not None:
        from tools.client.client_config import read_client_config

        security = read_client_config(options.command_config).security
    place, point = _operand(options.one, default, security, now_ms)
    one = _read(place, point)
    other = _read(*_operand(options.other, default or place, security, now_ms))
    before, after = (image.value_tables(by_name=options.by_name) for image in (one, other))
    changes = compare(before, after, make_filter(options))
    if options.json:
        said = {"before": _json(one), "after": _json(other), "changes": [json_of(change) for change in changes]}
        print(json.dumps(said))
    else:
        for problem in (*one.problems, *other.problems):
            print(f"warning: {plain_text(problem)}", file=sys.stderr)
        for sign, image in (("---", one), ("+++", other)):
            print(f"{sign} offset {image.last_offset + 1}, epoch {image.last_epoch}, {time_text(image.last_time_ms)}")
        for change in changes:
            print(colour_text(line_of(change), COLOURS[change.what]))
        print(f"{len(changes)} differences")
    return 2 if changes and options.exit_code else 0


def _operand(text: str, default: Place | None, security: ClientSecurity | None, now_ms: int) -> tuple[Place, Point]:
    """What an operand names. Raises NoPoint."""
    place = _place(text, security)
    if place is not None:
        return place, END
    source, at, point = text.rpartition("@")
    if at:
        place = _place(source, security) or _addresses(source, security)
        if place is None:
            raise NoPoint(f"{text}: {source} is no directory, no file and no HOST:PORT,…")
        return place, parse_point(point, now_ms)
    try:
        bare_point = parse_point(text, now_ms)
    except NoPoint:
        place = _addresses(text, security)
        if place is None:
            raise NoPoint(f"{text}: neither a point, a directory, a file nor HOST:PORT,…; give {POINT_HELP}") from None
        return place, END
    if default is None:
        raise NoPoint(
            f"{text} is a point, but no source is named: give --directory, --file, --bootstrap-controller or -c"
        )
    return default, bare_point


def _place(text: str, security: ClientSecurity | None) -> Place | None:
    """A directory or file that is there."""
    if os.path.isdir(text):  # noqa: PTH112 - pathlib costs 10 ms
        return Place(directory=text, security=security)
    return Place(file=text, security=security) if os.path.isfile(text) else None  # noqa: PTH113


def _addresses(text: str, security: ClientSecurity | None) -> Place | None:
    from controller.config.values.listeners import host_and_port

    addresses = [host_and_port(part.strip()) for part in text.split(",")]
    if not all(addresses):
        return None
    return Place(addresses=tuple(each for each in addresses if each is not None), security=security)


def _read(place: Place, point: Point) -> NotingImage:
    with Progress(f"reading {place}", size_of(place)) as note:
        return read(place, Reading(point, note=note), "kraftctl-diff")


def _json(image: NotingImage) -> dict[str, Any]:
    return {"end_offset": image.last_offset + 1, "epoch": image.last_epoch, "time_ms": image.last_time_ms}
