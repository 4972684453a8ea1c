"""Our views of the metadata over time, and the doctor, on a live quorum of stock Kafka."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING, Any

from tests.interop.cluster import BIN, STOCK, cluster
from tests.interop.test_broker_joins import await_brokers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


def kraftctl(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [str(BIN / "kraftctl"), *arguments, "--json"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_the_past_of_a_topic_of_stock_that_was_deleted_and_created_anew(stock: Stock, tmp_path: Path) -> None:
    with cluster(tmp_path, stock, [STOCK], 1) as found:
        await_brokers(found, 1)
        server = ("--bootstrap-server", found.bootstrap)
        quorum = ("--bootstrap-controller", found.bootstrap_controller)
        watching = subprocess.Popen(
            [str(BIN / "kraftctl"), "watch", *quorum, "--type", "topic", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert watching.stderr is not None
        watching.stderr.readline()
        found.tool("topics", *server, "--create", "--topic", "orders", "--partitions", "2", "--replication-factor", "1")
        found.tool("topics", *server, "--delete", "--topic", "orders")
        found.tool("topics", *server, "--create", "--topic", "orders", "--partitions", "3", "--replication-factor", "1")
        assert watching.stdout is not None
        watched = [json.loads(watching.stdout.readline()) for _ in range(3)]
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=30)
        assert watching.returncode == 0

        controller = next(iter(found.controllers.values()))
        live = kraftctl("history", "--topic", "orders", *quorum)["changes"]
        there = kraftctl("history", "--topic", "orders", "--directory", str(controller.directory))["changes"]
        before = kraftctl("at", str(watched[1]["offset"]), "topics/byName/orders", *quorum)["found"]
        now = kraftctl("at", "end", "topics/byName/orders", *quorum)["found"]
        # Each exit code is 0: nothing is wrong.
        kraftctl("doctor", "-c", str(controller.properties))
        preflight = kraftctl("features", "preflight", found.stock.release, *quorum)

    assert [each["change"] for each in watched] == ["created", "deleted", "created"]
    assert [each for each in live if each["kind"] == "topic"] == watched
    assert there == live
    assert [sorted(each["/image/topics/byName/orders"]) for each in (before, now)] == [
        ["0", "1", "id"],
        ["0", "1", "2", "id"],
    ]
    assert before["/image/topics/byName/orders"]["id"] == watched[0]["topic_id"] != watched[2]["topic_id"]
    assert preflight["blocking"] == []
