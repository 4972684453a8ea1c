"""Start time, memory and time of output of each tool, beside stock's, as Markdown: `python -m tests.benchmarks.tools`.

First the start: a whole process that prints its help, the least of several runs. Then a checkpoint of 1,000,000
partitions (10,000 topics), which our writer makes in a temporary directory: one run of each tool that reads it.
Stock's tools run with a heap of 256 MB, as their scripts start them; a second run of its shell has 2 GB. The CPU time
of what stock has no tool for is compared with that of this shell, which loads the same file. Without a JDK only ours
are measured.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from ast import literal_eval
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.state import cluster, write_checkpoint
from tests.controller.server.processes import format_directory, free_port, write_properties
from tests.interop.stock import TOOLS, Stock
from tools.registry import KAFKA_TOOLS

BIN = Path(sys.executable).parent
OURS_RUNS, STOCK_RUNS = 10, 3
PARTITIONS, TOPICS = 1_000_000, 10_000
LIMIT_S = 300.0
# Stock's shell does not end when its heap is full.
SHELL_LIMIT_S = 60.0
# What `timeout` exits with when it ended its command.
ENDED = (137, -9)


class Cost(NamedTuple):
    """wall and cpu: in s; memory: the peak, in MiB. output: bytes. code: the exit code, None if it was ended."""

    wall: float
    cpu: float
    memory: float
    output: int
    code: int | None


# Runs a command from a small process: the kernel counts the memory of the process that forks as the child's own peak.
RUN = """
import os, sys, time
begin = time.monotonic()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(process, 0)
wall, cpu, code = time.monotonic() - begin, used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status)
os.write(int(sys.argv[1]), repr((wall, cpu, used.ru_maxrss / 1024, code)).encode())
"""


def cost(command: list[str], limit_s: float = LIMIT_S) -> Cost:
    """One run, whose output is read and dropped."""
    read, write = os.pipe()
    limited = ["timeout", "--signal=KILL", str(limit_s), *command]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", RUN, str(write), *limited],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=(write,),
    ) as process:  # fmt: skip
        os.close(write)
        assert process.stdout is not None
        size = 0
        while part := process.stdout.read(1 << 20):
            size += len(part)
    with open(read, "rb") as file:  # noqa: PTH123 - a pipe
        wall, cpu, memory, code = literal_eval(file.read().decode())
    return Cost(wall, cpu, memory, size, None if code in ENDED else code)


def least(command: list[str], runs: int) -> Cost:
    """The least of several runs, in each."""
    found = [cost(command) for _ in range(runs)]
    assert all(each.output > 100 for each in found), f"no help: {command}"
    wall, cpu, memory = (min(values) for values in zip(*(each[:3] for each in found), strict=True))
    return Cost(wall, cpu, memory, found[0].output, found[0].code)


def starts(stock: Stock | None) -> None:
    """The table of starts."""
    print("| tool | ours: time, CPU time, memory | stock 4.3.1 |\n|---|---|---|")
    for tool in KAFKA_TOOLS:
        name = tool.name.removeprefix("kafka-")
        ours = started(least([str(BIN / tool.name), "--help"], OURS_RUNS))
        theirs = "not measured"
        if stock is not None and name in TOOLS:
            theirs = started(least(stock.tool_command(name, "--help"), STOCK_RUNS))
        print(f"| `{tool.name}` | {ours} | {theirs} |", flush=True)


def started(found: Cost) -> str:
    return f"{found.wall * 1000:.0f} ms, {found.cpu * 1000:.0f} ms, {found.memory:.0f} MiB"


def write_directory(root: Path) -> tuple[Path, Path]:
    """A formatted directory with the checkpoint and an empty log behind it; the directory and the checkpoint."""
    format_directory(write_properties(root, free_port()))
    path = write_checkpoint(cluster(PARTITIONS, TOPICS), root / "data" / "__cluster_metadata-0")
    return root / "data", path


def snapshots(stock: Stock | None) -> None:
    """The table of a large checkpoint."""
    with tempfile.TemporaryDirectory(prefix="tools-") as name:
        root = Path(name)
        directory, path = write_directory(root)
        print(f"\nCheckpoint: {PARTITIONS:,} partitions, {TOPICS:,} topics, {path.stat().st_size >> 20} MiB.\n")
        print(
            "| command | ours: time, CPU time, memory, output | stock 4.3.1 | CPU time, ours / stock |"
            "\n|---|---|---|---|"
        )
        dump = ("--cluster-metadata-decoder", "--files", str(path))
        cat = ("-s", str(path), "cat", f"/image/topics/byName/topic-{TOPICS - 1}/{PARTITIONS // TOPICS - 1}")
        shell: Cost | None = None
        for tool, given, text in (
            ("dump-log", dump, "`kafka-dump-log --cluster-metadata-decoder`"),
            ("metadata-shell", cat, "`kafka-metadata-shell -s … cat …`, one partition"),
        ):
            ours = cost([str(BIN / f"kafka-{tool}"), *given])
            theirs, ratio = "not measured", "–"
            if stock is not None:
                found = cost(stock.tool_command(tool, *given), SHELL_LIMIT_S)
                theirs = run(found)
                if tool == "metadata-shell":
                    large = ["-Xmx2g" if each == "-Xmx256m" else each for each in stock.tool_command(tool, *given)]
                    found = shell = cost(large)
                    theirs += f"; with a heap of 2 GB: {run(found)}"
                ratio = f"{ours.cpu / found.cpu:.2f}"
            print(f"| {text} | {run(ours)} | {theirs} | {ratio} |", flush=True)
        last = f"topics/byName/topic-{TOPICS - 1}/{PARTITIONS // TOPICS - 1}"
        for text, given in (
            ("kraftctl log verify", ("log", "verify", str(directory))),
            ("kraftctl log replay", ("log", "replay", str(directory))),
            ("kraftctl backup save --directory", ("backup", "save", "--directory", str(directory), str(root / "kept"))),
            ("kraftctl backup verify", ("backup", "verify", str(root / "kept"))),
            ("kraftctl diff", ("diff", str(path), str(path))),
            ("kraftctl history", ("history", "--directory", str(directory))),
            ("kraftctl at", ("at", "end", last, "--directory", str(directory))),
        ):
            ours = cost([str(BIN / "kraftctl"), *given])
            ratio = "–" if shell is None else f"{ours.cpu / shell.cpu:.2f}"
            print(f"| `{text}` | {run(ours)} | none; its shell, as above | {ratio} |", flush=True)


def run(found: Cost) -> str:
    if found.code is None:
        return f"no end within {found.wall:.0f} s"
    failed = f", exit code {found.code}" if found.code else ""
    size = f"{found.output / 1e6:.0f} MB" if found.output >= 1e6 else f"{found.output} B"
    return f"{found.wall:.1f} s, {found.cpu:.1f} s, {found.memory:.0f} MiB, {size}{failed}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.tools", description=__doc__)
    parser.add_argument("--only", choices=("starts", "snapshots"), help="one of the two tables")
    only = parser.parse_args().only
    stock = Stock() if shutil.which("java") and shutil.which("mvn") else None
    if only != "snapshots":
        starts(stock)
    if only != "starts":
        snapshots(stock)


if __name__ == "__main__":
    main()
