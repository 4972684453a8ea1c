"""The tools on a running node of ours, without stock: `tests/interop/test_stock_tools.py` compares both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.controller.server.processes import CLUSTER_ID
from tests.tools.kafka.cases import ours
from tools.kafka.broker_api_versions import versions_text
from tools.kafka.version_calls import Node

if TYPE_CHECKING:
    from tests.tools.kafka.cases import Case


def said(tool: str, address: str, *arguments: str) -> Case:
    found = ours(tool, [word.replace("ADDRESS", address) for word in arguments])
    for name in ("stdout", "stderr"):
        found[name] = re.sub(r"\d{13}", "TIME", found[name]).replace(address.rpartition(":")[2], "PORT")
    return found


def test_metadata_quorum_shows_the_leader_and_its_followers(address: str) -> None:
    status = said("metadata-quorum", address, "--bootstrap-controller", "ADDRESS", "describe", "--status")
    rows = said("metadata-quorum", address, "--bootstrap-controller", "ADDRESS", "describe", "--replication")

    assert re.sub(r"HighWatermark: .*", "HighWatermark: N", status["stdout"]) == (
        f"ClusterId:              {CLUSTER_ID}\nLeaderId:               1\nLeaderEpoch:            1\n"
        "HighWatermark: N\nMaxFollowerLag:         0\nMaxFollowerLagTimeMs:   0\n"
        'CurrentVoters:          [{"id": 1, "endpoints": ["CONTROLLER://127.0.0.1:PORT"]}]\n'
        "CurrentObservers:       []\n"
    )
    (leader,) = [[cell.strip() for cell in line.split("\t")] for line in rows["stdout"].splitlines()[1:]]
    assert [*leader[:2], *leader[3:]] == ["1", "A" * 22, "0", "TIME", "TIME", "Leader", ""]
    assert int(leader[2]) > 0


def test_features_are_shown_and_a_change_that_is_refused_counts(address: str) -> None:
    shown = said("features", address, "--bootstrap-controller", "ADDRESS", "describe")
    refused = said("features", address, "--bootstrap-controller", "ADDRESS", "upgrade", "--feature", "nothing=1")

    assert re.sub(r" +", " ", shown["stdout"].splitlines()[3]).startswith(
        "Feature: metadata.version SupportedMinVersion: 3.3-IV3 SupportedMaxVersion: 4.4-IV2 "
        "FinalizedVersionLevel: 4.4-IV2 Epoch: "
    )
    assert refused["stdout"].startswith("Could not upgrade nothing to 1. ")
    assert (refused["stderr"], refused["exit"]) == ("1 out of 1 operation(s) failed.\n", 1)


def test_cluster_names_the_id_and_the_controllers(address: str) -> None:
    cluster_id = said("cluster", address, "cluster-id", "-C", "ADDRESS")
    endpoints = said("cluster", address, "list-endpoints", "-C", "ADDRESS")

    assert cluster_id == {"stdout": f"Cluster ID: {CLUSTER_ID}\n", "stderr": "", "exit": 0}
    assert [line.split() for line in endpoints["stdout"].splitlines()] == [
        ["ID", "HOST", "PORT", "RACK", "ENDPOINT_TYPE"], ["1", "127.0.0.1", "PORT", "null", "controller"],
    ]  # fmt: skip


def test_an_election_without_partitions_prints_nothing_and_an_unknown_partition_is_named(address: str) -> None:
    begin = ("--bootstrap-controller", "ADDRESS", "--election-type", "preferred")
    nothing = said("leader-election", address, *begin, "--all-topic-partitions")
    unknown = said("leader-election", address, *begin, "--topic", "t", "--partition", "0")

    assert nothing == {"stdout": "", "stderr": "", "exit": 0}
    assert unknown["stdout"].startswith("Error completing leader election (PREFERRED) for partition: t-0: org.apache.")
    assert unknown["stderr"].startswith("1 replica(s) could not be elected\n")
    assert unknown["exit"] == 1


def test_the_versions_of_a_controller_are_shown(address: str) -> None:
    found = said("broker-api-versions", address, "--bootstrap-controller", "ADDRESS")

    lines = found["stdout"].splitlines()
    assert (found["exit"], found["stderr"]) == (0, "")
    assert lines[0] == "127.0.0.1:PORT (id: 1 rack: null isFenced: false) -> ("
    assert "\tDescribeQuorum(55): 0 to 2 [usable: 2]," in lines
    assert "\tProduce(0): UNSUPPORTED," in lines
    assert lines[-1] == ")"


def test_cluster_shows_the_versions_of_a_controller_as_the_tool_for_brokers_does(address: str) -> None:
    found = said("cluster", address, "api-versions", "-C", "ADDRESS")

    assert found == said("broker-api-versions", address, "--bootstrap-controller", "ADDRESS")
    assert "\tUnregisterController(94): 0 [usable: 0]" in found["stdout"].splitlines()


def test_cluster_unregisters_a_controller_or_says_why_not(address: str) -> None:
    unknown = said("cluster", address, "unregister-controller", "-C", "ADDRESS", "--id", "77")
    itself = said("cluster", address, "unregister-controller", "-C", "ADDRESS", "--id", "1")

    assert (unknown["exit"], itself["exit"]) == (1, 1)
    assert "ControllerIdNotRegisteredException: Controller ID 77 is not" in unknown["stderr"]
    assert "InvalidRequestException: Controller cannot unregister itself while it is active." in itself["stderr"]


def test_a_voter_that_is_gone_is_unregistered_by_the_tool_that_the_error_names(address: str) -> None:
    remove = ("--bootstrap-controller", "ADDRESS", "remove-controller", "--controller-id", "77")
    where = ("--controller-directory-id", "MvDxzVmcRsaTz33bUuRU6A", "--unregister")
    dry = said("metadata-quorum", address, *remove, *where, "--dry-run")
    refused = said("metadata-quorum", address, *remove, *where)

    assert dry["stdout"] == (
        "DRY RUN of removing KRaft controller 77 with directory id MvDxzVmcRsaTz33bUuRU6A\n"
        "DRY RUN of unregistering KRaft controller 77\n"
    )
    assert refused["exit"] == 1
    assert refused["stderr"].startswith("Failed to remove KRaft voter 77: ")
    assert refused["stderr"].endswith(
        ". To unregister the controller from the cluster, run `kafka-cluster.sh unregister-controller --id 77`.\n"
    )


def test_versions_that_a_client_does_not_know_are_said_to_be_unusable() -> None:
    lines = versions_text({0: (14, 15), 1: (0, 3), 4: (0, 7), 18: (0, 9), 999: (0, 0)}).splitlines()

    assert lines[1] == "\tProduce(0): 14 to 15 [unusable: node too new],"
    assert lines[2] == "\tFetch(1): 0 to 3 [unusable: node too old],"
    assert "\tLeaderAndIsr(4): 0 to 7 [unusable: node too new]," in lines
    assert "\tApiVersions(18): 0 to 9 [usable: 5]," in lines
    assert lines[-2] == "\tUNKNOWN(999): 0"


def test_nodes_hash_as_in_java() -> None:
    """As Kafka's own class says, for a node with a rack and one without."""
    assert [Node(1, "localhost", 9092, "r").code(), Node(1, "localhost", 9092).code()] == [
        -1768302536 & 0xFFFFFFFF, -1768306070 & 0xFFFFFFFF,
    ]  # fmt: skip
