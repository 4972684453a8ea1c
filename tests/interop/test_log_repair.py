"""`kraftctl log truncate` starts a stock controller again that stops at one record at each start (KAFKA-14275)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.brokers import FenceBrokerRecord
from tests.interop.cluster import STOCK, cluster, eventually, run_tool

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.interop.stock import Stock

SEGMENT = "__cluster_metadata-0/00000000000000000000.log"


def kraftctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_tool("kraftctl", *arguments)


def test_stock_starts_after_the_record_that_stopped_it_was_removed(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [STOCK], brokers=0, controllers_by=STOCK) as found:
        node = found.controllers[1]
        found.await_leader()
        node.stop()
        sound = json.loads(kraftctl("log", "replay", str(node.directory), "--json").stdout)
        value = encode_record(FenceBrokerRecord(id=4711, epoch=1), 0)
        with (node.directory / SEGMENT).open("ab") as log:
            position = log.tell()
            log.write(
                build_batch(
                    [value], base_offset=sound["end_offset"], leader_epoch=sound["epoch"],
                    timestamp_ms=1_700_000_000_000,
                )
            )  # fmt: skip

        # The pain: the node ends at each start, and names neither the file nor a remedy.
        for _ in range(2):
            node.start()
            eventually(lambda: node.process is not None and node.process.poll() is not None, "the node to end")
            node.kill()
        assert "Tried to fence broker 4711, but that broker was not registered." in node.said()

        # The way out.
        seen = kraftctl("log", "replay", str(node.directory), "--json")
        mended = kraftctl("log", "truncate", str(node.directory), "--json")

        fault = json.loads(seen.stdout)["fault"]
        assert (seen.returncode, fault["position"], fault["offset"]) == (2, position, sound["end_offset"])
        assert (mended.returncode, json.loads(mended.stdout)["end_offset"]) == (0, sound["end_offset"])
        node.start()
        found.await_leader()
        assert found.high_watermark() >= sound["end_offset"]
