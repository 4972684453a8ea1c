"""`kraft-pipeline plan`: from a copy of the metadata log to the file that stock's reassignment tool executes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.planner.cluster import BadCluster
from pipeline.planner.image import image_of
from pipeline.planner.plan import plan
from pipeline.planner.reassignment_json import current, propose

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pipeline.planner.image import Image
    from pipeline.planner.plan import Plan

HELP = "plan the fewest moves that make racks and brokers even, as a file for kafka-reassign-partitions"


def add_arguments(parser: ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument(
        "source", nargs="?", metavar="PATH",
        help="a node's directory, a folder of the nodes of one cluster, or a copy of the metadata log",
    )  # fmt: skip
    parser.add_argument("--warehouse", metavar="DIR", help="plan from the tables instead, as of their last run")
    parser.add_argument(
        "--cluster-id", metavar="ID", help="the cluster of a directory without meta.properties, or of a warehouse"
    )
    parser.add_argument("--drain", type=_ids, default=(), metavar="ID,…", help="brokers that lose all their replicas")
    parser.add_argument("--topics", metavar="NAME,…", help="plan only for these topics")
    parser.add_argument("--disable-rack-aware", action="store_true", help="ignore racks")
    parser.add_argument(
        "--tolerance", type=_part, default=0.0, metavar="PART",
        help="allowed deviation of a broker from its share, as a fraction: 0.1 moves less, 0 is even (default)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choice among equal moves (default 0)")
    parser.add_argument("--out", metavar="FILE", help="where to write the plan (default: standard output)")
    parser.add_argument("--rollback", metavar="FILE", help="where to write their current assignment")
    parser.add_argument(
        "--partitions-per-file", type=_count, default=0, metavar="N",
        help="split the plan into FILE.1, FILE.2 … of N partitions each, to be executed one after the other",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Make a plan, write the files, and print a summary. Exit code 1 if no plan can be made."""
    if arguments.partitions_per_file and not arguments.out:
        _say("--partitions-per-file needs --out FILE: several files do not fit into one output")
        return 1
    try:
        image = _image(arguments)
        cluster = image.cluster
        if arguments.topics is not None:
            cluster = cluster.only(arguments.topics.split(","))
        proposal = plan(
            cluster, drain=arguments.drain, rack_aware=not arguments.disable_rack_aware,
            tolerance=arguments.tolerance, seed=arguments.seed,
            progress=lambda made, least: _progress(f"{made:,} of some {least:,} moves"),
        )  # fmt: skip
        _progress("")
        _write(proposal, arguments)
    except (BadCluster, OSError) as error:
        _progress("")
        _say(f"no plan: {error}")
        return 1
    for line in summary(image, proposal):
        _say(line)
    return 0


def _image(arguments: Namespace) -> Image:
    if (arguments.source is None) == (arguments.warehouse is None):
        raise BadCluster("give either a directory to plan from, or --warehouse")
    if arguments.source is not None:
        return image_of(arguments.source, arguments.cluster_id, _progress)
    from pipeline.planner.warehouse import image_of_tables

    return image_of_tables(arguments.warehouse, arguments.cluster_id)


def summary(image: Image, plan: Plan) -> list[str]:
    """The summary of a plan, as lines."""
    cluster = plan.cluster
    before = [plan.load_before[broker] for broker in plan.load_after]
    after = list(plan.load_after.values())
    lines = [
        (
            f"Cluster {image.cluster_id} as of offset {image.end_offset - 1} in {image.directory}: "
            f"{len(cluster):,} partitions, {len(cluster.brokers)} brokers."
        ),
        f"{plan.moves:,} replicas move, of {len(plan.rows):,} partitions; at least {plan.moves_min:,} must.",
        f"Replicas of a broker: {min(before):,} to {max(before):,} now, {min(after):,} to {max(after):,} then.",
        f"Partitions not spread over racks as they could be: {plan.uneven_before:,} now, {plan.uneven_after:,} then.",
    ]
    if image.reassigning:
        lines.append(
            f"{image.reassigning:,} partitions are being reassigned: they were counted where they are going. "
            "The plan must wait for them, or be executed with --additional."
        )
    return lines


def _write(proposal: Plan, arguments: Namespace) -> None:
    if arguments.rollback:
        Path(arguments.rollback).write_text(current(proposal) + "\n")
    for number, text in enumerate(propose(proposal, arguments.partitions_per_file), start=1):
        if not arguments.out:
            print(text)
        else:
            name = f"{arguments.out}.{number}" if arguments.partitions_per_file else arguments.out
            Path(name).write_text(text + "\n")


def _progress(line: str) -> None:
    """One line on a terminal that is written over; nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))


def _part(text: str) -> float:
    part = float(text)
    if not 0 <= part < 1:
        raise ValueError(text)
    return part


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count
