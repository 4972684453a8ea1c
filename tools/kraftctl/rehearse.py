"""`kraftctl rehearse`: the loss of nodes, sites and links, played on a layout of voters in simulated time.

The simulator is in `simulations.rehearsal`, which an installation may lack; it is imported when the verb runs.
"""

from __future__ import annotations

import os
import shlex
import sys
from importlib import import_module

from records.extras import install_command
from records.plain_text import plain_text
from tools.command_line.progress import Progress
from tools.kraftctl.terminal import parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

# What the extra `simulations` adds.
EXTRA = {"greenlet", "msgpack"}
SEEDS_MAX = 10_000
CLIENT_ID = "kraftctl-rehearse"
_DEFAULTS = {
    "round_trip_ms": ("MS", "round trip between two voters of a site (0.5)"),
    "between_round_trip_ms": ("MS", "round trip between two sites (5)"),
    "disk_sync_ms": ("MS", "time of one fsync (1)"),
    "start_ms": ("MS", "from the start of a process until it listens, without metadata (1000)"),
    "records_per_s": ("N", "metadata records that a start replays each second (200000)"),
    "slow_sync_ms": ("MS", "time of one fsync in the scenario slow-disk (500)"),
    "slow_link_ms": ("MS", "added to each round trip of the leader in the scenario slow-link (500)"),
}


def run(arguments: list[str]) -> int:
    """Exit code 0: rehearsed. 1: it could not be. 2: a run lost a write that it must keep, a process stopped by itself,
    or the runs and the arithmetic of majorities differ.
    """
    options = arguments_parser().parse_args(arguments)
    try:
        entry = import_module(f"{__package__.removesuffix('tools.kraftctl')}simulations.rehearsal.entry")
    except ModuleNotFoundError as error:
        name = error.name or ""
        if name not in EXTRA and "simulations" not in name.split("."):
            raise
        if name in EXTRA:
            what = f"{name} is not installed; {install_command('simulations')}"
        else:
            what = "the simulator is not installed; it is a part of the wheel of kraft-quorum"
        print(f"kraftctl rehearse: {what}", file=sys.stderr)
        return 1
    from records.java.config_error import ConfigError
    from tools.client.quorum import NoLeader

    try:
        return _rehearse(entry, options, arguments)
    except KeyboardInterrupt:
        return 130
    except NoLeader as error:
        print(f"kraftctl rehearse: no leader, so the voters are unknown: {plain_text(error)}", file=sys.stderr)
    except (ConfigError, OSError, entry.BadLayout, entry.BadMetadata) as error:
        print(f"kraftctl rehearse: {plain_text(error)}", file=sys.stderr)
    return 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl rehearse",
        "Play the loss of each node, pair of nodes, site and link on a layout of voters, and a leader's stop, a\n"
        "rolling restart, a slow disk and a slow link; in simulated time, with the code that a node runs. Nothing is\n"
        "sent to a quorum but the question who its voters are, and nothing is written but --html and --trace. 12 runs\n"
        "of each scenario take about half a minute on 2 cores with 3 voters. The same arguments give the same output.\n"
        "Exit code 0: done, whatever the layout survives; 1: not done; 2: a run shows what a sound quorum never does.",
        "kraftctl rehearse --voters 1@a,2@a,3@b --html rehearsal.html",
        "kraftctl rehearse -c /etc/kafka/controller.properties --layout sites.toml --directory /var/lib/kafka/metadata",
        "kraftctl rehearse --voters 1@a,2@a,3@b --seed 7 --scenario site-a --trace -",
    )
    top.add_argument("--voters", metavar="ID@SITE,…", help="the voters and their sites, such as 1@a,2@a,3@b")
    top.add_argument("--layout", metavar="FILE", help="the layout as TOML: sites, links, latencies, timeouts")
    where = top.add_mutually_exclusive_group()
    where.add_argument(
        "-c", "--config", metavar="FILE", help="a controller.properties: its voters and controller.quorum.… timeouts"
    )
    where.add_argument("--bootstrap-controller", metavar="HOST:PORT,…", help="a live quorum: its voters")
    top.add_argument("--command-config", metavar="FILE", help="properties of the client, as for Kafka's tools")
    top.add_argument(
        "--directory", metavar="DIR|FILE",
        help="the nodes begin with this metadata: a log directory, also of a running node, or a checkpoint; only read",
    )  # fmt: skip
    for key, (metavar, text) in _DEFAULTS.items():
        top.add_argument(f"--{key.replace('_', '-')}", dest=key, metavar=metavar, help=text)
    top.add_argument(
        "--scenario", action="append", default=[], metavar="NAME", help="play only this one; may be repeated"
    )
    seeds = top.add_mutually_exclusive_group()
    seeds.add_argument("--seeds", type=_seeds, metavar="N", help="runs of each scenario (12; fewer for more than 20)")
    seeds.add_argument("--seed", type=_seed, metavar="N", help="play only this seed")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    top.add_argument("--jobs", type=_seeds, default=cores, metavar="N", help="number of processes (one each core)")
    top.add_argument("--json", action="store_true", help="one JSON object, with the figures of each run")
    top.add_argument("--html", metavar="FILE", help="write a page with pictures too")
    top.add_argument("--trace", metavar="FILE", help="write all events of one run too, a line each; - for stdout")
    return top


def _seeds(text: str) -> int:
    return _number(text, 1, SEEDS_MAX)


def _seed(text: str) -> int:
    return _number(text, 0, (1 << 63) - 1)


def _number(text: str, least: int, largest: int) -> int:
    import argparse

    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= largest):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} to {largest}")
    return int(text)


def _rehearse(entry: Any, options: argparse.Namespace, arguments: list[str]) -> int:
    voters, kraft_version, properties = _read_known(options)
    text = None
    if options.layout is not None:
        with open(options.layout, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib costs 10 ms
            text = file.read()
    numbers = {key: getattr(options, key) for key in _DEFAULTS if getattr(options, key) is not None}
    layout = entry.layout_of(options.voters, text, str(options.layout), voters, kraft_version, properties, numbers)
    count = options.seeds or entry.usual_seeds(layout, options.scenario)
    seeds = range(1, count + 1) if options.seed is None else range(options.seed, options.seed + 1)
    with Progress("rehearse", 1) as progress:
        exit_code: int = entry.rehearse(
            layout, options.directory, options.scenario, seeds, options.jobs,
            again=shlex.join(["kraftctl", "rehearse", *arguments]), json_form=options.json, html=options.html,
            trace=options.trace, note=progress.show,
        )  # fmt: skip
    return exit_code


def _read_known(options: argparse.Namespace) -> tuple[set[int], int | None, dict[str, str]]:
    """The voters, kraft.version and timeouts of a configuration or a live quorum: none, None and none without them.

    Raises ConfigError, NoLeader, OSError.
    """
    if options.config is not None:
        from tools.config_file import read_config, read_properties

        config = read_config(options.config)
        known = ("controller.quorum.", "metadata.max.idle.", "broker.session.timeout.")
        given = {
            key: value
            for key, value in read_properties(options.config).items()
            if key.startswith(known) and key.endswith(".ms")
        }
        return set(config.voters), 0 if config.voters else None, given
    if options.bootstrap_controller is not None:
        return _live(options)
    return set(), None, {}


def _live(options: argparse.Namespace) -> tuple[set[int], int, dict[str, str]]:
    """The same of a live quorum, which does not tell its timeouts."""
    from records.messages.versions import ApiVersionsRequest
    from tools.client.connection import Connection
    from tools.client.quorum import ASK_S, look_in_parallel
    from tools.client.quorum_options import addresses_of, security_of

    security = security_of(options)
    view = look_in_parallel(addresses_of(options), CLIENT_ID, ASK_S, security)
    with Connection(*view.address, CLIENT_ID, seconds=ASK_S, security=security) as connection:
        request = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
        answer, _ = connection.exchange(request, 3)
    levels = {feature.name: feature.max_version_level for feature in answer.finalized_features}
    return set(view.voters), min(levels.get("kraft.version", 0), 1), {}
