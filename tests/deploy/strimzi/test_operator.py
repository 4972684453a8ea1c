"""Strimzi's operator and three controllers of ours: what it asks of them, what it decides, and a rolling restart by its
rule. The operator's code does not run here; `operator_rules` restates what it decides.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from records.java.properties import parse_properties
from tests.deploy.strimzi.operator_rules import Entry, Voter, differences, may_roll
from tests.deploy.strimzi.pods import AGENT, Pods
from tests.deploy.strimzi.rendered import secrets
from tests.raft.network.certificates import needs_openssl
from tests.raft.security.kubernetes_api import KubernetesApi
from tools.command_line.java_texts import Uncaught

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = (0, 1, 2)
# Values in the forms in which people write them into a Kafka resource.
USERS_OWN = {
    "default.replication.factor": "3", "offsets.topic.replication.factor": "3", "min.insync.replicas": "2",
    "auto.create.topics.enable": "false", "leader.imbalance.per.broker.percentage": "10",
    "controller.quorum.fetch.timeout.ms": "2000", "metadata.log.max.snapshot.interval.ms": "600000",
    "sasl.login.refresh.window.factor": "0.8", "ssl.enabled.protocols": "TLSv1.3,TLSv1.2", "num.partitions": "6",
    "max.connections.per.ip.overrides": "127.0.0.1:500", "unclean.leader.election.enable": "false",
    "kraft.http.hosts": "localhost",
}  # fmt: skip


@pytest.fixture(name="pods")
def _pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pods]:
    (tmp_path / "account").mkdir()
    with KubernetesApi(tmp_path / "account") as api:
        secrets(api, NODES)
        for name, value in api.environment.items():
            monkeypatch.setenv(name, value)
        with Pods(api, tmp_path, NODES, USERS_OWN) as pods:
            yield pods


def await_roll(pods: Pods, node_id: int, seconds: float = 30) -> tuple[int, list[Voter]]:
    """The leader and the voters, once the operator would roll this node."""
    end = time.monotonic() + seconds
    while True:
        try:
            leader_id, voters = pods.quorum()
        except Uncaught as error:
            # Until the first level of metadata.version is committed; the operator asks again, too.
            if "There is no finalized MetadataVersion" not in str(error):
                raise
            leader_id, voters = -1, []
        if leader_id >= 0 and may_roll(voters, leader_id, node_id):
            return leader_id, voters
        assert time.monotonic() < end, (leader_id, voters)
        time.sleep(0.1)


@needs_openssl
def test_the_operator_finds_no_difference_and_rolls_three_of_three(pods: Pods) -> None:
    for node_id in NODES:
        pods.start(node_id)
    leader_id, _ = await_roll(pods, NODES[0])

    for node_id in NODES:
        rendered = parse_properties(pods.files[node_id].read_bytes())
        assert differences(rendered, pods.configs(node_id)) == {}

    # The active controller is the last.
    order = sorted(NODES, key=lambda node_id: node_id == leader_id)
    for node_id in order:
        await_roll(pods, node_id)
        pods.restart(node_id)
    new_leader_id, voters = await_roll(pods, order[0])  # so the last one, too, has caught up with the new leader

    assert new_leader_id != order[-1]
    assert sorted(voter.id for voter in voters) == list(NODES)
    for node_id in NODES:
        text = pods.log(node_id)
        assert (
            f"KAFKA_OPTS has {AGENT}: this node answers in its place, on ports {pods.ports[node_id].agent} and" in text
        )
        assert "quorum_state_restored" in text
        assert "PRIVATE KEY" not in text
        assert pods.api.token not in text


def test_a_value_in_another_form_would_be_a_difference() -> None:
    """The rule sees what it is to see: another text, a value that is no default, and none of other keys."""
    rendered = {"log.dirs": "/a", "num.io.threads": "8", "node.id": "1", "super.users": "User:a"}
    described = [
        Entry("log.dirs", "/b", 4), Entry("num.io.threads", "8", 4), Entry("node.id", "2", 4),
        Entry("num.partitions", "3", 4), Entry("background.threads", "10", 5),
    ]  # fmt: skip

    assert differences(rendered, described) == {"log.dirs": ("/a", "/b"), "num.partitions": (None, "3")}


@pytest.mark.parametrize(
    ("caught_up_ms", "node_id", "expected"),
    [
        ([9000, 9000, 9000], 1, True),
        ([9000, 9000, 7001], 1, True),
        ([9000, 9000, 7000], 1, False),
        ([9000, 9000, -1], 1, False),
        ([9000, 9000, -1], 2, True),
        ([9000, 9000], 0, True),
        ([9000, 1000], 0, False),
        ([9000], 0, True),
    ],
)
def test_a_controller_is_rolled_when_enough_others_have_caught_up(
    caught_up_ms: list[int], node_id: int, *, expected: bool
) -> None:
    voters = [Voter(each, last_ms) for each, last_ms in enumerate(caught_up_ms)]

    assert may_roll(voters, 0, node_id) is expected
