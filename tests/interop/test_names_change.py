"""A mixed quorum whose controllers all get other ports: stock elects nobody, and votes for one of ours (KIP-1347)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import uuid_text
from simulations.chaos.ports import free_ports
from tests.interop.ask import ask
from tests.interop.cluster import CLUSTER_ID, OURS, STOCK, eventually
from tests.interop.dynamic import Dynamic, format_node
from tests.interop.test_broker_joins import await_brokers, end_offset, the_logs_are_equal
from tests.interop.test_mixed_quorum import create
from tests.interop.test_troubles import answers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


class Moving(Dynamic):
    """Controllers of ours and of stock, and a broker."""

    def begin(self, kinds: list[str]) -> None:
        """All controllers are voters from the start."""
        self.plan(kinds, 1)
        voters = ",".join(
            f"{node.id}@127.0.0.1:{node.port}:{uuid_text(bytes([node.id]) * 16)}" for node in self.controllers.values()
        )
        for node_id in self.controllers:
            format_node(self, node_id, "--initial-controllers", voters)
        self.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(self.brokers[101].properties))
        self.start()
        await_brokers(self, 1)

    def move(self) -> None:
        """All controllers, which are stopped, have other ports in all configurations."""
        for node, port in zip(self.controllers.values(), free_ports(len(self.controllers)), strict=True):
            node.port = port
        for node in [*self.controllers.values(), *self.brokers.values()]:
            self._write(node)

    def ports_in_the_log(self) -> dict[int, int]:
        """The ports of the voters, as the leader describes them."""
        partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
        topic = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
        answer = ask(self.controllers[self.await_leader()].port, DescribeQuorumRequest(topics=(topic,)), 2)
        return {each.node_id: each.listeners[0].port for each in answer.nodes}


def test_one_of_ours_leads_two_stock_voters_that_find_nobody_at_the_addresses_of_the_log(
    tmp_path: Path, stock: Stock
) -> None:
    found = Moving(tmp_path, stock)
    # The leader writes no records by itself, so that logs that are equal stay equal.
    found.settings = {"metadata.max.idle.interval.ms": "0"}
    try:
        found.begin([OURS, STOCK, STOCK])
        create(found, "before")
        found.brokers[101].stop()
        # Ours stops last, and with the longest log: the stock ones cannot be elected, and vote for no shorter one.
        found.controllers[2].stop()
        found.await_leader()
        directories = [found.controllers[node_id].directory for node_id in (1, 3)]
        eventually(lambda: len({end_offset(each) for each in directories}) == 1, "level logs")
        found.controllers[3].stop()
        found.controllers[1].stop()
        found.move()

        # Stock alone (KIP-1347): two of three voters run, and elect nobody.
        found.controllers[2].start()
        found.controllers[3].start()
        eventually(lambda: answers(found.controllers[2]) and answers(found.controllers[3]), "both answer")
        time.sleep(10)
        assert found.leader() == 0

        found.controllers[1].start()
        eventually(lambda: found.leader() == 1, "ours leads, with the vote of a stock one")
        found.brokers[101].start()
        await_brokers(found, 1)
        create(found, "after")

        ports = {node.id: node.port for node in found.controllers.values()}
        eventually(lambda: found.ports_in_the_log() == ports, "all new ports in the log")
        assert "voter_moved" in found.controllers[1].said()
        the_logs_are_equal(found)
    finally:
        found.end()
