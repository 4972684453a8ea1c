"""`kraftctl quorum hash` on quorums of ours and of stock: a stock voter and a stock broker by their directories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.interop.cluster import OURS, STOCK, Cluster, cluster
from tests.interop.test_broker_joins import await_brokers
from tests.interop.test_mixed_quorum import all_are_level, create, let_ours_lead, let_the_stock_one_lead
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.interop.stock import Stock


def compared(
    found: Cluster, capsys: pytest.CaptureFixture[str], *directories: Path
) -> tuple[int, dict[str, dict[str, Any]]]:
    capsys.readouterr()
    options = [option for directory in directories for option in ("--directory", str(directory))]
    code = main(["quorum", "hash", "--bootstrap-controller", found.bootstrap_controller, "--json", *options])
    return code, {row["replica"]: row for row in json.loads(capsys.readouterr().out)["replicas"]}


def test_replicas_of_ours_and_of_stock_are_equal_whoever_leads(
    tmp_path: Path, stock: Stock, capsys: pytest.CaptureFixture[str]
) -> None:
    with cluster(tmp_path, stock, [OURS, OURS, STOCK], brokers=1) as found:
        await_brokers(found, 1)
        directories = [node.directory for node in (*found.controllers.values(), *found.brokers.values())]
        for let_lead, topic in ((let_ours_lead, "by-ours"), (let_the_stock_one_lead, "by-stock")):
            let_lead(found)
            create(found, topic)
            all_are_level(found)

            code, rows = compared(found, capsys)
            assert code == 1
            assert all("--directory" in row["reason"] for row in rows.values() if row["result"] != "equal")

            code, rows = compared(found, capsys, *directories)
            assert code == 0, rows
            assert len(rows) == 1 + len(directories)
            assert len({row["log"] for row in rows.values()}) == 1
            assert len({row["state"] for row in rows.values()}) == 1
