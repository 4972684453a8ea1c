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
