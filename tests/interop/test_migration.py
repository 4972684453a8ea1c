"""The commands of docs/migration.md: a quorum of stock Kafka under load becomes one of ours, node by node, and back.

Host names, paths and ids are replaced by those of the test, and a `systemctl` line stops or starts a process.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import BIN, CLUSTER_ID, OURS, STOCK, Cluster, cluster, eventually
from tests.interop.dynamic import Dynamic, directory_id
from tests.interop.test_broker_joins import await_brokers, dumped, end_offset
from tests.interop.traffic import Producer
from tests.interop.writer import SESSION, Writer

if TYPE_CHECKING:
    from tests.interop.stock import Stock

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "migration.md"
BEFORE, REPLACE, BACK, RAISE, EMPTY = (
    "What you need", "Replace one controller", "Go back", "Raise metadata.version", "With an empty directory",
)  # fmt: skip
SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "20000"}
RECORDS = 6000


def sections() -> dict[str, list[str]]:
    """Heading -> its commands, a line each, in order."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("    "):
            found.setdefault(heading, []).append(line.strip())
    return found


SECTIONS = sections()


class Operator:
    """Runs the commands of the page for one controller of a cluster."""

    def __init__(self, found: Cluster) -> None:
        self.found = found
        tools = found.root / "bin"
        tools.mkdir()
        for tool in ("metadata-quorum", "features"):
            script = tools / f"kafka-{tool}.sh"
            script.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.interop.stock tool {tool} "$@"\n')
            script.chmod(0o755)
        path = f"{tools}:{BIN}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}

    def follow(self, section: str, node_id: int = 1, **ids: str) -> str:
        """Run all commands of a section; what they printed. ids: what stands for a word in capitals."""
        return "".join(self.run(line, node_id, **ids) for line in SECTIONS[section])

    def run(self, line: str, node_id: int = 1, **ids: str) -> str:
        if line.startswith("systemctl "):
            self._systemctl(line, node_id)
            return ""
        done = subprocess.run(
            ["bash", "-euc", self._here(line, node_id, ids)], env=self.environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _here(self, line: str, node_id: int, ids: dict[str, str]) -> str:
        """The command with the names of this test."""
        node = self.found.controllers[node_id]
        line = line.replace("c1:9093,c2:9093,c3:9093", self.found.bootstrap_controller)
        line = line.replace("/etc/kafka/controller.properties", str(node.properties))
        line = line.replace("/var/lib/kafka/controller", str(node.directory))
        line = re.sub(r"(--node|--controller-id) 3\b", rf"\1 {node_id}", line)
        for word, value in ids.items():
            line = line.replace(word, value)
        return line

    def _systemctl(self, line: str, node_id: int) -> None:
        _, verb, unit = line.split()
        kind = {"kafka-controller": STOCK, "kraft-controller": OURS}[unit]
        node = self.found.controllers[node_id]
        if verb == "stop":
            assert node.kind == kind, f"{unit} does not run on node {node_id}"
            node.stop()
            shutil.rmtree(f"{node.directory}.backup", ignore_errors=True)
        else:
            assert verb == "start"
            node.kind = kind
            node.start()


def followers_first(found: Cluster) -> list[int]:
    """All controllers, the leader last."""
    leader = found.await_leader()
    return sorted(found.controllers, key=lambda node_id: node_id == leader)


def kinds(found: Cluster) -> list[str]:
    return [node.kind for node in found.controllers.values()]


def levels(described: str) -> dict[str, str]:
    """Feature -> its finalized level, from `kafka-features describe`."""
    return dict(re.findall(r"Feature: (\S+).*?FinalizedVersionLevel: (\S+)", described))


def the_snapshot_alone_is_kept(operator: Operator, node_id: int) -> None:
    """Restart a controller as the other kind, with nothing in its log but the newest snapshot of the kind before.

    The other two have every committed record. No operator does this; here it proves that the snapshot is loaded.
    """
    node = operator.found.controllers[node_id]
    stop, start = {
        STOCK: ("systemctl stop kafka-controller", "systemctl start kraft-controller"),
        OURS: ("systemctl stop kraft-controller", "systemctl start kafka-controller"),
    }[node.kind]
    operator.run(stop, node_id)
    partition = node.directory / "__cluster_metadata-0"
    snapshots = sorted(partition.glob("*.checkpoint"))
    assert snapshots[-1].name > f"{1:020}", "no snapshot was taken but the one of the format"
    for path in [*partition.glob("0*.*"), *partition.glob("*-checkpoint")]:
        if path != snapshots[-1]:
            path.unlink()
    operator.run(start, node_id)
    wait = next(line for line in SECTIONS[REPLACE] if line.startswith("kraftctl wait"))
    operator.run(wait, node_id)
    assert end_offset(node.directory) > int(snapshots[-1].name.split("-")[0])


def the_logs_agree(found: Cluster) -> None:
    """Below the high watermark, the logs of all controllers are equal from where the shortest begins.

    A log that begins at a snapshot has its batches at other positions of the file.
    """
    high_watermark = found.high_watermark()
    directories = [node.directory for node in found.controllers.values()]
    eventually(lambda: min(map(end_offset, directories)) >= high_watermark, "all logs at the high watermark")
    for node in found.controllers.values():
        node.stop()
    dumps = sorted((without_positions(dumped(found, each, high_watermark)) for each in directories), key=len)
    assert dumps[0]
    for dump in dumps[1:]:
        assert dump[-len(dumps[0]) :] == dumps[0]


def without_positions(lines: list[str]) -> list[str]:
    return [re.sub(r" position: \d+", "", line) for line in lines]


def consumed(found: Cluster, topic: str, records: int) -> list[int]:
    """All numbers in partition 0 of the topic, read without a group: its offsets may be on the writer's broker."""
    text = found.tool(
        "console-consumer", "--bootstrap-server", found.bootstrap, "--topic", topic, "--partition", "0", "--offset",
        "earliest", "--max-messages", str(records + 1000), "--timeout-ms", "10000",
    )  # fmt: skip
    return [int(line) for line in text.split()]


def with_an_empty_directory(operator: Operator, node_id: int) -> None:
    """Follow the section with a directory that has gone; the new one is added when it has caught up."""
    assert isinstance(operator.found, Dynamic)
    node = operator.found.controllers[node_id]
    lost = directory_id(node)
    for line in SECTIONS[EMPTY]:
        if " format " in line:
            shutil.rmtree(node.directory)
        elif " add-controller" in line:
            operator.found.await_caught_up(node_id)
        operator.run(line, node_id, DIRECTORY_ID=lost, CLUSTER_ID=CLUSTER_ID)


@pytest.mark.parametrize("stock", ["4.4.0"], indirect=True)
def test_a_static_quorum_of_stock_becomes_one_of_ours_and_back_under_load(tmp_path: Path, stock: Stock) -> None:
    settings = {**SNAPSHOTS, **SESSION, "kraft.log.format": "json"}
    release = ("--release-version", "4.2")
    with cluster(tmp_path, stock, [STOCK] * 3, 1, *release, settings=settings, controllers_by=STOCK) as found:
        operator = Operator(found)
        await_brokers(found, 1)
        found.tool("topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", "numbers")
        with Writer(found) as writer:
            producer = Producer(found, "numbers", RECORDS, seconds=75)
            for node_id in found.controllers:
                operator.follow(BEFORE, node_id)
            first, second, third = followers_first(found)
            operator.follow(REPLACE, first)
            operator.follow(REPLACE, second)
            writer.await_progress("topics are created by a mixed quorum", 50)
            operator.follow(BACK, second)
            # Stock loads a snapshot of ours, and ours one of stock.
            the_snapshot_alone_is_kept(operator, first)
            the_snapshot_alone_is_kept(operator, second)
            described = operator.follow(RAISE)
            assert levels(described)["metadata.version"] == "4.4-IV2"
            assert levels(described)["kraft.version"] == "1"
            operator.follow(REPLACE, first)
            operator.follow(REPLACE, third)
            assert kinds(found) == [OURS] * 3
            writer.await_progress("topics are created by ours", 200)
            for node_id in followers_first(found):
                operator.follow(BACK, node_id)
        assert writer.missing() == []
        assert producer.finish() == 0
        assert sorted(consumed(found, "numbers", RECORDS)) == list(range(RECORDS))
        the_logs_agree(found)


@pytest.mark.parametrize("stock", ["4.4.0"], indirect=True)
def test_a_dynamic_quorum_of_stock_becomes_one_of_ours_and_back_under_load(tmp_path: Path, stock: Stock) -> None:
    found = Dynamic(tmp_path, stock, settings={**SNAPSHOTS, **SESSION})
    with contextlib.closing(found):
        found.begin([STOCK] * 3)
        for node_id in (2, 3):
            found.await_caught_up(node_id)
            assert found.quorum("add-controller", config=node_id).returncode == 0
        operator = Operator(found)
        with Writer(found) as writer:
            first, second, third = followers_first(found)
            operator.follow(REPLACE, first)
            operator.follow(BACK, first)
            operator.follow(REPLACE, second)
            with_an_empty_directory(operator, first)
            operator.follow(REPLACE, third)
            assert kinds(found) == [OURS] * 3
            assert found.voters_now() == [1, 2, 3]
            for node_id in followers_first(found):
                operator.follow(BACK, node_id)
            assert found.voters_now() == [1, 2, 3]
        assert writer.missing() == []
        the_logs_agree(found)
