"""A stock controller as one of three voters beside two of ours: it follows, it leads, and ours follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interop.ask import describe_quorum
from tests.interop.cluster import OURS, STOCK, Cluster, cluster, eventually
from tests.interop.stock import RELEASES
from tests.interop.test_broker_joins import await_brokers, the_logs_are_equal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock

# The timeouts after which one of ours starts an election: without a known leader, or without a response of its leader.
PATIENCE = (
    "controller.quorum.election.timeout.ms", "controller.quorum.fetch.timeout.ms", "kraft.first.election.timeout.ms",
)  # fmt: skip


@pytest.mark.parametrize("stock", RELEASES, indirect=True)
def test_a_stock_controller_follows_ours_and_leads_them(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [OURS, OURS, STOCK], brokers=1) as found:
        await_brokers(found, 1)
        # It follows: its log has the records that one of ours wrote.
        let_ours_lead(found)
        create(found, "written-by-ours")
        all_are_level(found)

        # It leads: ours wait longer before they start an election.
        let_the_stock_one_lead(found)
        create(found, "written-by-stock")
        all_are_level(found)

        # It hands over leadership when it stops.
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


def let_ours_lead(found: Cluster) -> None:
    """Stop the stock controller, if it leads, for as long as it takes."""
    if found.await_leader() == 3:
        found.controllers[3].stop()
        assert found.await_leader() in {1, 2}
        found.controllers[3].start()
        all_are_level(found)


def let_the_stock_one_lead(found: Cluster) -> None:
    """Restart all three, ours with timeouts so long that the stock one requests votes first.

    The one of ours that does not lead stops first: then the stock one is elected next, and has the longest log.
    """
    led = found.await_leader()
    for number in (3 - led, led, 3):
        found.controllers[number].stop()
    for number in (1, 2):
        with found.controllers[number].properties.open("a") as file:
            file.write("".join(f"{key}=60000\n" for key in PATIENCE) + "kraft.pre.vote.on.lost.connection=false\n")
    found.controllers[3].start()
    eventually(lambda: describe_quorum(found.controllers[3].port), "the stock controller listens")
    found.controllers[3 - led].start()
    eventually(lambda: found.leader() == 3, "the stock controller leads")
    found.controllers[led].start()
    all_are_level(found)


def all_are_level(found: Cluster) -> None:
    """All three voters have all committed records."""

    def level() -> bool:
        quorum = describe_quorum(found.controllers[found.leader()].port)
        ends = [voter.log_end_offset for voter in quorum.current_voters]
        return quorum.error_code == 0 and len(ends) == 3 and min(ends) >= quorum.high_watermark - 1

    eventually(level, "three level voters")
