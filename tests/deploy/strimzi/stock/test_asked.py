"""Three controllers of ours, asked by Kafka's own admin client what Strimzi's operator asks, and rolled by its rule."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from controller.config.keys import server
from records.java.properties import parse_properties
from tests.deploy.strimzi.operator_rules import CONTROLLER_KEYS, differences, may_roll
from tests.deploy.strimzi.pods import Pods
from tests.deploy.strimzi.rendered import secrets
from tests.deploy.strimzi.stock.operator import CONTROLLERS, Operator, Refused
from tests.deploy.strimzi.test_operator import USERS_OWN
from tests.interop.stock import RELEASES, Stock
from tests.raft.network.certificates import needs_openssl
from tests.raft.security.kubernetes_api import KubernetesApi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_openssl

NODES = (0, 1, 2)


@pytest.fixture(name="pods")
def _pods(tmp_path: Path) -> Iterator[Pods]:
    (tmp_path / "account").mkdir()
    with KubernetesApi(tmp_path / "account") as api:
        secrets(api, NODES)
        with Pods(api, tmp_path, NODES, USERS_OWN) as pods:
            for node_id in NODES:
                pods.start(node_id)
            yield pods


@pytest.fixture(name="operator", params=RELEASES)
def _operator(pods: Pods, request: pytest.FixtureRequest) -> Iterator[Operator]:
    stock = Stock(request.param, quick=True)
    stock.bring()
    with Operator(stock) as operator:
        operator.open(CONTROLLERS, pods.bootstrap, pods.client_security)
        yield operator


def await_roll(operator: Operator, node_id: int, seconds: float = 30) -> int:
    """The leader's id, once the operator would roll this node."""
    end = time.monotonic() + seconds
    while True:
        leader_id, voters = operator.quorum()
        if leader_id >= 0 and may_roll(voters, leader_id, node_id):
            return leader_id
        assert time.monotonic() < end, (leader_id, voters)
        time.sleep(0.1)


def test_the_operators_questions_by_kafkas_own_admin_client(pods: Pods, operator: Operator) -> None:
    leader_id = await_roll(operator, NODES[0])

    # Each value of each controller is in the text of its file: a difference would be a restart, again and again.
    for node_id in NODES:
        rendered = parse_properties(pods.files[node_id].read_bytes())
        described = operator.configs(node_id)
        not_described = {name for name in CONTROLLER_KEYS if name in server.KEYS} - {entry.name for entry in described}
        assert not_described == {"server.max.startup.time.ms"}, "an internal key, which stock does not describe either"
        assert differences(rendered, described) == {}

    # A key that may change while the node runs: for the whole cluster, and of one node.
    operator.call_on(CONTROLLERS, "alter", id="", changes={"max.connections.per.ip": "77"})
    operator.call_on(CONTROLLERS, "alter", id="1", changes={"max.connections": "500"})
    assert await_value(operator, 2, "max.connections.per.ip", "77") == 3
    assert await_value(operator, 1, "max.connections", "500") == 2
    rendered = parse_properties(pods.files[1].read_bytes())
    changed = {**rendered, "max.connections.per.ip": "77", "max.connections": "500"}
    assert differences(changed, operator.configs(1)) == {}
    assert differences(rendered, operator.configs(1)).keys() == {"max.connections.per.ip", "max.connections"}
    operator.call_on(CONTROLLERS, "alter", id="", changes={"max.connections.per.ip": None})
    operator.call_on(CONTROLLERS, "alter", id="1", changes={"max.connections": None})
    await_value(operator, 1, "max.connections.per.ip", "2147483647")
    await_value(operator, 1, "max.connections", "2147483647")
    assert differences(rendered, operator.configs(1)) == {}

    # Levels of features, and a broker that is not registered.
    features = operator.call_on(CONTROLLERS, "features")
    level = features["finalized"]["metadata.version"]
    assert features["supported"]["metadata.version"] > level
    operator.call_on(CONTROLLERS, "update", levels={"metadata.version": level + 1})
    assert operator.call_on(CONTROLLERS, "features")["finalized"]["metadata.version"] == level + 1
    with pytest.raises(Refused, match="BrokerIdNotRegisteredException: Broker ID 7 is not currently registered"):
        operator.call_on(CONTROLLERS, "unregister", id=7)

    # Three of three are rolled, the active controller last.
    for node_id in sorted(NODES, key=lambda node_id: node_id == leader_id):
        await_roll(operator, node_id)
        pods.restart(node_id)
    assert await_roll(operator, leader_id) != leader_id
    for node_id in NODES:
        rendered = parse_properties(pods.files[node_id].read_bytes())
        assert differences(rendered, operator.configs(node_id)) == {}


def await_value(operator: Operator, node_id: int, name: str, value: str, seconds: float = 10) -> int:
    """The source of the value, once the node has it: a standby has it when it has fetched the record."""
    end = time.monotonic() + seconds
    while True:
        entry = next(entry for entry in operator.configs(node_id) if entry.name == name)
        if entry.value == value:
            return entry.source
        assert time.monotonic() < end, entry
        time.sleep(0.05)
