"""The main use of the product: stock brokers on our quorum, with traffic, while the active controller is killed."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import OURS, Cluster, cluster, eventually
from tests.interop.stock import OLDER, RELEASES
from tests.interop.traffic import Producer, consume

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock

RECORDS = 5000


@pytest.mark.parametrize("stock", RELEASES, indirect=True)
def test_stock_brokers_keep_working_when_the_leader_of_our_quorum_is_killed(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [OURS, OURS, OURS], brokers=3) as found:
        traffic_survives_the_leader(found)


@pytest.mark.parametrize("older_stock", OLDER, indirect=True)
def test_brokers_of_an_older_release_work_on_our_quorum_at_their_level(tmp_path: Path, older_stock: Stock) -> None:
    with cluster(tmp_path, older_stock, [OURS, OURS, OURS], 3, "--release-version", older_stock.release) as found:
        traffic_survives_the_leader(found)


def traffic_survives_the_leader(found: Cluster) -> None:
    await_brokers(found, 3)
    found.tool(
        "topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", "numbers", "--partitions", "6",
        "--replication-factor", "3", "--config", "min.insync.replicas=2",
    )  # fmt: skip
    producer = Producer(found, "numbers", RECORDS, seconds=12)
    eventually(lambda: producer.sent >= RECORDS // 3, "a third of the records")
    first = found.await_leader()

    found.controllers[first].kill()
    second = found.await_leader()
    eventually(lambda: producer.sent >= RECORDS * 2 // 3, "two thirds of the records")
    found.controllers[first].start()
    code = producer.finish()
    found.tool(
        "topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", "after", "--partitions", "2",
        "--replication-factor", "3",
    )  # fmt: skip

    assert code == 0
    assert second != first
    counts = Counter(consume(found, "numbers", RECORDS))
    assert sorted(counts) == list(range(RECORDS)), "records were lost"
    assert max(counts.values()) == 1, "records were doubled"
    the_logs_are_equal(found)


def await_brokers(found: Cluster, count: int) -> None:
    """Wait until this many brokers are registered and unfenced."""

    def unfenced() -> bool:
        done = found.stock.tool("cluster", "list-endpoints", "--bootstrap-server", found.bootstrap)
        return done.stdout.count("broker") >= count

    eventually(unfenced, f"{count} unfenced brokers", 90)


def the_logs_are_equal(found: Cluster) -> None:
    """Below the high watermark, all three logs are equal as dumped by stock's tool."""
    high_watermark = found.high_watermark()
    eventually(
        lambda: all(end_offset(node.directory) >= high_watermark for node in found.controllers.values()),
        "the logs of all controllers at the high watermark",
    )
    for node in found.controllers.values():
        node.stop() if node.process is not None else None
    dumps = [dumped(found, node.directory, high_watermark) for node in found.controllers.values()]
    assert len(dumps[0]) >= high_watermark // 2
    assert dumps[0] == dumps[1] == dumps[2]


def end_offset(directory: Path) -> int:
    from records.batch import batches

    log = max((directory / "__cluster_metadata-0").glob("*.log"))
    return max((batch.last_offset + 1 for batch in batches(log.read_bytes())), default=0)


def dumped(found: Cluster, directory: Path, below: int) -> list[str]:
    """The lines of the batches and records below an offset."""
    lines = []
    for log in sorted((directory / "__cluster_metadata-0").glob("*.log")):
        for line in found.tool("dump-log", "--cluster-metadata-decoder", "--files", str(log)).splitlines():
            match = re.match(r"baseOffset: (\d+)|\| offset: (\d+)", line)
            if match and int(match[1] or match[2]) < below:
                assert "isvalid: false" not in line
                lines.append(line)
    return lines
