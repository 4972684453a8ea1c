"""A node's directory handed from ours to stock and back, and each side's tools on the other's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import OURS, STOCK, Cluster, cluster, eventually, run_tool
from tests.interop.stock import WITH_SHELL
from tests.interop.test_broker_joins import await_brokers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.cluster import NodeProcess
    from tests.interop.stock import Stock

SETTINGS = {"metadata.log.max.record.bytes.between.snapshots": "4000"}


@pytest.mark.parametrize("stock", [WITH_SHELL], indirect=True)
def test_a_stock_node_and_ours_start_from_the_same_directory_in_turn(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [OURS], brokers=1, settings=SETTINGS) as found:
        await_brokers(found, 1)
        create(found, "first")
        hand_over(found, STOCK)
        create(found, "second")
        hand_over(found, OURS)
        create(found, "third")

        def topics() -> list[str]:
            return found.tool("topics", "--bootstrap-server", found.bootstrap, "--list").split()

        # The broker learns of a topic a moment after its creation was answered.
        eventually(lambda: topics() == ["first", "second", "third"], "the topics of all three lives")
        found.controllers[1].stop()
        each_tool_reads_what_the_other_side_wrote(found, found.controllers[1])


def create(found: Cluster, topic: str) -> None:
    found.tool(
        "topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", topic, "--partitions", "20",
        "--replication-factor", "1",
    )  # fmt: skip


def hand_over(found: Cluster, kind: str) -> None:
    """Stop the only controller and start one of the other kind on its directory."""
    node = found.controllers[1]
    node.stop()
    node.kind = kind
    node.start()
    found.await_leader()


def each_tool_reads_what_the_other_side_wrote(found: Cluster, node: NodeProcess) -> None:
    """Our tool and stock's print the same for the same file, whichever side wrote it."""
    partition = node.directory / "__cluster_metadata-0"
    checkpoints = sorted(partition.glob("*.checkpoint"))
    assert checkpoints, "no snapshot was taken"
    for path in [*sorted(partition.glob("*.log")), *checkpoints]:
        stock = found.stock.tool("dump-log", "--cluster-metadata-decoder", "--files", str(path))
        ours = run_tool("kafka-dump-log", "--cluster-metadata-decoder", "--files", str(path))
        assert ours.stdout == stock.stdout
        assert (ours.returncode, stock.returncode) == (0, 0)
    stock = found.stock.tool("storage", "info", "-c", str(node.properties))
    ours = run_tool("kafka-storage", "info", "-c", str(node.properties))
    assert ours.stdout == stock.stdout
    tree = run_tool("kafka-metadata-shell", "-s", str(checkpoints[-1]), "find", "/image/topics/byName")
    assert "/image/topics/byName/second/19" in tree.stdout
    # The stock shell shows the same of our snapshot as ours, but it may answer before it has loaded the file.
    command = ["-s", str(checkpoints[-1]), "find", "/image/topics/byName"]
    eventually(lambda: found.stock.tool("metadata-shell", *command).stdout == tree.stdout, "the stock shell's answer")
