"""`kraftctl topic alter` with stock brokers, on a quorum of ours and on stock's; the stock tool shows the result."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import BIN, OURS, STOCK, cluster
from tests.interop.test_broker_joins import await_brokers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


@pytest.mark.parametrize("kind", [OURS, STOCK])
def test_partitions_replicas_and_configs_are_as_the_stock_tool_shows_them(
    kind: str, stock: Stock, tmp_path: Path
) -> None:
    with cluster(tmp_path, stock, [kind], 2) as found:
        await_brokers(found, 2)
        server = ("--bootstrap-server", found.bootstrap)
        found.tool("topics", *server, "--create", "--topic", "t", "--partitions", "2", "--replication-factor", "1")
        sent = "".join(f"{number}\n" for number in range(200))
        found.tool("console-producer", *server, "--topic", "t", stdin=sent)

        done = subprocess.run(
            [str(BIN / "kraftctl"), "topic", "alter", "t", "--bootstrap-controller", found.bootstrap_controller,
             "--partitions", "4", "--replication-factor", "2", "--set", "retention.ms=86400000", "--timeout", "60"],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-1] == "4 of 4 partitions have moved"
        shown = found.tool("topics", *server, "--describe", "--topic", "t")
        assert "PartitionCount: 4" in shown
        assert "ReplicationFactor: 2" in shown
        assert "retention.ms=86400000" in shown
        in_sync = [line.split("Isr: ")[1].split()[0] for line in shown.splitlines() if "Isr: " in line]
        assert [sorted(isr.split(",")) for isr in in_sync] == [["101", "102"]] * 4
        received = found.tool(
            "console-consumer", *server, "--topic", "t", "--from-beginning", "--max-messages", "200",
        )  # fmt: skip
        assert sorted(received.split(), key=int) == sent.split()
