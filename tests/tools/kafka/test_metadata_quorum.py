"""kafka-metadata-quorum on a running node of ours, without stock: tests/interop/test_stock_tools.py compares both."""

from __future__ import annotations

import re

from tests.controller.server.processes import CLUSTER_ID
from tests.tools.kafka.cases import answer


def test_metadata_quorum_shows_the_leader_and_its_followers(address: str) -> None:
    status = answer("metadata-quorum", address, "--bootstrap-controller", "ADDRESS", "describe", "--status")
    rows = answer("metadata-quorum", address, "--bootstrap-controller", "ADDRESS", "describe", "--replication")

    assert re.sub(r"HighWatermark: .*", "HighWatermark: N", status["stdout"]) == (
        f"ClusterId:              {CLUSTER_ID}\nLeaderId:               1\nLeaderEpoch:            1\n"
        "HighWatermark: N\nMaxFollowerLag:         0\nMaxFollowerLagTimeMs:   0\n"
        'CurrentVoters:          [{"id": 1, "endpoints": ["CONTROLLER://127.0.0.1:PORT"]}]\n'
        "CurrentObservers:       []\n"
    )
    (leader,) = [[cell.strip() for cell in line.split("\t")] for line in rows["stdout"].splitlines()[1:]]
    assert [*leader[:2], *leader[3:]] == ["1", "A" * 22, "0", "TIME", "TIME", "Leader", ""]
    assert int(leader[2]) > 0
