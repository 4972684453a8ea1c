"""Stock's kafka-topics and ours print the same about one quorum of ours with two stock brokers."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import BIN, CLUSTER_ID, OURS, eventually
from tests.interop.dynamic import Dynamic, format_node
from tests.interop.test_stock_tools import FAST, Pair, Said
from tests.interop.tools.stock_calls import StockCalls
from tests.tools.kafka.cases import ours, without_frames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.stock import Stock

NAMES = ("t", "u", "u.v", "w_x", "alpha", "beta-1", "beta-2", "__consumer_offsets")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    root = tmp_path_factory.mktemp("topics")
    found = Dynamic(root, stock)
    with StockCalls(stock) as calls:
        try:
            found.plan([OURS], 2)
            format_node(found, 1, "--standalone")
            for broker in found.brokers.values():
                found.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(broker.properties))
            found.start()
            found.await_leader()
            (root / "fast").write_text(FAST)
            made = Pair(found, calls, {"FAST": f"--command-config {root / 'fast'}", "DIR": str(root)})
            create(made)
            yield made
        finally:
            found.end()


def create(made: Pair) -> None:
    """Create the topics of NAMES by our tool: some with configs, one of three partitions on broker 102 alone."""

    for name in NAMES:
        given = "--replica-assignment 102,102,102" if name == "u" else "--partitions 3 --replication-factor 2"
        configs = "--config retention.ms=5000 --config min.insync.replicas=2" if name in ("alpha", "u.v") else ""
        command = f"SERVER FAST --create --if-not-exists --topic {name} {given} {configs}"

        def is_created(command: str = command) -> bool:
            return made.ours("topics", command).exit == 0

        eventually(is_created, f"topic {name} is created")
    settle(made)


def settle(made: Pair) -> None:
    """Wait until each broker shows what the controller has committed."""

    def is_settled() -> bool:
        committed = made.ours("topics", "CONTROLLER --describe")
        return committed.exit == 0 and all(
            made.ours("topics", f"--bootstrap-server 127.0.0.1:{broker.port} --describe").stdout == committed.stdout
            for broker in made.found.brokers.values()
            if broker.process is not None
        )

    eventually(is_settled, "the brokers have the committed metadata")


READS = (
    "SERVER --list",
    "SERVER --list --exclude-internal",
    "SERVER --list --topic beta-.*,t",
    "SERVER --list --topic absent",
    "SERVER --list --topic [",
    "SERVER --list --topic (?<x>be)ta-\\p{Digit}",
    "SERVER --list --topic \\Qu.v\\E",
    "SERVER --list --topic '[tu]'",
    "SERVER --list --topic t{1,2}",
    "SERVER --list --topic t{,2}",
    "SERVER --describe",
    "SERVER --describe --exclude-internal",
    "SERVER --describe --topic t",
    "SERVER --describe --topic u.*",
    "SERVER --describe --topic absent",
    "SERVER --describe --topic absent --if-exists",
    "SERVER --describe --topic t --partition-size-limit-per-response 1",
    "SERVER --describe --partition-size-limit-per-response 2",
    "SERVER --describe --partition-size-limit-per-response 0",
    "SERVER --describe --topic-id TOPIC-T",
    "SERVER --describe --topic-id TOPIC-T --topic alpha --if-exists",
    "SERVER --describe --topic-id AAAAAAAAAAAAAAAAAAAAAA --topic alpha",
    "SERVER --describe --topic-id 4L6g3nShT-eMCtK--X86sw",
    "SERVER --describe --topic-id 4L6g3nShT-eMCtK--X86sw --if-exists",
    "SERVER --describe --topics-with-overrides",
    "SERVER --describe --topics-with-overrides --topic alpha",
    "SERVER --describe --under-replicated-partitions",
    "SERVER --describe --unavailable-partitions",
    "SERVER --describe --under-min-isr-partitions",
    "SERVER --describe --at-min-isr-partitions",
    "SERVER --describe --at-min-isr-partitions --under-replicated-partitions --exclude-internal",
)


def same(made: Pair, given: str) -> Said:
    """What ours prints, which is what stock prints."""
    listed = made.ours("topics", "CONTROLLER --describe --topic t").stdout
    arguments = made.arguments(given.replace("TOPIC-T", re.findall(r"TopicId: (\S+)", listed)[0]))
    stock = made.calls.ask({"tool": "topics", "args": arguments})
    answer = ours("topics", arguments)
    said = Said(answer["exit"], without_ids(answer["stdout"]), answer["stderr"])
    assert said == Said(stock["exit"], without_ids(stock["stdout"]), without_frames(stock["stderr"]))
    return said


def without_ids(text: str) -> str:
    """Topics are created by both tools, with ids of their own."""
    return re.sub(r"TopicId: \S+", "TopicId: ID", text)


def without_places(text: str) -> str:
    """The controller chooses the brokers of partitions at random."""
    return re.sub(r"(Leader|Replicas|Isr): (\d+)(,\d+)?\t", r"\1: N\t", without_ids(text))


@pytest.mark.parametrize("given", READS)
def test_the_same_command_prints_the_same(pair: Pair, given: str) -> None:
    same(pair, given)


CHANGES = (
    ("--create --topic c --partitions 2 --replication-factor 2 --config retention.ms=5 --config segment.ms=7", 0),
    ("--create --topic c", 1),
    ("--create --topic c --if-not-exists", 0),
    ("--create --topic d", 0),
    ("--create --topic e.f", 0),
    ("--create --topic e_f", 1),
    ("--create --topic g --replication-factor 3", 1),
    ("--create --topic g --replica-assignment 101:102,102:101", 0),
    ("--create --topic h --replica-assignment 101:103", 1),
    ("--create --topic a/b", 1),
    ("--create --topic i --config cleanup.policy=compact --config remote.storage.enable=true", 1),
    ("--alter --topic c --partitions 3", 0),
    ("--alter --topic c --partitions 3", 1),
    ("--alter --topic c --partitions 1", 1),
    ("--alter --topic d|g --partitions 4", 0),
    ("--alter --topic c --partitions 5 --replica-assignment 101:102,101:102,101:102,102:101,101:102", 0),
    ("--alter --topic c --partitions 6 --replica-assignment 101:102", 1),
    ("--alter --topic absent --partitions 6", 1),
    ("--alter --topic absent --partitions 6 --if-exists", 0),
    ("--describe --topic [cdeg].*", 0),
    ("--list", 0),
    ("--delete --topic d|e.f", 0),
    ("--delete --topic [cg]", 0),
    ("--delete --topic c", 1),
    ("--delete --topic c --if-exists", 0),
    ("--list", 0),
)  # fmt: skip


def test_the_same_changes_print_the_same(pair: Pair) -> None:
    said = {"stock": [], "ours": [], "CONTROLLER": []}  # type: dict[str, list[tuple[str, Said]]]
    for who, found in said.items():
        where = who if who == "CONTROLLER" else "SERVER"
        for given, _ in CHANGES:
            call = pair.stock if who == "stock" else pair.ours
            answer = call("topics", f"{where} {given}")
            found.append((given, answer._replace(stdout=without_places(answer.stdout))))
            settle(pair)

    assert said["ours"] == said["stock"]
    # Controllers answer themselves what brokers forward to them.
    assert said["CONTROLLER"] == said["ours"]
    assert [(given, answer.exit) for given, answer in said["ours"]] == list(CHANGES)


def test_an_error_is_logged_as_by_stock(pair: Pair) -> None:
    arguments = pair.arguments("SERVER --create --topic t")
    stock = pair.found.stock.tool("topics", *arguments)

    answer = logged(arguments)

    assert (stock.returncode, stock.stdout) == (1, "Error while executing topic command : Topic 't' already exists.\n")
    assert re.sub(r"^\[.*?\]", "[TIME]", stock.stderr) == re.sub(r"^\[.*?\]", "[TIME]", answer)
    assert re.match(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] ERROR org", answer)


def logged(arguments: list[str]) -> str:
    """The whole stderr of our tool."""
    done = subprocess.run([str(BIN / "kafka-topics"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


def test_reports_name_what_a_dead_broker_leaves_behind(pair: Pair, tmp_path: Path) -> None:
    """The last test of the module: broker 102 does not come back."""
    pair.found.brokers[102].kill()

    def is_fenced() -> bool:
        return "Leader: none" in pair.ours("topics", "CONTROLLER --describe --topic u").stdout

    eventually(is_fenced, "broker 102 is fenced")
    settle(pair)
    reports = [
        "--under-replicated-partitions", "--unavailable-partitions", "--under-min-isr-partitions",
        "--at-min-isr-partitions", "--under-replicated-partitions --unavailable-partitions",
    ]  # fmt: skip
    for report in reports:
        assert same(pair, f"SERVER --describe {report}").stdout
        assert pair.ours("topics", f"CONTROLLER --describe {report}") == pair.ours(
            "topics", f"SERVER --describe {report}"
        )
    assert "Elr: 102" in same(pair, "SERVER --describe").stdout

    moves = [{"topic": "u", "partition": 1, "replicas": [101]}]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": moves}))
    done = pair.stock("reassign-partitions", f"SERVER --execute --reassignment-json-file {plan}")
    assert done.exit == 0, done
    settle(pair)

    assert "Adding Replicas: 101\tRemoving Replicas: 102\t" in same(pair, "SERVER --describe --topic u").stdout
    for report in ["", *reports]:
        same(pair, f"SERVER --describe {report}")
        assert pair.ours("topics", f"CONTROLLER --describe {report}") == pair.ours(
            "topics", f"SERVER --describe {report}"
        )
