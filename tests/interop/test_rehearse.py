"""Two sites: the loss of the site with two of three voters ends writes, and a rehearsal says so beforehand."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import OURS, STOCK, cluster, eventually
from tests.interop.test_log_repair import kraftctl

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.cluster import Cluster
    from tests.interop.stock import Stock

SITES = {"a": (1, 2), "b": (3,)}


def commits(found: Cluster) -> bool:
    """Whether the high watermark moves within five seconds: a controller commits a NoOpRecord each 500 ms."""
    if not found.leader():
        return False
    before = found.high_watermark()
    time.sleep(5)
    return found.leader() != 0 and found.high_watermark() > before


@pytest.mark.parametrize("kind", [STOCK, OURS])
def test_what_a_site_costs_is_said_before_it_is_lost(tmp_path: Path, stock: Stock, kind: str) -> None:
    with cluster(tmp_path, stock, [kind] * 3, brokers=0, controllers_by=kind) as found:
        # The way out: said beforehand, of the voters of this quorum and with its metadata.
        found.await_leader()
        done = kraftctl(
            "rehearse", "--bootstrap-controller", found.bootstrap_controller, "--voters", "1@a,2@a,3@b",
            "--directory", str(found.controllers[3].directory), "--scenario", "site-a", "--scenario", "site-b",
            "--seeds", "3", "--json",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert (said["survived"], said["not_survived"]) == (["site-b"], ["site-a"])
        assert said["layout"]["kraft_version"] == 0
        assert said["metadata"]["records"] > 0
        assert any("--voters 1@a,2@c,3@b" in text for text in said["advice"])

        # It is as was said: without site b writes go on.
        for node in SITES["b"]:
            found.controllers[node].kill()
        eventually(found.leader, "a leader without site b")
        assert commits(found)
        for node in SITES["b"]:
            found.controllers[node].start()
        eventually(lambda: commits(found), "all three commit")

        # The pain: without site a the voter of site b never leads, and writes end.
        for node in SITES["a"]:
            found.controllers[node].kill()
        time.sleep(8)
        assert found.leader() == 0
        assert not commits(found)
