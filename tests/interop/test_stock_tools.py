"""Stock's tools and ours say the same about one running quorum of ours with a stock broker.

Each command line runs with both tools; exit code, stdout and stderr must be equal, but for what `plain` replaces:
ports, offsets, epochs and times, which go on between the two calls. A list of commands that change something ends in
the state in which it began, and runs as a whole with stock's tools, then with ours.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.interop.cluster import OURS, eventually
from tests.interop.dynamic import Dynamic, directory_id, format_node
from tests.interop.tools.stock_calls import StockCalls
from tests.tools.kafka.cases import ours, without_frames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.stock import Stock

# The release whose texts our tools have.
pytestmark = pytest.mark.parametrize("stock", ["4.4.0"], indirect=True, scope="session")
FAST = "default.api.timeout.ms=1500\nrequest.timeout.ms=1000\n"
BROKER = 101


class Said(NamedTuple):
    exit: int
    stdout: str
    stderr: str


class Pair(NamedTuple):
    """A quorum whose only voter is controller 1, controller 2, which observes, and a broker."""

    found: Dynamic
    calls: StockCalls
    names: dict[str, str]

    def arguments(self, given: str) -> list[str]:
        words = given.replace("SERVER", f"--bootstrap-server {self.found.bootstrap}")
        words = words.replace("CONTROLLER", f"--bootstrap-controller 127.0.0.1:{self.found.controllers[1].port}")
        for name, text in self.names.items():
            words = words.replace(name, text)
        return words.split()

    def stock(self, tool: str, given: str) -> Said:
        answer = self.calls.ask({"tool": tool, "args": self.arguments(given)})
        return Said(answer["exit"], self.plain(answer["stdout"]), self.plain(without_frames(answer["stderr"])))

    def ours(self, tool: str, given: str) -> Said:
        answer = ours(tool, self.arguments(given))
        return Said(answer["exit"], self.plain(answer["stdout"]), self.plain(answer["stderr"]))

    def plain(self, text: str) -> str:
        for name, place in self.names.items():
            text = text.replace(place, name)
        for node in (*self.found.controllers.values(), *self.found.brokers.values()):
            text = re.sub(rf"\b{node.port}\b", f"PORT-{node.id}", text)
        text = re.sub(r"(?m)^(LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs): .*", r"\1: N", text)
        text = re.sub(r"(?m)Epoch: \d+$", "Epoch: N", text)
        # Offset, lag, two times of a replica; then the widths of the columns, which follow from them.
        time = r"(?:(-1)|\d+)( ms ago)? *\t"
        text = re.sub(rf"(?m)^(\d+ *\t[^\t]+\t)\d+ *\t\d+ *\t{time}{time}", r"\1N\tN\t\2N\3\t\4N\5\t", text)
        text = re.sub(r"(NodeId|LastFetchTimestamp|LastCaughtUpTimestamp) *\t", r"\1\t", text)
        text = re.sub(r" +\t", "\t", text)
        # A call that was given up names times and an attempt's number; ours gives its reason where stock has a number.
        text = re.sub(r"Call\(callName=(\w+),.*?\) timed out at .*", r"Call(\1) timed out", text)
        return re.sub(r"Cancelled (\w+) request.*", r"Cancelled \1", text)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    root = tmp_path_factory.mktemp("tools")
    found = Dynamic(root, stock)
    with StockCalls(stock) as calls:
        try:
            found.plan([OURS, OURS], 1)
            format_node(found, 1, "--standalone")
            format_node(found, 2, "--no-initial-controllers")
            found.tool("storage", "format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", str(found.brokers[BROKER].properties))
            found.start()
            found.await_leader()
            found.await_caught_up(2)
            (root / "fast").write_text(FAST)
            partitions = [{"topic": topic, "partition": index} for topic in ("t", "u", "absent") for index in range(3)]
            (root / "partitions.json").write_text(json.dumps({"partitions": partitions}))
            names = {
                "FAST": f"--command-config {root / 'fast'}",
                "PARTITIONS": str(root / "partitions.json"),
                "NODE2": str(found.controllers[2].properties),
                "DIRECTORY1": directory_id(found.controllers[1]),
                "DIRECTORY2": directory_id(found.controllers[2]),
            }
            made = Pair(found, calls, names)
            create(made)
            yield made
        finally:
            found.end()


def create(made: Pair) -> None:
    def is_created() -> bool:
        done = [
            made.calls.ask(
                {
                    "tool": "topics",
                    "args": made.arguments(f"SERVER --create --if-not-exists --topic {topic} --partitions 3"),
                }
            )
            for topic in ("t", "u")
        ]
        return all(answer["exit"] == 0 for answer in done)

    eventually(is_created, "the broker serves, and the topics are created")


UNKNOWN = "4kL6g3nShT-eMCtK--X86g"
SAME = [
    *(
        ("metadata-quorum", f"{where} {what}")
        for where in ("SERVER", "CONTROLLER")
        for what in (
            "describe --status",
            "describe --replication",
            "describe --replication --human-readable",
            f"remove-controller -i 7 -d {UNKNOWN}",
            f"remove-controller -i 1 -d {UNKNOWN}",
            "remove-controller -i 1 -d DIRECTORY1",
            "remove-controller -i 2 -d DIRECTORY2",
            f"remove-controller -i 7 -d {UNKNOWN} --unregister",
            f"remove-controller -i 7 -d {UNKNOWN} --unregister --dry-run",
        )
    ),
    ("metadata-quorum", "SERVER --command-config NODE2 add-controller --dry-run"),
    *(
        ("features", f"{where} {what}")
        for where in ("SERVER", "CONTROLLER")
        for what in (
            "describe",
            "upgrade --feature nothing=1",
            "upgrade --feature metadata.version=99",
            "upgrade --feature metadata.version=30 --feature group.version=1",
            "upgrade --feature kraft.version=1",
            "upgrade --feature kraft.version=9",
            "upgrade --feature group.version=0",
            "upgrade --release-version 4.3 --dry-run",
            "upgrade --release-version 4.3",
            "upgrade --metadata 4.3",
            "upgrade --release-version 4.4-IV0",
            "downgrade --release-version 4.2 --dry-run",
            "downgrade --feature metadata.version=29 --dry-run",
            "downgrade --feature metadata.version=27",
            "downgrade --feature metadata.version=7",
            "downgrade --feature metadata.version=27 --unsafe --dry-run",
            "downgrade --feature kraft.version=0",
            "disable --feature nothing",
            "disable --feature metadata.version",
            "disable --feature metadata.version --unsafe",
            "disable --feature group.version --dry-run",
            "disable --feature group.version --feature nothing",
        )
    ),
    ("features", f"SERVER describe --node-id {BROKER}"),
    ("features", "SERVER FAST describe --node-id 7"),
    ("features", "CONTROLLER describe --node-id 1"),
    ("features", "CONTROLLER describe --node-id 2"),
    ("features", "CONTROLLER FAST describe --node-id 7"),
    ("broker-api-versions", "SERVER"),
    ("broker-api-versions", "SERVER FAST"),
    ("cluster", "cluster-id SERVER"),
    ("cluster", "cluster-id CONTROLLER"),
    ("cluster", "list-endpoints SERVER"),
    ("cluster", "list-endpoints SERVER --include-fenced-brokers"),
    ("cluster", "list-endpoints CONTROLLER"),
    ("cluster", "unregister SERVER --id 7"),
    ("cluster", "unregister CONTROLLER --id 7"),
    ("cluster", "unregister CONTROLLER --id -1"),
    ("cluster", "unregister-controller SERVER --id 7"),
    ("cluster", "unregister-controller CONTROLLER --id 7"),
    ("cluster", "unregister-controller CONTROLLER --id 1"),
    ("cluster", "api-versions SERVER"),
    ("cluster", "api-versions CONTROLLER"),
    *(
        ("leader-election", f"SERVER --election-type {kind} {which}")
        for kind in ("preferred", "UNCLEAN")
        for which in (
            "--all-topic-partitions",
            "--topic t --partition 0",
            "--topic t --partition 9",
            "--topic t --partition -1",
            "--topic absent --partition 0",
            "--path-to-json-file PARTITIONS",
        )
    ),
]


@pytest.mark.parametrize(("tool", "given"), SAME, ids=lambda text: text)
def test_the_same_command_prints_the_same(pair: Pair, tool: str, given: str) -> None:
    assert pair.ours(tool, given) == pair.stock(tool, given)


CHANGES = {
    "a feature is disabled and set again": [
        ("features", "SERVER disable --feature share.version"),
        # A broker may show a change some moments later.
        ("features", "CONTROLLER describe"),
        ("features", "CONTROLLER upgrade --feature share.version=2"),
        ("features", "CONTROLLER describe"),
    ],
    "a controller is added and removed": [
        ("metadata-quorum", "CONTROLLER --command-config NODE2 add-controller"),
        ("metadata-quorum", "CONTROLLER describe --status"),
        ("metadata-quorum", "CONTROLLER --command-config NODE2 add-controller"),
        ("metadata-quorum", "CONTROLLER remove-controller -i 2 -d DIRECTORY2"),
        ("metadata-quorum", "CONTROLLER describe --status"),
    ],
}


@pytest.mark.parametrize("steps", CHANGES.values(), ids=CHANGES)
def test_the_same_changes_print_the_same(pair: Pair, steps: list[tuple[str, str]]) -> None:
    by_stock = [pair.stock(*step) for step in steps]
    pair.found.await_leader()
    pair.found.await_caught_up(2)

    by_ours = [pair.ours(*step) for step in steps]

    assert by_ours == by_stock
    assert {said.exit for said in by_ours[:2]} == {0}


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("metadata-quorum", "--bootstrap-controller ADDRESS FAST describe --status"),
        ("metadata-quorum", "--bootstrap-controller ADDRESS FAST describe --replication"),
        ("features", "--bootstrap-controller ADDRESS FAST describe"),
        ("features", "--bootstrap-controller ADDRESS FAST upgrade --feature group.version=1"),
        ("cluster", "cluster-id --bootstrap-controller ADDRESS FAST"),
        ("cluster", "list-endpoints --bootstrap-controller ADDRESS FAST"),
    ],
)
@pytest.mark.parametrize("wrong", ["a broker where a controller is asked for", "a controller where a broker is"])
def test_a_node_of_the_other_kind_is_refused_the_same(pair: Pair, tool: str, given: str, wrong: str) -> None:
    if wrong.startswith("a broker"):
        given = given.replace("ADDRESS", pair.found.bootstrap)
    else:
        address = f"127.0.0.1:{pair.found.controllers[1].port}"
        given = given.replace("--bootstrap-controller ADDRESS", f"--bootstrap-server {address}")

    assert pair.ours(tool, given) == pair.stock(tool, given)


def test_leaders_are_elected_through_a_controller_too(pair: Pair) -> None:
    for which in ("--all-topic-partitions", "--topic t --partition 0", "--path-to-json-file PARTITIONS"):
        found = pair.ours("leader-election", f"CONTROLLER --election-type preferred {which}")

        assert found == pair.ours("leader-election", f"SERVER --election-type preferred {which}")
