"""`python -m tests.benchmarks.pipeline`: the pipeline on long logs and a large checkpoint, beside stock's dump-log.

`kraft-pipeline history` writes the logs of three clusters. `ingest` and `tables` take all of them, with Spark's start;
stock's `kafka-dump-log` prints the records of the first cluster. The rate is the number of records by the clock. Then
`plan` and the image of a checkpoint, which our writer makes. Without a JDK with Maven stock is not measured.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from pyarrow.dataset import dataset

from records.batch import batches
from tests.benchmarks.scale import checkpoint
from tests.benchmarks.tools import BIN, Cost, cost
from tests.controller.server.processes import format_directory, free_port, write_properties
from tests.interop.stock import Stock

LIMIT_S = 3600.0
CLUSTERS, BROKERS = 3, 30


def histories(root: Path, records: int, partitions: int, stock: Stock | None) -> None:
    """The rows of the logs."""
    sizes = ("--records", str(records), "--partitions", str(partitions), "--brokers", str(BROKERS))
    must("history", str(root / "logs"), "--clusters", str(CLUSTERS), *sizes)
    logs = [root / "logs" / f"cluster-{number}" for number in range(1, CLUSTERS + 1)]
    lengths = [length_of(log) for log in logs]
    for command in ("ingest", "tables"):
        found = must(command, *map(str, logs), "--warehouse", str(root / command))
        print_row(f"`kraft-pipeline {command}`", found, sum(lengths))
    if stock is not None:
        files = ",".join(map(str, segments(logs[0])))
        found = cost(stock.tool_command("dump-log", "--cluster-metadata-decoder", "--files", files), LIMIT_S)
        print_row("stock's `kafka-dump-log --cluster-metadata-decoder`, one cluster", found, lengths[0])


def image(root: Path, partitions: int) -> None:
    """The rows of a checkpoint of so many partitions."""
    format_directory(write_properties(root, free_port()))
    path = checkpoint(partitions, root / "data" / "__cluster_metadata-0")
    directory = str(root / "data")
    print_row(f"`kraft-pipeline plan`, {partitions:,} partitions", must("plan", directory, "--out", str(root / "plan")))
    offset = str(int(path.name.partition("-")[0]))
    given = (directory, "--warehouse", str(root / "image"), "--image-at", offset, "--out", str(root / "parquet"))
    found = must("tables", *given)
    assert dataset(root / "parquet").count_rows() > partitions, "not all of the checkpoint is in the image"
    print_row(f"`kraft-pipeline tables --image-at`, {partitions:,} partitions", found)


def must(command: str, *given: str) -> Cost:
    found = cost([str(BIN / "kraft-pipeline"), command, *given], LIMIT_S)
    assert found.code == 0, f"kraft-pipeline {command}: exit code {found.code}"
    return found


def segments(directory: Path) -> list[Path]:
    return sorted((directory / "__cluster_metadata-0").glob("*.log"))


def length_of(directory: Path) -> int:
    """How many records are in a log, control records too."""
    return sum(batch.record_count for path in segments(directory) for batch in batches(path.read_bytes(), check=False))


def print_row(what: str, found: Cost, records: int | None = None) -> None:
    rate = "" if records is None else f"{records / found.wall:,.0f}"
    count = "" if records is None else f"{records:,}"
    print(f"| {what} | {count} | {found.wall:.1f} s | {rate} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pipeline", description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000, help="of the logs, about (default 10000000)")
    parser.add_argument("--partitions", type=int, default=2_000_000, help="of the checkpoint (default 2000000)")
    parser.add_argument("--only", choices=["ours"], help="no stock")
    options = parser.parse_args()
    stock = Stock("4.3.1") if not options.only and shutil.which("java") and shutil.which("mvn") else None
    if stock is not None:
        stock.bring()
    print("| | records | time | records a second |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="pipeline-") as name:
        histories(Path(name), options.records, max(1000, options.records // 10), stock)
        image(Path(name), options.partitions)


if __name__ == "__main__":
    main()
