"""kafka-cluster on a running node of ours, without stock: tests/interop/test_stock_tools.py compares both."""

from __future__ import annotations

from tests.controller.server.processes import CLUSTER_ID
from tests.tools.kafka.cases import answer


def test_cluster_names_the_id_and_the_controllers(address: str) -> None:
    cluster_id = answer("cluster", address, "cluster-id", "-C", "ADDRESS")
    endpoints = answer("cluster", address, "list-endpoints", "-C", "ADDRESS")

    assert cluster_id == {"stdout": f"Cluster ID: {CLUSTER_ID}\n", "stderr": "", "exit": 0}
    assert [line.split() for line in endpoints["stdout"].splitlines()] == [
        ["ID", "HOST", "PORT", "RACK", "ENDPOINT_TYPE"], ["1", "127.0.0.1", "PORT", "null", "controller"],
    ]  # fmt: skip


def test_cluster_shows_the_versions_of_a_controller_as_the_tool_for_brokers_does(address: str) -> None:
    found = answer("cluster", address, "api-versions", "-C", "ADDRESS")

    assert found == answer("broker-api-versions", address, "--bootstrap-controller", "ADDRESS")
    assert "\tUnregisterController(94): 0 [usable: 0]" in found["stdout"].splitlines()


def test_cluster_unregisters_a_controller_or_says_why_not(address: str) -> None:
    unknown = answer("cluster", address, "unregister-controller", "-C", "ADDRESS", "--id", "77")
    itself = answer("cluster", address, "unregister-controller", "-C", "ADDRESS", "--id", "1")

    assert (unknown["exit"], itself["exit"]) == (1, 1)
    assert "ControllerIdNotRegisteredException: Controller ID 77 is not" in unknown["stderr"]
    assert "InvalidRequestException: Controller cannot unregister itself while it is active." in itself["stderr"]
