"""`kraftctl bench`: latency and rate of a quorum, measured without a write, beside what one should expect."""

from __future__ import annotations

import contextlib
import json
import sys

from records.errors import ApiError
from records.java.config_error import ConfigError
from records.plain_text import plain_text
from records.wire import DecodeError
from tools.client.quorum import FAILURES, describe_cluster_request, look
from tools.client.quorum_options import add_quorum_options, addresses_of, security_of
from tools.command_line.progress import Progress
from tools.kraftctl.plain_streams import GREEN, YELLOW
from tools.kraftctl.terminal import colour_text, parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from tools.client.quorum import View
    from tools.kraftctl.bench.bench_figures import Figure, Measured
    from tools.kraftctl.bench.bench_measures import Target
    from tools.kraftctl.bench.bench_scratch import Scratch

TRIPS = 50
SECONDS_MAX, CONNECTIONS_MAX, ROUNDS_MAX = 50.0, 32, 200
# The parts of the time; what a scratch topic takes comes on top.
WATCHED, SINGLE, MANY, SCRATCHED = 0.5, 0.2, 0.3, 0.5


def run(arguments: list[str]) -> int:
    """Exit code 0: measured, and nothing is high; 1: not measured; 2: measured, and a figure is high."""
    from tools.kraftctl.bench.bench_measures import NotMeasured

    options = arguments_parser().parse_args(arguments)
    try:
        return _show(_measure(options), options)
    except KeyboardInterrupt:
        print("kraftctl bench: interrupted", file=sys.stderr)
        return 130
    except (NotMeasured, ConfigError, *FAILURES) as error:
        print(f"kraftctl bench: {plain_text(error)}", file=sys.stderr)
        return 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    made = parser(
        "kraftctl bench",
        "Measure latency and rate of a quorum, ours or stock's, beside what to expect, with the likely cause of what\n"
        "is high. Nothing is written to the metadata log: round trips to each controller, the quorum's own no-op\n"
        "commits as its leader describes them, and CreateTopics requests that are only validated, which stop when\n"
        "answers take longer than --limit. With --scratch-topic a topic of one partition with one replica is created\n"
        "and deleted, again and again. Exit code 0: nothing is high; 1: not measured; 2: a figure is high.",
        "kraftctl bench --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl bench -c /etc/kafka/controller.properties --scratch-topic bench-scratch --json",
    )
    add_quorum_options(made)
    made.add_argument(
        "--seconds", type=_number(1, SECONDS_MAX), default=20.0, metavar="S",
        help=f"how long to measure, 1 to {SECONDS_MAX:g}; a scratch topic takes half of it more (default: 20)",
    )  # fmt: skip
    made.add_argument(
        "--connections", type=_number(1, CONNECTIONS_MAX), default=4, metavar="N",
        help=f"how many connections send requests while the rate is measured, 1 to {CONNECTIONS_MAX} (default: 4)",
    )  # fmt: skip
    made.add_argument(
        "--limit", type=_number(1, 10_000), default=100.0, metavar="MS",
        help="stop when the median latency of 20 responses is above it (default: 100)",
    )  # fmt: skip
    made.add_argument("--scratch-topic", metavar="NAME", help="create and delete this topic, which must not exist")
    made.add_argument("--json", action="store_true", help="one JSON object")
    return made


def _number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        import argparse

        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low:g} to {high:g}")
        return value

    return parse


class _Clock:
    """Shows the time since the start of the measurement."""

    def __init__(self, progress: Progress) -> None:
        import time

        self._now = time.monotonic
        self._begin = self._now()
        self._progress = progress

    def __call__(self) -> None:
        self._progress(round((self._now() - self._begin) * 1000))


def _measure(options: argparse.Namespace) -> Measured:
    from tools.kraftctl.bench.bench_figures import IDLE_MS, LINGER_MS, Measured
    from tools.kraftctl.bench.bench_measures import (
        CLIENT_ID,
        Load,
        Target,
        configs,
        round_trips,
        validate_topics,
        watch_commits,
    )
    from tools.kraftctl.bench.bench_scratch import Scratch

    security = security_of(options)
    view = look(addresses_of(options), CLIENT_ID, security=security)
    leader = Target(view.address, security)
    nodes = {number: Target(address, security) for number, address in _addresses(leader, view).items()}
    scratch = None if options.scratch_topic is None else Scratch(leader, options.scratch_topic)
    if scratch is not None:
        scratch.check()
    total = options.seconds * (1.0 if scratch is None else 1.0 + SCRATCHED)
    with Progress("measuring", round(total * 1000)) as progress:
        tick = _Clock(progress)
        trips: dict[int, list[float] | str] = {}
        for number, target in nodes.items():
            try:
                trips[number] = round_trips(target, TRIPS)
            except (ApiError, DecodeError, OSError) as error:
                trips[number] = str(error) or type(error).__name__
        settings = configs(leader, view.leader_id, (IDLE_MS, LINGER_MS))
        commits = watch_commits(leader, view.leader_id, options.seconds * WATCHED, tick)
        name = options.scratch_topic or "kraftctl-bench-not-created"
        single = validate_topics(leader, name, 1, options.seconds * SINGLE, options.limit, tick)
        many = Load([], 0.0, single.stopped)
        connections = int(options.connections)
        if not single.stopped:
            many = validate_topics(leader, name, connections, options.seconds * MANY, options.limit, tick)
        made: tuple[list[float], list[float]] | None = None
        stopped = ""
        if scratch is not None and not many.stopped:
            with _deleting(scratch, [leader, *nodes.values()]):
                created, deleted, stopped = scratch.rounds(ROUNDS_MAX, options.seconds * SCRATCHED, options.limit, tick)
            made = (created, deleted)
    # The lag is that after the load.
    after = look([view.address], CLIENT_ID, security=security)
    if after.epoch != view.epoch:
        from tools.kraftctl.bench.bench_measures import NotMeasured

        raise NotMeasured(
            f"the leader epoch changed from {view.epoch} to {after.epoch} during the measurement; measure again"
        )
    early = tuple(text for text in (many.stopped, stopped) if text)
    return Measured(after, trips, commits, single, many, connections, settings, made, early)


def _addresses(leader: Target, view: View) -> dict[int, tuple[str, int]]:
    """The addresses of the voters, by id, as the leader has them; its own is the one at which it was found."""
    addresses = {view.leader_id: view.address}
    with leader.connect() as connection, contextlib.suppress(ApiError):
        for node in connection.ask(describe_cluster_request()).brokers:
            if node.broker_id in view.voters:
                addresses.setdefault(node.broker_id, (node.host, node.port))
    return dict(sorted(addresses.items()))


@contextlib.contextmanager
def _deleting(scratch: Scratch, targets: list[Target]) -> Iterator[None]:
    """The block, after which the topic is deleted: also after Ctrl-C and SIGTERM, and no further Ctrl-C prevents it."""
    import signal

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signals = signal.SIGINT, signal.SIGTERM
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        try:
            scratch.delete(targets)
        finally:
            signal.signal(signal.SIGTERM, before)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def _show(measured: Measured, options: argparse.Namespace) -> int:
    from tools.kraftctl.bench.bench_figures import as_json, figures, is_high

    listed = figures(measured)
    if options.json:
        print(json.dumps(as_json(measured, listed)))
    else:
        view = measured.view
        say(f"cluster {view.cluster_id or '-'}: node {view.leader_id} leads epoch {view.epoch}")
        say(*_table(listed))
    return 2 if is_high(listed) else 0


def _table(listed: list[Figure]) -> list[str]:
    """A line for each figure, and one more for each that is high."""
    names = [f"{figure.name} ({figure.unit})" for figure in listed]
    values = ["  ".join(f"{key} {_text(value)}" for key, value in figure.values.items()) for figure in listed]
    wide, broad = max(map(len, names)), max(map(len, values))
    lines = [f"      {'':<{wide}}  {'measured':<{broad}}  expected (of p50)"]
    for figure, name, text in zip(listed, names, values, strict=True):
        level = colour_text("high", YELLOW) if figure.cause else colour_text("ok  ", GREEN)
        lines.append(f"{level}  {name:<{wide}}  {text:<{broad}}  {figure.expected}")
        if figure.cause:
            lines.append(f"      likely: {figure.cause}")
    return lines


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}"
