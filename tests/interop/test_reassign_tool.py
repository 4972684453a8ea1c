"""kafka-reassign-partitions of stock and ours say the same about a quorum of ours with three stock brokers.

Each list of steps ends in the state in which it began, and runs with stock's tool, then with ours.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.interop.both_tools import Both, Said
from tests.interop.cluster import OURS, Cluster, eventually
from tests.interop.test_broker_joins import await_brokers
from tests.interop.tools.stock_calls import StockCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.interop.stock import Stock

RACKS = {101: "east", 102: "west", 103: None}
FAST = "default.api.timeout.ms=1500\nrequest.timeout.ms=1000\n"
# A throttle at which the records of topic `big` take an hour.
SLOW = 1024
BIG_LINES, BIG_LINE = 1500, 4000


def assignment(*partitions: tuple[str, int, list[int], list[str] | None]) -> str:
    """A reassignment file: topic, index, replicas, directories of each partition."""
    entries: list[dict[str, Any]] = []
    for topic, index, replicas, directories in partitions:
        entries.append({"topic": topic, "partition": index, "replicas": replicas})
        if directories is not None:
            entries[-1]["log_dirs"] = directories
    return json.dumps({"version": 1, "partitions": entries})


def files(root: Path) -> dict[str, str]:
    first, second = str(root / "node-101"), str(root / "node-101-b")
    return {
        "fast": FAST,
        "there": assignment(("r", 0, [102, 103], None), ("r", 1, [103, 101], None)),
        "back": assignment(("r", 0, [101, 102], None), ("r", 1, [102, 101], None)),
        "more": assignment(("big", 0, [101, 102, 103], None)),
        "less": assignment(("big", 0, [101, 102], None)),
        "one-a": assignment(("one", 0, [101], [first])),
        "one-b": assignment(("one", 0, [101], [second])),
        "big-a": assignment(("big", 0, [101, 102], [first, "any"])),
        "big-b": assignment(("big", 0, [101, 102], [second, "any"])),
        "nowhere": assignment(("one", 0, [101], ["/nowhere"])),
        "no-broker": assignment(("r", 0, [101, 109], None)),
        "no-replica": assignment(("one", 0, [102], [first])),
        "dead": assignment(("one", 0, [109], [first])),
        "no-topic": assignment(("absent", 0, [101], None), ("absent", 1, [101], None)),
        "no-partition": assignment(("r", 9, [101], None), ("r", 7, [101], None)),
        "next-partition": assignment(("r", 2, [101], None)),
        "negative": assignment(("r", -1, [101], None)),
        "factor": assignment(("r", 0, [101, 102, 103], None)),
        "topics": json.dumps({"topics": [{"topic": "r"}, {"topic": "one"}]}),
        "no-topics": json.dumps({"topics": [{"topic": "absent"}, {"topic": "r"}, {"topic": "missing"}]}),
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Both]:
    root = tmp_path_factory.mktemp("reassign")
    found = Cluster(root, stock)
    with StockCalls(stock) as calls:
        try:
            found.plan([OURS], len(RACKS))
            for number, node in found.brokers.items():
                rack = "" if RACKS[number] is None else f"broker.rack={RACKS[number]}\n"
                with node.properties.open("a") as file:
                    file.write(f"{rack}log.dirs={node.directory},{node.directory}-b\n")
            found.format()
            found.start()
            found.await_leader()
            await_brokers(found, len(RACKS))
            for name, text in files(root).items():
                (root / name).write_text(text)
            made = Both(found, calls)
            create(made)
            yield made
        finally:
            found.end()


def create(made: Both) -> None:
    """Topics r, one and big; the replicas of the last two on broker 101 in its first directory."""
    for topic, replicas in (("r", "101:102,102:101"), ("one", "101"), ("big", "101:102")):
        given = f"SERVER --create --if-not-exists --topic {topic} --replica-assignment {replicas}"
        eventually(partial(is_done, made, given), "the topic is created")
    lines = f"{'x' * BIG_LINE}\n" * BIG_LINES
    made.found.tool("console-producer", "--bootstrap-server", made.found.bootstrap, "--topic", "big", stdin=lines)
    for name in ("one-a", "big-a"):
        assert made.by_stock("reassign-partitions", f"SERVER --execute --reassignment-json-file DIR/{name}").exit == 0
        await_done(made, name)


def is_done(made: Both, given: str) -> bool:
    return made.by_stock("topics", given).exit == 0


def await_done(both: Both, name: str) -> None:
    """Wait until the brokers know that what a file asks for is done."""
    given = f"SERVER --verify --preserve-throttles --reassignment-json-file DIR/{name}"

    def all_are_done() -> bool:
        said = both.by_ours("reassign-partitions", given)
        lines = [line for line in said.stdout.splitlines()[1:] if line]
        return said.exit == 0 and all(line.endswith(("is completed.", "completed successfully.")) for line in lines)

    eventually(all_are_done, f"{name} is done")


def await_hosted(both: Both) -> None:
    """Wait until broker 103 has a directory for the replica of topic big that it is to get."""
    folders = [f"{both.found.brokers[103].directory}{end}/big-0" for end in ("", "-b")]
    eventually(lambda: any(Path(folder).is_dir() for folder in folders), "broker 103 has the replica")


def run(both: Both, by: Callable[[str, str], Said], steps: list[str]) -> list[Said]:
    """What a tool says in each step; `await NAME` waits, `configs …` shows configs by stock's tool."""
    found = []
    for step in steps:
        first, _, rest = step.partition(" ")
        if first == "await":
            await_done(both, rest)
        elif first == "hosted":
            await_hosted(both)
        elif first == "configs":
            found.append(both.by_stock("configs", f"CONTROLLER --describe --entity-type {rest}"))
        else:
            file = re.sub(r"@(\S+)", r"--reassignment-json-file DIR/\1", step)
            found.append(by("reassign-partitions", file))
    return found


def in_any_directory(said: list[Said]) -> list[Said]:
    """Brokers choose one of their directories for a new replica."""
    return [each._replace(stdout=re.sub(r"(node-\d+)-b\b", r"\1", each.stdout)) for each in said]


def is_slow(steps: list[str]) -> bool:
    """Whether the first step starts what a throttle keeps in progress."""
    return steps[0].endswith(f" {SLOW}")


THROTTLES = ["configs topics --entity-name big", "configs topics --entity-name r", "configs brokers --entity-name 101"]
STEPS = {
    "replicas move to other brokers": [
        "SERVER --list",
        "CONTROLLER --list",
        "SERVER --verify @back",
        "SERVER --verify @there --preserve-throttles",
        "SERVER --execute @there",
        "await there",
        "SERVER --verify @there",
        "SERVER --execute @back --throttle 10000000 --disallow-replication-factor-change",
        *THROTTLES,
        "await back",
        "SERVER --verify @back --preserve-throttles",
        *THROTTLES,
        "SERVER --verify @back",
        *THROTTLES,
    ],
    "a reassignment in progress is shown, changed and cancelled": [
        f"SERVER --execute @more --throttle {SLOW}",
        "hosted",
        "SERVER --list",
        "CONTROLLER --list",
        "SERVER --verify @more",
        "SERVER --verify @less",
        "SERVER --verify @back",
        "SERVER --execute @back",
        f"SERVER --execute @more --additional --throttle {SLOW * 2}",
        *THROTTLES,
        "SERVER --cancel @back --preserve-throttles",
        "SERVER --cancel @more",
        "await less",
        *THROTTLES,
        "SERVER --verify @more",
        f"SERVER --execute @more --throttle {SLOW}",
        "CONTROLLER --cancel @more --preserve-throttles",
        "await less",
        "CONTROLLER --cancel @less",
        *THROTTLES,
        "CONTROLLER --cancel @big-a",
    ],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_the_same_reassignments_print_the_same(both: Both, steps: list[str]) -> None:
    by_stock = run(both, both.by_stock, steps)
    by_ours = run(both, both.by_ours, steps)

    assert in_any_directory(by_ours) == in_any_directory(by_stock)
    assert by_ours[0].exit == 0
    assert is_slow(steps) == any("is still in progress." in each.stdout for each in by_ours)


MOVES = {
    "a replica moves to another directory": [
        "SERVER --execute @one-b",
        "await one-b",
        "SERVER --verify @one-b",
        "SERVER --verify @one-a",
        "SERVER --execute @one-a --replica-alter-log-dirs-throttle 1000000",
        "configs brokers --entity-name 101",
        "await one-a",
        "SERVER --verify @one-a",
        "configs brokers --entity-name 101",
        "SERVER --cancel @one-a --preserve-throttles",
    ],
    "a move in progress is shown and cancelled": [
        f"SERVER --execute @big-b --replica-alter-log-dirs-throttle {SLOW}",
        "SERVER --verify @big-b",
        "SERVER --verify @big-a",
        "SERVER --cancel @big-b",
        "await big-a",
        "SERVER --verify @big-b",
    ],
}


@pytest.mark.parametrize("steps", MOVES.values(), ids=MOVES)
def test_the_same_moves_print_the_same(both: Both, steps: list[str]) -> None:
    by_stock = run(both, both.by_stock, steps)
    by_ours = run(both, both.by_ours, steps)

    assert by_ours == by_stock
    assert by_ours[0].exit == 0
    assert is_slow(steps) == any("is still in progress." in each.stdout for each in by_ours)


FILES = ("nowhere", "no-broker", "dead", "no-topic", "no-partition", "next-partition", "negative")
REFUSED = [
    *(
        f"SERVER --command-config DIR/fast --{action} @{name}"
        for name in FILES
        for action in ("execute --timeout 300", "verify", "cancel")
    ),
    "SERVER --verify @no-replica",
    "SERVER --cancel @no-replica",
    "SERVER --execute @factor --disallow-replication-factor-change",
    "SERVER --execute @no-broker --throttle 1000",
    "CONTROLLER --cancel @no-topic",
]


@pytest.mark.parametrize("step", REFUSED)
def test_what_cannot_be_done_is_refused_the_same(both: Both, step: str) -> None:
    assert run(both, both.by_ours, [step]) == run(both, both.by_stock, [step])


@pytest.mark.parametrize(
    "step",
    [
        "--topics-to-move-json-file DIR/topics --broker-list 101,102",
        "--topics-to-move-json-file DIR/topics --broker-list 103,101,102 --disable-rack-aware",
        "--topics-to-move-json-file DIR/topics --broker-list 101,103",
        "--topics-to-move-json-file DIR/topics --broker-list 101",
        "--topics-to-move-json-file DIR/topics --broker-list 109",
        "--topics-to-move-json-file DIR/topics --broker-list ,",
        "--topics-to-move-json-file DIR/no-topics --broker-list 101",
    ],
)
def test_proposals_are_the_same_but_for_the_random_start(both: Both, step: str) -> None:
    ours, stocks = (by("reassign-partitions", f"SERVER --generate {step}") for by in (both.by_ours, both.by_stock))

    assert placed_anyhow(ours) == placed_anyhow(stocks)


def placed_anyhow(said: Said) -> Said:
    """With the number of the proposed replicas of each partition in place of the replicas."""
    current, head, proposed = said.stdout.partition("Proposed partition reassignment configuration")
    counted = re.sub(r'"replicas":\[([\d,]+)\]', lambda found: f"{len(set(found[1].split(',')))} replicas", proposed)
    return said._replace(stdout=current + head + counted)
