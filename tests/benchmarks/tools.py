"""How long each tool takes to start, and its memory, beside stock's: `python -m tests.benchmarks.tools`.

The time is that of a whole process which prints its help, the least of several; CPU time is user and system time.
Stock's tools run with a heap of 256 MB, as their scripts start them. Without a JDK only ours are measured.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.interop.stock import TOOLS, Stock

BIN = Path(sys.executable).parent
NAMES = (
    "storage", "dump-log", "metadata-shell", "metadata-quorum", "features", "cluster", "leader-election",
    "acls", "topics", "configs", "delegation-tokens", "reassign-partitions", "broker-api-versions",
)  # fmt: skip
OURS_RUNS, STOCK_RUNS = 20, 3


class Cost(NamedTuple):
    """wall and cpu: in seconds; memory: the peak, in MiB."""

    wall: float
    cpu: float
    memory: float


def cost(command: list[str], runs: int) -> Cost:
    """The least of several runs, in each of the three."""
    found = []
    for _ in range(runs):
        begin = time.monotonic()
        with (
            tempfile.TemporaryFile() as output,
            subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process,
        ):
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
            wall = time.monotonic() - begin
            assert b"--help" in Path(f"/proc/self/fd/{output.fileno()}").read_bytes(), f"no help: {command}"
        found.append(Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
    return Cost(*(min(values) for values in zip(*found, strict=True)))


def main() -> None:
    stock = Stock() if shutil.which("java") and shutil.which("mvn") else None
    print("| tool | ours: time, CPU time, memory | stock 4.3.1 |\n|---|---|---|")
    for name in NAMES:
        ours = shown(cost([str(BIN / f"kafka-{name}"), "--help"], OURS_RUNS))
        theirs = "not measured"
        if stock is not None and name in TOOLS:
            theirs = shown(cost(stock.tool_command(name, "--help"), STOCK_RUNS))
        print(f"| `kafka-{name}` | {ours} | {theirs} |", flush=True)


def shown(found: Cost) -> str:
    return f"{found.wall * 1000:.0f} ms, {found.cpu * 1000:.0f} ms, {found.memory:.0f} MiB"


if __name__ == "__main__":
    main()
