"""A stock controller as one of three voters beside two of ours: it follows, it leads, and ours follow it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.interop.ask import describe_quorum
from tests.interop.cluster import OURS, STOCK, Cluster, cluster, eventually
from tests.interop.test_broker_joins import await_brokers, the_logs_are_equal

if TYPE_CHECKING:
    from tests.interop.stock import Stock


def test_a_stock_controller_follows_ours_and_leads_them(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [OURS, OURS, STOCK], brokers=1) as found:
        await_brokers(found, 1)
        # It follows: what one of ours wrote is in its log.
        make_the_leader(found, 1)
        create(found, "written-by-ours")
        all_are_level(found)

        # It leads: of three voters one of ours is down, the other lags behind the stock one's log or votes for it.
        make_the_leader(found, 3)
        create(found, "written-by-stock")
        all_are_level(found)

        # And gives it back.
        found.controllers[3].stop()
        assert found.await_leader() in {1, 2}
        create(found, "written-by-ours-again")
        found.controllers[3].start()
        all_are_level(found)

        names = found.tool("topics", "--bootstrap-server", found.bootstrap, "--list").split()
        assert names == ["written-by-ours", "written-by-ours-again", "written-by-stock"]
        the_logs_are_equal(found)


def create(found: Cluster, topic: str) -> None:
    found.tool(
        "topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", topic, "--partitions", "3",
        "--replication-factor", "1",
    )  # fmt: skip


def make_the_leader(found: Cluster, wanted: int) -> None:
    """Restart whoever else leads until the wanted one does."""
    for _ in range(20):
        leader = found.await_leader()
        if leader == wanted:
            return
        others = [node for number, node in found.controllers.items() if number not in {wanted, leader}]
        # With the third one away as well, the wanted one would be alone: so only the leader goes.
        found.controllers[leader].stop()
        eventually(lambda: found.leader() not in {0, leader}, "another leader")
        found.controllers[leader].start()
        all_are_level(found)
        if found.leader() in {node.id for node in others}:
            continue
    raise AssertionError(f"node {wanted} never became the leader")


def all_are_level(found: Cluster) -> None:
    """All three voters have what is committed."""

    def level() -> bool:
        quorum = describe_quorum(found.controllers[found.leader()].port)
        ends = [voter.log_end_offset for voter in quorum.current_voters]
        return quorum.error_code == 0 and len(ends) == 3 and min(ends) >= quorum.high_watermark - 1

    eventually(level, "three level voters")
