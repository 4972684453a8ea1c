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


def test_a_voter_that_is_gone_is_unregistered_by_the_tool_that_the_error_names(address: str) -> None:
    remove = ("--bootstrap-controller", "ADDRESS", "remove-controller", "--controller-id", "77")
    where = ("--controller-directory-id", "MvDxzVmcRsaTz33bUuRU6A", "--unregister")
    dry = answer("metadata-quorum", address, *remove, *where, "--dry-run")
    refused = answer("metadata-quorum", address, *remove, *where)

    assert dry["stdout"] == (
        "DRY RUN of removing KRaft controller 77 with directory id MvDxzVmcRsaTz33bUuRU6A\n"
        "DRY RUN of unregistering KRaft controller 77\n"
    )
    assert refused["exit"] == 1
    assert refused["stderr"].startswith("Failed to remove KRaft voter 77: ")
    assert refused["stderr"].endswith(
        ". To unregister the controller from the cluster, run `kafka-cluster.sh unregister-controller --id 77`.\n"
    )
