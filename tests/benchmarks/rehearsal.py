"""`python -m tests.benchmarks.rehearsal`: failovers as a rehearsal plays them beside those of real processes.

Three controllers of ours on this machine take writes. The leader is killed (SIGKILL; in a rehearsal `leader-kill`), or
it is stopped by SIGSTOP so that its peers get no answer (`node-…`: a machine without power). The longest time without
a commit is compared, as the ratio of the medians.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.rehearsal.layout import Layout
from simulations.rehearsal.play import play
from simulations.rehearsal.scenarios import scenarios
from tests.interop.cluster import OURS, cluster, eventually
from tests.interop.stock import Stock
from tests.interop.writer import SESSION, Writer

if TYPE_CHECKING:
    from tests.interop.cluster import Cluster

VOTERS = (1, 2, 3)
# Round trips and syncs of one machine.
LAYOUT = Layout(dict.fromkeys(VOTERS, "here"), kraft_version=0, round_trip_ms=0.1, disk_sync_ms=1.0)
# Writes go on for this long before and after what is measured (s).
AROUND = 2.0
KILLED, SILENT = "leader killed", "leader silent"


def real(rounds: int, stock: Stock) -> dict[str, list[float]]:
    """What happens -> the longest time without a commit (ms) of each round."""
    found: dict[str, list[float]] = {KILLED: [], SILENT: []}
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as root:
        quorum = cluster(Path(root), stock, [OURS] * 3, 0, settings=SESSION)
        with quorum as controllers, Writer(controllers, 0.02) as writer:
            for _ in range(rounds):
                for what, number in ((KILLED, signal.SIGKILL), (SILENT, signal.SIGSTOP)):
                    time.sleep(AROUND)
                    found[what].append(_one(controllers, writer, number))
                    print(f"{what}: {found[what][-1]:.0f} ms", file=sys.stderr, flush=True)
    return found


def _one(controllers: Cluster, writer: Writer, number: signal.Signals) -> float:
    led = controllers.await_leader()
    node = controllers.controllers[led]
    begin = time.perf_counter()
    node.signal(number)
    others = [each for each in controllers.controllers.values() if each.id != led]
    before = len(writer.acknowledged)
    eventually(lambda: len(writer.acknowledged) > before + 5, f"writes without node {led}")
    time.sleep(AROUND)
    found = writer.longest_pause_ms(begin, time.perf_counter())
    node.kill()
    node.start()
    eventually(lambda: controllers.leader() in {each.id for each in (*others, node)}, "a leader")
    return found


def rehearsed(runs: int) -> dict[str, list[float]]:
    """The same of a rehearsal, of the runs in which the leader is struck."""
    names = {KILLED: ["leader-kill"], SILENT: [f"node-{voter}" for voter in VOTERS]}
    by_name = {each.name: each for each in scenarios(LAYOUT)}
    return {
        what: [
            played.gap_ms
            for name in listed
            for seed in range(1, runs + 1)
            if (played := play(LAYOUT, None, by_name[name], seed)).is_struck
        ]
        for what, listed in names.items()
    }


def cell(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} [{min(values):.0f}–{max(values):.0f}]"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.rehearsal", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each with real processes (default 5)")
    options = parser.parse_args()
    stock = Stock("4.3.1")
    stock.bring()
    measured, simulated = real(options.rounds, stock), rehearsed(12)
    print("Longest time without a commit (ms): median [min–max]\n")
    print("| what happens | real processes | rehearsal | rehearsal / real |\n|---|---|---|---|")
    for what, values in measured.items():
        ratio = statistics.median(simulated[what]) / statistics.median(values)
        print(f"| {what} | {cell(values)} | {cell(simulated[what])} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
