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
from tests.interop.traffic import Producer, consume

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


class Moving(Dynamic):
    """Controllers of ours and of stock, and brokers."""

    def begin(self, kinds: list[str], brokers: int = 1) -> None:
        """All controllers are voters from the start."""
        self.plan(kinds, brokers)
        voters = ",".join(
            f"{node.id}@127.0.0.1:{node.port}:{uuid_text(bytes([node.id]) * 16)}" for node in self.controllers.values()
        )
        for node_id in self.controllers:
            format_node(self, node_id, "--initial-controllers", voters)
        for broker in self.brokers.values():
            self.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(broker.properties))
        self.start()
        await_brokers(self, brokers)

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


def test_all_of_ours_move_under_a_producer_and_stock_brokers_follow_them(tmp_path: Path, stock: Stock) -> None:
    records = 4_000
    found = Moving(tmp_path, stock)
    try:
        found.begin([OURS, OURS, OURS], brokers=2)
        found.tool(
            "topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", "records", "--partitions", "3",
            "--replication-factor", "2", "--config", "min.insync.replicas=1",
        )  # fmt: skip
        producer = Producer(found, "records", records, 40)
        for node in found.controllers.values():
            node.stop()
        found.move()
        begin = time.monotonic()
        for node in found.controllers.values():
            node.start()
        found.await_leader()
        elected_s = time.monotonic() - begin
        ports = {node.id: node.port for node in found.controllers.values()}
        eventually(lambda: found.ports_in_the_log() == ports, "all new ports in the log")
        healed_s = time.monotonic() - begin
        # The addresses of the controllers are in the file of a stock broker: one after the other is restarted with it.
        # One that reaches no controller waits for minutes for its controlled shutdown, so it is killed.
        for broker in found.brokers.values():
            broker.kill()
            broker.start()
            await_brokers(found, 2)
        followed_s = time.monotonic() - begin
        create(found, "after")

        assert producer.finish() == 0
        assert sorted(set(consume(found, "records", records))) == list(range(records))
        assert elected_s < 10
        print(f"elected {elected_s:.1f} s, in the log {healed_s:.1f} s, both brokers {followed_s:.1f} s")
    finally:
        found.end()
