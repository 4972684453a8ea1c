"""`python -m tests.benchmarks`: our figures, and stock Kafka's from the same run, in one table."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tests.benchmarks import scale
from tests.benchmarks.quorum import OURS, STOCK, Trial, measure, measure_fence, print_figures
from tests.benchmarks.scale_plot import plot
from tests.interop.stock import Stock

# What `--scale` prints behind the figures by size, each from a process of its own: title -> module and arguments.
PARTS = {
    "fence of a broker of 1,000,000 partitions": ("tests.benchmarks", "--fence", "--partitions", "1000000"),
    "10,000 brokers": ("tests.benchmarks.brokers",),
    "10,000 brokers with TLS": ("tests.benchmarks.brokers", "--tls"),
    "a writer beside the largest requests": ("tests.benchmarks.hostile",),
    "tools on a snapshot of 1,000,000 partitions": ("tests.benchmarks.tools", "--only", "snapshots"),
    "the pipeline": ("tests.benchmarks.pipeline",),
    "compiled and pure": ("tests.benchmarks.compiled",),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--partitions", type=int, default=100_000, help="for the large figures (default 100000)")
    parser.add_argument("--rounds", type=int, default=5, help="kills of the active controller (default 5)")
    parser.add_argument("--only", choices=["ours", "stock", "stock-0"], action="append", help="one column (repeatable)")
    parser.add_argument("--fence", action="store_true", help="only the fence of one broker, with the next two options")
    parser.add_argument("--brokers", type=int, default=10, help="that have the partitions (default 10)")
    parser.add_argument("--replication", type=int, default=3, help="factor; with 1 the unfence has records (default 3)")
    parser.add_argument(
        "--scale", action="store_true", help="the figures by the number of partitions, and of large clusters"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=scale.SIZES, help="of --scale (default 10000 100000 1000000 2000000)"
    )
    parser.add_argument(
        "--sizes-only", action="store_true", help="of --scale, only the figures by the number of partitions"
    )
    parser.add_argument("--plot", type=Path, help="an SVG of --scale")
    options = parser.parse_args()
    stock = Stock("4.3.1")
    # A snapshot of all partitions beside a fence would be measured with it.
    always = {"metadata.log.max.record.bytes.between.snapshots": str(1 << 30)} if options.fence else {}
    columns = {
        "ours": lambda: Trial(OURS, stock, always),
        "stock": lambda: Trial(STOCK, stock, always),
        "stock-0": lambda: Trial(STOCK, stock, {**always, "controller.quorum.append.linger.ms": "0"}),
    }
    can_run_stock = shutil.which("java") and shutil.which("mvn")
    if not can_run_stock and not options.only:
        print("No JDK with Maven here: our own figures alone.", file=sys.stderr)
    chosen = options.only or (list(columns) if can_run_stock else ["ours"])
    if chosen != ["ours"]:
        stock.bring()
    if options.scale:
        found = scale.measure(stock, options.sizes, [kind for kind in (OURS, STOCK) if kind in chosen])
        print(scale.table(found))
        if options.plot is not None:
            options.plot.write_text(plot(found))
        if not options.sizes_only:
            sys.exit(print_parts())
        return
    figures = {
        name: measure_fence(columns[name](), options.partitions, options.brokers, options.replication)
        if options.fence
        else measure(columns[name](), options.partitions, options.rounds)
        for name in chosen
    }
    print_figures("work", figures)


def print_parts() -> int:
    """Print each table; 1 if one could not be measured to its end, whose error is on stderr."""
    failed = 0
    for title, command in PARTS.items():
        print(f"\n{title}: `python -m {' '.join(command)}`\n", flush=True)
        failed |= subprocess.run([sys.executable, "-m", *command], check=False).returncode != 0
    return failed


if __name__ == "__main__":
    main()
