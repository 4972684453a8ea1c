"""`kraft-pipeline history`: writes directories with generated histories, to try the tables and to measure them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.options import say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

# Shares of the clusters in records and partitions, largest first.
_SHARES = (0.5, 0.3, 0.2)


def add_arguments(parser: ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("out", metavar="DIR", help="where to write them: DIR/cluster-1, DIR/cluster-2 …")
    parser.add_argument("--clusters", type=int, default=3, help="how many clusters (default 3)")
    parser.add_argument("--records", type=int, default=100_000, help="approximate total of records (default 100000)")
    parser.add_argument("--partitions", type=int, default=10_000, help="total of partitions at the end (default 10000)")
    parser.add_argument("--brokers", type=int, default=12, help="brokers of each cluster (default 12)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same bytes (default 0)")


def run(arguments: Namespace) -> int:
    """Exit code 1 if a directory exists already."""
    from pipeline.histories import Size, write_history

    shares = [
        _SHARES[number] if arguments.clusters == 3 else 1 / arguments.clusters for number in range(arguments.clusters)
    ]
    for number, share in enumerate(shares, start=1):
        directory = Path(arguments.out, f"cluster-{number}")
        if directory.exists():
            say(f"{directory} is there already; name another directory")
            return 1
        size = Size(int(arguments.records * share), int(arguments.partitions * share), arguments.brokers)

        def tell(records: int, of: int = size.records, number: int = number) -> None:
            if sys.stderr.isatty():
                print(f"\rcluster {number}: {records:,} of {of:,} records", end="", file=sys.stderr, flush=True)

        cluster_id = write_history(directory, size, arguments.seed + number, tell)
        say(f"{directory}: cluster {cluster_id}, some {size.records:,} records")
    return 0
