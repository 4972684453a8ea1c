"""Three nodes with voters in the log (KIP-853) that are stopped, and started at other addresses, all of them."""

from __future__ import annotations

import contextlib
import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import uuid_text
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import format_directory, running, write_properties
from tests.deploy.watched import eventually
from tests.interop.ask import ask

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from records.messages.quorum import DescribeQuorumResponse

NODES = (1, 2, 3)
Topic = DescribeQuorumRequest.TopicData
ASKED = DescribeQuorumRequest(
    topics=(Topic(topic_name=METADATA_TOPIC, partitions=(Topic.PartitionData(partition_index=0),)),)
)


class Nodes:
    """Three nodes under one directory, at consecutive ports."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.port = self.next_port = free_ports_in_a_row(3)

    def port_of(self, node: int) -> int:
        return self.port + node - 1

    def servers(self) -> str:
        return ",".join(f"127.0.0.1:{self.port_of(node)}" for node in NODES)

    def settings(self, node: int) -> dict[str, str | None]:
        return {
            "node_id": str(node), "controller_quorum_voters": None,
            "controller_quorum_bootstrap_servers": self.servers(), "kraft_log_format": "json",
        }  # fmt: skip

    def format(self) -> None:
        voters = ",".join(f"{node}@127.0.0.1:{self.port_of(node)}:{uuid_text(bytes([node]) * 16)}" for node in NODES)
        for node in NODES:
            (self.root / str(node)).mkdir()
            properties = write_properties(self.root / str(node), self.port_of(node), **self.settings(node))
            format_directory(properties, "--initial-controllers", voters)

    def start(self, stack: ExitStack, *nodes: int, **changes: str | None) -> list[subprocess.Popen[bytes]]:
        return [
            stack.enter_context(
                running(self.root / str(node), self.port_of(node), **{**self.settings(node), **changes})
            )
            for node in nodes
        ]

    def described(self) -> DescribeQuorumResponse | None:
        """What the leader says; None while there is none."""
        for node in NODES:
            with contextlib.suppress(OSError):
                found: DescribeQuorumResponse = ask(self.port_of(node), ASKED, 2)
                if found.topics[0].partitions[0].leader_id == node and not found.topics[0].partitions[0].error_code:
                    return found
        return None

    def ports_in_the_log(self) -> dict[int, int]:
        found = self.described()
        return {} if found is None else {each.node_id: each.listeners[0].port for each in found.nodes}

    def high_watermark(self) -> int:
        found = self.described()
        return -1 if found is None else found.topics[0].partitions[0].high_watermark

    def is_at(self, *nodes: int) -> bool:
        """Whether the voter set has these nodes where they are now."""
        known = self.ports_in_the_log()
        return all(known.get(node) == self.port_of(node) for node in nodes)

    def events(self, name: str) -> list[dict[str, object]]:
        lines = [line for node in NODES for line in (self.root / str(node) / "node.log").read_text().splitlines()]
        return [event for event in map(json.loads, lines) if event["event"] == name]


def make_quorum(root: Path) -> Nodes:
    """A quorum that has committed records, and has stopped."""
    nodes = Nodes(root)
    nodes.format()
    with ExitStack() as stack:
        nodes.start(stack, *NODES)
        eventually(lambda: nodes.high_watermark() > 0, "a leader")
        assert nodes.is_at(*NODES)
        assert nodes.events("voter_moved") == []
    nodes.port = free_ports_in_a_row(3)
    return nodes


def test_controllers_that_all_have_new_names_elect_a_leader_and_the_voter_set_heals(tmp_path: Path) -> None:
    nodes = make_quorum(tmp_path)

    with ExitStack() as stack:
        nodes.start(stack, 1, 2)
        eventually(lambda: nodes.is_at(1, 2), "a leader, and the two that run at their new addresses")
        nodes.start(stack, 3)
        eventually(lambda: nodes.is_at(*NODES), "the third one")
        committed = nodes.high_watermark()
        eventually(lambda: nodes.high_watermark() > committed, "further records")

    assert nodes.events("voter_moved")
    # From now on the addresses of the log are right: nothing else is needed for an election.
    with ExitStack() as stack:
        nodes.start(stack, *NODES, controller_quorum_bootstrap_servers="127.0.0.1:1")
        eventually(lambda: nodes.high_watermark() > committed, "a leader without bootstrap servers")


def test_an_override_for_each_voter_does_without_bootstrap_servers(tmp_path: Path) -> None:
    nodes = make_quorum(tmp_path)
    overrides = ",".join(f"{node}@127.0.0.1:{nodes.port_of(node)}" for node in NODES)

    with ExitStack() as stack:
        nodes.start(
            stack, *NODES, controller_quorum_bootstrap_servers="127.0.0.1:1", kraft_quorum_voter_overrides=overrides
        )
        eventually(lambda: nodes.is_at(*NODES), "a leader, and all at their new addresses")

    assert nodes.events("voter_moved")
