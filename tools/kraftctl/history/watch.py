"""`kraftctl watch`: prints changes of the metadata as they commit."""

from __future__ import annotations

import json
import sys
import time

from records.plain_text import plain_text
from tools.client.quorum import NoLeader, Refused
from tools.command_line.progress import Progress
from tools.kraftctl.history.audit_files import Following, json_of, line_of
from tools.kraftctl.points.changes import Committed, committed_json, committed_line, compare
from tools.kraftctl.points.filters import add_filter_options, make_filter
from tools.kraftctl.points.past_quorum import PastQuorum, first_image
from tools.kraftctl.points.points import END, START, NoPoint, Point, Reading
from tools.kraftctl.running import running
from tools.kraftctl.terminal import parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from tools.kraftctl.history.audit_files import Asked
    from tools.kraftctl.points.changes import Change
    from tools.kraftctl.points.noting_image import NotingImage

POLL_S = 0.1
WAIT_S = 10.0
# A change without a request is shown this long after it was written, so that its line in an audit log is there.
LINE_MS_MAX = 500
LINE_POLLS_MAX = 5  # the clock of the leader may be ahead


def run(arguments: list[str]) -> int:
    """Exit code 0: ended by Ctrl-C or a closed pipe. 1: no quorum was there at the start."""
    top = arguments_parser()
    options = top.parse_args(arguments)
    if options.begin is not None and options.begin < 0:
        top.error(f"--from {options.begin}: an offset is expected")
    return running("watch", lambda: _watch(options), interrupted=0)


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl watch",
        "Print each change of the metadata when it is committed, until Ctrl-C. It reads the leader's log as an\n"
        "observer without an id, or with --grpc the watch service of any controller, and goes on when the leader\n"
        "changes. Secrets are hidden. Nothing is written.",
        "kraftctl watch --topic orders --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl watch --type broker --from 4711 --json --grpc c1:9646,c2:9646",
    )
    where = top.add_mutually_exclusive_group(required=True)
    where.add_argument("--bootstrap-controller", metavar="HOST:PORT,…", help="one or more controllers")
    where.add_argument("-c", dest="config", metavar="FILE", help="a controller.properties that names the controllers")
    where.add_argument("--grpc", metavar="HOST:PORT,…", help="watch services: kraft.grpc.listener of the controllers")
    top.add_argument("--command-config", metavar="FILE", help="properties of the client, as for Kafka's tools")
    for name, what in (("ca", "the authority of the nodes"), ("cert", "this client"), ("key", "this client's key")):
        top.add_argument(f"--{name}", metavar="PEM", help=f"with --grpc and TLS: of {what}")
    top.add_argument("--token-file", metavar="FILE", help="with --grpc: its first line is a bearer token")
    add_filter_options(top)
    top.add_argument("--from", dest="begin", type=int, metavar="OFFSET", help="begin there (default: with the next)")
    top.add_argument(
        "--audit", action="extend", nargs="+", metavar="FILE", default=[],
        help="audit logs of this machine's controllers (kraft.audit.log): show who asked for a change",
    )  # fmt: skip
    top.add_argument("--json", action="store_true", help="print one JSON object a line")
    return top


def _watch(options: argparse.Namespace) -> int:
    if options.grpc is None:
        changes = _of_log(options)
    else:
        from tools.kraftctl.history.watch_service import changes_of_service

        changes = changes_of_service(options, make_filter(options))
    with Following(options.audit, from_begin=options.begin is not None) as following:
        for each in changes:
            asked = _request_of(each, following) if options.audit else None
            if options.json:
                known = {"request": json_of(asked)} if options.audit else {}
                print(json.dumps({**committed_json(each), **known}), flush=True)
            else:
                say(committed_line(each) + (f"  {line_of(asked)}" if asked else ""), flush=True)
    return 0


def _request_of(change: Committed, following: Following) -> Asked | None:
    """The request that made a change. Its line may be written some milliseconds after its commit."""
    for _ in range(LINE_POLLS_MAX):
        request = following.of(change)
        if request is not None or time.time() * 1000 > change.time_ms + LINE_MS_MAX:
            return request
        time.sleep(POLL_S)
    return following.of(change)


def _of_log(options: argparse.Namespace) -> Iterator[Committed]:
    """The changes of the leader's log, without end. Raises NoPoint if there is no leader at the start."""
    from tools.client.quorum_options import addresses_of, security_of

    addresses, security, wanted = addresses_of(options), security_of(options), make_filter(options)
    since = None if options.begin is None else Point(offset=options.begin)
    reading = Reading(END, since, wanted)
    with PastQuorum(addresses, "kraftctl-watch", reading, security, WAIT_S) as quorum:
        with Progress("reading the log", 0) as note:
            reading.note = note
            image = first_image(quorum)
        reading.note = lambda _bytes: None
        reading.check(quorum.leader)
        begin = quorum.position.end_offset if options.begin is None else options.begin
        say(f"cluster {quorum.cluster_id}, leader {quorum.leader}, from offset {begin}", file=sys.stderr, flush=True)
        reading.since = START
        while True:
            yield from image.changes
            image.changes.clear()
            time.sleep(POLL_S)
            newer = _update(quorum)
            if newer is not image:
                yield from between(image, newer, wanted)
                newer.changes.clear()
                image = newer


def _update(quorum: PastQuorum) -> NotingImage:
    """The image at the high watermark, as soon as a leader answers."""
    while True:
        try:
            return quorum.update()
        except Refused as error:
            raise NoPoint(str(error)) from None
        except NoLeader as error:
            print(f"kraftctl watch: {plain_text(error)}; it goes on trying", file=sys.stderr, flush=True)


def between(image: NotingImage, newer: NotingImage, wanted: Callable[[Change], bool]) -> Iterator[Committed]:
    """What a snapshot has that was loaded because the log no longer had the next offset."""
    at = (newer.last_offset, newer.last_time_ms, newer.last_epoch, "")
    return (Committed(*at, change) for change in compare(image.value_tables(), newer.value_tables(), wanted))
