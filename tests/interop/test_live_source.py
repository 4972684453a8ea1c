"""The pipeline's source reads a live quorum of stock nodes, as an observer does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from pipeline.source.reading import Wanted
from tests.interop.cluster import STOCK, cluster, eventually
from tests.interop.test_broker_joins import await_brokers
from tests.interop.test_files_both_ways import create
from tests.pipeline.logs import NAMES, fetched, read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


def test_a_live_stock_quorum_and_its_directory_give_the_same_rows(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [STOCK], brokers=1) as found:
        await_brokers(found, 1)
        create(found, "orders")

        options = {"quorum": f"127.0.0.1:{found.controllers[1].port}"}
        whole, end = fetched(options, {}, Wanted())
        cluster_id = whole["cluster"][0].as_py()
        eventually(lambda: fetched(options, {}, Wanted())[1] > end, "no record more came")
        later, _ = fetched(options, {cluster_id: {"offset": end, "epoch": whole["epoch"][-1].as_py()}}, Wanted())

        stored = read(found.controllers[1].directory, names=NAMES)
    stored = stored.filter(pc.equal(stored["origin"], "log"))
    from_log = whole.filter(pc.equal(whole["origin"], "log"))
    assert from_log.to_pylist() == stored.filter(pc.less(stored["offset"], end)).to_pylist()[-len(from_log) :]
    assert "PartitionRecord" in from_log["name"].to_pylist()
    assert later["offset"][0].as_py() == end
