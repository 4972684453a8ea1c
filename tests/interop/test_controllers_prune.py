"""A registered controller that is gone blocks upgrades of stock Kafka; `kraftctl controllers prune` ends that."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from records.features.levels import find_metadata_version
from records.messages.controllers import ControllerRegistrationRequest
from tests.interop.cluster import OURS, STOCK, cluster, eventually
from tests.interop.kraftctl import kraftctl
from tools.client.connection import Connection

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.cluster import Cluster
    from tests.interop.stock import Stock

GHOST = 77
QUORUMS = {"stock": [STOCK, STOCK, STOCK], "ours": [OURS], "both": [OURS, STOCK, STOCK]}


def register(found: Cluster, node_id: int, highest: int) -> None:
    """Register a controller as Kafka 4.0 does, by the same request; it is started nowhere."""
    listener = ControllerRegistrationRequest.Listener(
        name="CONTROLLER", host="gone.example", port=9093, security_protocol=0
    )
    feature = ControllerRegistrationRequest.Feature(
        name="metadata.version", min_supported_version=7, max_supported_version=highest
    )
    request = ControllerRegistrationRequest(
        controller_id=node_id, incarnation_id=os.urandom(16), zk_migration_ready=False, listeners=(listener,),
        features=(feature,),
    )  # fmt: skip
    with Connection("127.0.0.1", found.controllers[found.await_leader()].port, "test") as connection:
        assert connection.ask(request).error_code == 0


@pytest.mark.parametrize("name", QUORUMS)
def test_a_ghost_blocks_an_upgrade_until_it_is_pruned(tmp_path: Path, stock: Stock, name: str) -> None:
    with cluster(tmp_path, stock, QUORUMS[name], 0, "--release-version", "4.0") as found:
        upgrade = ("--bootstrap-controller", found.bootstrap_controller, "upgrade", "--release-version", stock.release)
        eventually(lambda: stock.tool("features", *upgrade, "--dry-run").returncode == 0, "all have registered")
        register(found, GHOST, find_metadata_version("4.0").level)

        # The pain: one id that nobody knows any more, and stock 4.3 has no way to remove it.
        blocked = stock.tool("features", *upgrade)
        preflight = kraftctl(found, "features", "preflight", stock.release)
        planned = kraftctl(found, "controllers", "prune", "--dry-run", "--json")
        voter = kraftctl(found, "controllers", "prune", "--id", "1", "--yes")
        unknown = kraftctl(found, "controllers", "prune", "--id", "78", "--yes")
        pruned = kraftctl(found, "controllers", "prune", "--yes")
        again = kraftctl(found, "controllers", "prune", "--yes")
        upgraded = stock.tool("features", *upgrade)

        # Each node replays the record again at its next start, from the log.
        for node in found.controllers.values():
            node.stop()
            node.start()
            found.await_leader()
        eventually(
            lambda: kraftctl(found, "status").returncode == 0, "every voter fetches after its restart"
        )  # fmt: skip
        described = found.tool("features", "--bootstrap-controller", found.bootstrap_controller, "describe")

    assert blocked.returncode == 1
    assert f"Controller {GHOST} does not support this feature." in blocked.stdout + blocked.stderr
    assert preflight.returncode == 2
    assert f"kraftctl controllers prune --id {GHOST}" in preflight.stdout
    (ghost,) = json.loads(planned.stdout)["ghosts"]
    assert (ghost["node_id"], ghost["supported"]) == (GHOST, {"metadata.version": [7, 25]})
    assert ghost["blocks"]["metadata.version"][0] == 26
    assert ghost["listeners"] == ["CONTROLLER://gone.example:9093"]
    assert (planned.returncode, voter.returncode, unknown.returncode) == (2, 1, 1)
    assert "controller 1 is a voter" in voter.stderr
    assert "controller 78 is not registered" in unknown.stderr
    assert pruned.returncode == 0, pruned.stderr
    assert f"controller {GHOST}: its registration blocks no level any more" in pruned.stdout
    assert (again.returncode, "since an earlier prune" in again.stdout) == (0, True)
    assert upgraded.returncode == 0, upgraded.stderr
    assert re.search(rf"Feature: metadata\.version\s.*FinalizedVersionLevel: {stock.release}-IV\d\s", described)


def test_a_live_observer_is_refused_and_a_controller_that_returns_registers_anew(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [STOCK, OURS, STOCK], 0) as found:
        eventually(lambda: kraftctl(found, "controllers", "prune", "--dry-run").returncode == 0, "no ghosts")
        # A registration in the name of a live voter is replaced by its own.
        register(found, 2, 25)
        eventually(
            lambda: kraftctl(found, "features", "preflight", stock.release).returncode == 0, "it registers again"
        )
