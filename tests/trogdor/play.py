"""Trogdor's workloads on stock brokers, whose controllers of ours are under faults."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from controller.config.values.node_values import RELEASE
from records.features.levels import KAFKA_4_3
from simulations.chaos import log_events, verdict
from simulations.chaos.equipment import equip
from simulations.chaos.quorum import NODES, Quorum
from simulations.commands.chaos import SETTINGS
from tests.interop.stock import Stock
from tests.trogdor.brokers import Brokers
from tests.trogdor.faults import TrogdorNemesis
from tests.trogdor.processes import VERSION, Trogdor
from tests.trogdor.rounds import LANES, ROUND_S, Rounds, check_deleted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# On a busy machine.
NODE_S = 60.0
ERRORS = {"error", "critical"}
CONTROLLER_SETTINGS = {
    **SETTINGS,
    # The level of the brokers, whose release is older than that of a node without this key.
    RELEASE: KAFKA_4_3.name,
    # A broker that is stopped for some seconds is fenced.
    "broker.session.timeout.ms": "6000",
}


class Outcome(NamedTuple):
    """wrong: what is wrong; counts: of rounds, tasks, topics and messages; faults: how often each was injected;
    leaders: how often a controller became active; processes: how many each controller had.
    """

    wrong: list[str]
    counts: Counter[str]
    faults: dict[str, int]
    leaders: int
    processes: dict[int, int]
    seconds: float


def play(directory: Path, seconds: int, seed: int, say: Callable[[str], object]) -> Outcome:
    """Faults for these seconds, and rounds of workloads until all that began by then has ended.

    directory: empty; gets the files of all processes.
    """
    with ExitStack() as unmounting:
        quorum = Quorum(directory, CONTROLLER_SETTINGS, equip(directory, NODES, unmounting, say))
        return _play(directory, seconds, seed, say, quorum)


def _play(directory: Path, seconds: int, seed: int, say: Callable[[str], object], quorum: Quorum) -> Outcome:
    stock = Stock(VERSION, quick=True)
    stock.bring()
    trogdor = Trogdor(directory / "trogdor", f"{directory}/node-[0-9]+.properties")
    begin = time.monotonic()
    quorum.start_s = quorum.end_s = NODE_S
    with ExitStack() as ending:
        ending.callback(quorum.close)
        for node in NODES:
            quorum.start(node)
        brokers = Brokers(quorum, stock)
        ending.callback(brokers.close)
        ending.callback(trogdor.close)
        brokers.start()
        trogdor.start()
        nemesis = TrogdorNemesis(quorum, brokers, trogdor, Random(f"trogdor {seed}"), say)
        # ConsumeBench looks once a minute whether it is done: a short run has all messages read within the first.
        round_s = min(ROUND_S, seconds // 4)
        lanes = [Rounds(trogdor, stock, brokers.servers, lane, round_s) for lane in range(1, LANES + 1)]
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(LANES) as threads:
            played = [threads.submit(lane.run, until, say) for lane in lanes]
            nemesis.run(until)
            for each in played:
                each.result()
        wrong = [text for lane in lanes for text in lane.wrong]
        wrong += [*nemesis.wrong, *check_deleted(stock, brokers.servers), *trogdor.errors()]
        quorum.look()
        brokers.look()
        wrong += [*brokers.died, *brokers.faults_of_metadata()]
    wrong += [*verdict.check_processes(quorum), *verdict.check_logs(quorum), *log_events.check_log_events(directory)]
    wrong += verdict.check_observations(log_events.observations(directory))
    events = [event for node in NODES for event in log_events.log_events(directory, node)]
    wrong += [f"node {each.node} at {each.at}: {each.event} {each.fields}" for each in events if is_error(each)]
    leaders = sum(1 for event in events if event.event == "controller_active")
    return Outcome(
        wrong,
        sum((lane.counts for lane in lanes), Counter()),
        nemesis.counts,
        leaders,
        quorum.lives,
        time.monotonic() - begin,
    )


def is_error(event: log_events.LogEvent) -> bool:
    """Whether a node says that something is wrong; `verdict.check_processes` knows which nodes had to fail."""
    return event.fields.get("level") in ERRORS and event.event != verdict.FAILED


def tell(outcome: Outcome) -> str:
    """A line for each kind of fault, what was done, and what is wrong."""
    lines = [f"{count:6} x {name}" for name, count in sorted(outcome.faults.items())]
    lines += [f"{count:9} {name}" for name, count in sorted(outcome.counts.items())]
    processes = ", ".join(f"node {node}: {count}" for node, count in outcome.processes.items())
    lines += [f"controllers became active {outcome.leaders} times; processes of {processes}", *outcome.wrong]
    lines += [f"{outcome.seconds:.0f} s, {sum(outcome.faults.values())} faults, {len(outcome.wrong)} failures"]
    return "".join(f"{line}\n" for line in lines)
