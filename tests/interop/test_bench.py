"""`kraftctl bench` on a quorum of stock controllers with a stock broker."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tests.interop.cluster import BIN, STOCK, cluster
from tests.interop.test_broker_joins import await_brokers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


def test_a_stock_quorum_is_measured_and_keeps_no_topic(stock: Stock, tmp_path: Path) -> None:
    with cluster(tmp_path, stock, [STOCK, STOCK, STOCK], 1, controllers_by=STOCK) as found:
        await_brokers(found, 1)

        done = subprocess.run(
            [str(BIN / "kraftctl"), "bench", "--bootstrap-controller", found.bootstrap_controller, "--json",
             "--seconds", "4", "--limit", "10000", "--scratch-topic", "scratch"],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

        assert done.stderr == ""
        said = json.loads(done.stdout)
        high = [figure["name"] for figure in said["figures"] if figure["cause"]]
        assert done.returncode == (2 if high else 0)
        values = {figure["name"]: figure["values"] for figure in said["figures"]}
        followers = [number for number in found.controllers if number != said["leader_id"]]
        # An append waits for its linger time, which is 25 ms in stock.
        assert values["commit of a topic's creation"]["p50"] > 25
        assert values["commit of a topic's deletion"]["p50"] > 25
        assert values["append → commit"]["p50"] > 0
        for number in followers:
            assert values[f"append → node {number} has it"]["p50"] > 0
            assert values[f"lag of node {number}"]["lag"] is not None
        assert found.tool("topics", "--bootstrap-server", found.bootstrap, "--list").split() == []
