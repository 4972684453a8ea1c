"""`chaos`: three real nodes under real faults, checked by the same rules as simulated ones."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from simulations.commands.arguments import PROGRAM, positive

if TYPE_CHECKING:
    import argparse

    from simulations.chaos.clients import History
    from simulations.chaos.nemesis import Nemesis
    from simulations.chaos.outside import Observer
    from simulations.chaos.quorum import Quorum
    from simulations.histories.operations import Operation

SAYS = "run three real nodes on loopback under kills, pauses and cuts, and check them"
SETTINGS = {
    "kraft.log.format": "json",
    # Small, so that snapshots are taken, fetched and deleted during the run.
    "metadata.log.max.record.bytes.between.snapshots": "200000",
    "metadata.log.segment.bytes": "8388608",
    "metadata.max.retention.bytes": "1000000",
}


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--seconds", type=positive, default=120, metavar="S", help="inject faults for S seconds (120)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the faults (1)")
    parser.add_argument("--clients", type=positive, default=4, metavar="N", help="number of admin clients (4)")
    parser.add_argument(
        "--mix", action="store_true", help="compare the kinds of requests with a simulated run under the same faults"
    )
    parser.add_argument(
        "--kafka", type=Path, metavar="DIR", help="directory with the jars of Apache Kafka: add three of its brokers"
    )
    parser.add_argument("--directory", type=Path, metavar="DIR", help="empty directory for the nodes (a temporary one)")


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where nothing is wrong, else 1."""
    directory = args.directory or Path(tempfile.mkdtemp(prefix="chaos-"))
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise ValueError(f"{directory} is not empty")
    wrong = _run(directory, args)
    for text in wrong:
        sys.stdout.write(f"{text}\n")
    if wrong:
        again = f"{PROGRAM} chaos --seed {args.seed} --seconds {args.seconds} --clients {args.clients}"
        sys.stdout.write(f"the files of the nodes are in {directory}\nthe same faults again: {again}\n")
    elif args.directory is None:
        import shutil

        shutil.rmtree(directory)
    return 1 if wrong else 0


def _run(directory: Path, args: argparse.Namespace) -> list[str]:
    from simulations.chaos.brokers import Brokers
    from simulations.chaos.clients import Client, History
    from simulations.chaos.nemesis import Nemesis
    from simulations.chaos.outside import Observer
    from simulations.chaos.quorum import NODES, Quorum
    from simulations.chaos.stock import StockBrokers
    from simulations.chaos.verdict import check_numbers, check_progress

    quorum = Quorum(directory, SETTINGS)
    history = History()
    nemesis = Nemesis(quorum, Random(f"chaos {args.seed}"), lambda line: sys.stdout.write(f"{line}\n"))
    begin = time.monotonic()
    with ExitStack() as ending:
        ending.callback(quorum.close)
        for node in NODES:
            quorum.start(node)
        observer = Observer(quorum)
        ending.callback(observer.stop)
        brokers = Brokers(quorum)
        ending.callback(brokers.close)
        stock = None
        if args.kafka is not None:
            stock = StockBrokers(quorum, args.kafka)
            ending.callback(stock.close)
            stock.start()
        for number in range(args.clients):
            ending.callback(Client(number, args.seed, quorum, brokers, history).close)
        wrong = check_progress(quorum, history)
        nemesis.run(time.monotonic() + args.seconds)
        wrong += check_progress(quorum, history)
        wrong += check_numbers(stock.numbers()) if stock is not None else []
        quorum.look()
    seconds = time.monotonic() - begin
    wrong += _check(quorum, history, observer)
    if wrong:
        (directory / "history.txt").write_text("".join(f"{operation}\n" for operation in history.operations))
    _sum_up(quorum, nemesis, history.operations, seconds)
    sys.stdout.write(f"seen from outside: {observer.looks} looks, {len(observer.checks.committed)} batches committed\n")
    return wrong + (_compare(quorum, nemesis, observer, seconds) if args.mix else [])


def _check(quorum: Quorum, history: History, observer: Observer) -> list[str]:
    """What is wrong with the files, the log events and the histories at the end."""
    from simulations.chaos import log_events, verdict

    observations = [*observer.observations, *log_events.observations(quorum.directory)]
    return [
        *verdict.check_processes(quorum),
        *verdict.check_logs(quorum),
        *verdict.check_history(history),
        *verdict.check_purpose(history),
        *verdict.check_observations(observations),
        *log_events.check_log_events(quorum.directory),
        *observer.verdict(),
    ]


def _compare(quorum: Quorum, nemesis: Nemesis, observer: Observer, seconds: float) -> list[str]:
    """Print the kinds of requests beside those of a simulated run with the same faults."""
    from simulations.chaos.mix import DIFFERENCE_MAX, Mix, simulate

    rate = len(observer.checks.committed) / max(observer.busy_s, 1.0)
    mix = Mix(dict(quorum.network.requests), simulate(nemesis.injected, seconds, rate))
    for name, (real, other) in mix.shares().items():
        counts = f"{mix.real.get(name, 0)} real, {mix.simulated.get(name, 0)} simulated"
        sys.stdout.write(f"{name:14} {real:8.2%} of the real requests, {other:8.2%} of the simulated ({counts})\n")
    sys.stdout.write(f"{mix.difference:.1%} of the requests differ in kind, at {rate:.0f} batches/s\n")
    if mix.difference < DIFFERENCE_MAX:
        return []
    return [f"the requests of real nodes differ in kind from those of simulated ones by {mix.difference:.1%}"]


def _sum_up(quorum: Quorum, nemesis: Nemesis, operations: list[Operation], seconds: float) -> None:
    open_ended = sum(1 for operation in operations if operation.returned is None)
    counts = ", ".join(f"{count} {name}" for name, count in nemesis.counts.items() if count)
    sys.stdout.write(
        f"{seconds:.0f} s, {sum(nemesis.counts.values())} faults ({counts});"
        f" {len(operations)} operations, {open_ended} of them without an answer;"
        f" {len(quorum.died)} nodes stopped by themselves\n"
    )
