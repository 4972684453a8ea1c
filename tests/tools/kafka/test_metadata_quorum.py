"""kafka-metadata-quorum on a running node of ours, without stock: tests/interop/test_stock_tools.py compares both."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from records.messages.quorum import DescribeQuorumResponse
from tests.controller.server.processes import CLUSTER_ID
from tests.tools.kafka.cases import answer
from tools.kafka import cluster_calls, metadata_quorum, quorum_calls


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


# Of each voter its id, the end of its log, and when it was caught up, in ms. The leader is voter 2.
@pytest.mark.parametrize(
    ("voters", "lag", "lag_ms"),
    [
        ([(2, 10, 700), (1, 10, 650)], 0, 0),
        ([(1, 10, 650), (2, 10, 700)], 0, 50),
        ([(1, 7, 400), (2, 10, 700), (3, 9, 650)], 3, 300),
        ([(1, 7, -1), (2, 10, 700)], 3, -1),
        ([(1, 7, 400), (2, 10, -1)], 3, -1),
    ],
)
def test_the_lag_is_that_of_the_first_voter_with_the_lowest_end(
    voters: list[tuple[int, int, int]], lag: int, lag_ms: int,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The stock tool compares the lowest voter with the leader, and not their ends."""
    of_partition: Any = DescribeQuorumResponse.TopicData.PartitionData
    states = [
        of_partition.ReplicaState(replica_id=each, log_end_offset=end, last_caught_up_timestamp=time_ms)
        for each, end, time_ms in voters
    ]
    quorum = of_partition(
        partition_index=0, error_code=0, leader_id=2, leader_epoch=1, high_watermark=9,
        current_voters=tuple(states), observers=(),
    )  # fmt: skip
    monkeypatch.setattr(quorum_calls, "describe_quorum", lambda _: (quorum, {}))
    monkeypatch.setattr(cluster_calls, "describe_cluster", lambda _: SimpleNamespace(cluster_id=CLUSTER_ID))

    metadata_quorum._describe_status(None)

    lines = capsys.readouterr().out.splitlines()
    assert [f"MaxFollowerLag:         {lag}", f"MaxFollowerLagTimeMs:   {lag_ms}"] == lines[4:6]


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
