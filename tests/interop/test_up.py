"""`kraftctl up --brokers`: a stock broker beside the quorum serves clients through the death of the leader."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports_in_a_row
from tests.interop.stock import Stock
from tests.tools.kraftctl.run.test_up import next_line, process_of, up

if TYPE_CHECKING:
    from pathlib import Path


def test_topics_are_created_through_a_stock_broker_after_a_failover(tmp_path: Path) -> None:
    port = free_ports_in_a_row(3)
    directory = tmp_path / "data"
    with up(directory, port, "--brokers", "1") as process:
        broker = next_line(process.stdout, r"broker: (127\.0\.0\.1:\d+)")[1]
        leader = int(next_line(process.stdout, r"leader: node (\d)")[1])
        create = ("topics", "--bootstrap-server", broker, "--create", "--if-not-exists", "--topic")
        assert Stock(quick=True).tool(*create, "before").stdout.strip() == "Created topic before."

        os.kill(process_of(directory / f"node-{leader}.properties"), signal.SIGKILL)

        found = next_line(process.stderr, r"leads epoch \d+ after (\d+) ms, and its first commit came after (\d+) ms")
        assert int(found[1]) <= int(found[2])
        assert Stock(quick=True).tool(*create, "after").stdout.strip() == "Created topic after."
    assert re.search(r"shut down completed|shutting down", (directory / "broker-101.log").read_text(), re.IGNORECASE)
