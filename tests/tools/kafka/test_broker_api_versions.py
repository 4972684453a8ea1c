"""kafka-broker-api-versions on a node of ours, without stock: tests/interop/test_stock_tools.py compares both."""

from __future__ import annotations

from tests.tools.kafka.cases import answer
from tools.kafka.broker_api_versions import versions_text
from tools.kafka.version_calls import Node


def test_the_versions_of_a_controller_are_shown(address: str) -> None:
    found = answer("broker-api-versions", address, "--bootstrap-controller", "ADDRESS")

    lines = found["stdout"].splitlines()
    assert (found["exit"], found["stderr"]) == (0, "")
    assert lines[0] == "127.0.0.1:PORT (id: 1 rack: null isFenced: false) -> ("
    assert "\tDescribeQuorum(55): 0 to 2 [usable: 2]," in lines
    assert "\tProduce(0): UNSUPPORTED," in lines
    assert lines[-1] == ")"


def test_versions_that_a_client_does_not_know_are_said_to_be_unusable() -> None:
    lines = versions_text({0: (14, 15), 1: (0, 3), 4: (0, 7), 18: (0, 9), 999: (0, 0)}).splitlines()

    assert lines[1] == "\tProduce(0): 14 to 15 [unusable: node too new],"
    assert lines[2] == "\tFetch(1): 0 to 3 [unusable: node too old],"
    assert "\tLeaderAndIsr(4): 0 to 7 [unusable: node too new]," in lines
    assert "\tApiVersions(18): 0 to 9 [usable: 5]," in lines
    assert lines[-2] == "\tUNKNOWN(999): 0"


def test_nodes_hash_as_in_java() -> None:
    """As Kafka's own class says, for a node with a rack and one without."""
    assert [Node(1, "localhost", 9092, "r").code(), Node(1, "localhost", 9092).code()] == [
        -1768302536 & 0xFFFFFFFF, -1768306070 & 0xFFFFFFFF,
    ]  # fmt: skip
