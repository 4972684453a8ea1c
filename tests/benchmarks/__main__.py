"""`python -m tests.benchmarks`: our figures, and stock Kafka's from the same run, in one table."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from tests.benchmarks import scale
from tests.benchmarks.quorum import OURS, STOCK, Trial, measure, measure_fence, print_figures
from tests.benchmarks.scale_plot import plot
from tests.interop.stock import Stock


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--partitions", type=int, default=100_000, help="for the large figures (default 100000)")
    parser.add_argument("--rounds", type=int, default=5, help="kills of the active controller (default 5)")
    parser.add_argument("--only", choices=["ours", "stock", "stock-0"], action="append", help="one column (repeatable)")
    parser.add_argument("--fence", action="store_true", help="only the fence of one broker, with the next two options")
    parser.add_argument("--brokers", type=int, default=10, help="that have the partitions (default 10)")
    parser.add_argument("--replication", type=int, default=3, help="factor; with 1 the unfence has records (default 3)")
    parser.add_argument("--scale", action="store_true", help="only the figures by the number of partitions")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=scale.SIZES, help="of --scale (default 10000 100000 1000000 2000000)"
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
        return
    figures = {
        name: measure_fence(columns[name](), options.partitions, options.brokers, options.replication)
        if options.fence
        else measure(columns[name](), options.partitions, options.rounds)
        for name in chosen
    }
    print_figures("work", figures)


if __name__ == "__main__":
    main()
