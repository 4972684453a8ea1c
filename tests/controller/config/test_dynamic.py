"""What the cluster says of a node, over the node's file."""

from __future__ import annotations

from controller.config.dynamic import DynamicConfig, described_synonyms, node_type, taken
from controller.config.keys import server
from controller.config.keys.dynamic import CLUSTER_WIDE, DYNAMIC, LISTENER_ONLY, PER_BROKER
from controller.config.node import NodeConfig
from controller.config.values.definition import Type
from tests.controller.handlers.cluster_of_configs import NODE

FILE = NodeConfig(NODE | {"num.io.threads": "4", "log.roll.ms": "9"})


def test_a_key_is_taken_for_one_broker_or_for_all() -> None:
    assert not PER_BROKER & CLUSTER_WIDE
    assert LISTENER_ONLY <= PER_BROKER
    assert all(name in server.KEYS or name in server.BROKER_QUOTA_KEYS for name in DYNAMIC)


def test_keys_that_are_not_dynamic_or_not_valid_are_left_out() -> None:
    given = {
        "num.io.threads": "x",
        "log.retention.hours": "3",
        "node.id": "5",
        "ssl.keystore.location": "/x",
        "listener.name.a.ssl.keystore.location": "/x",
        "listener.name.a.max.connections": "7",
        "listener.name.a.num.network.threads": "many",
        "listeners": "X://:1",
        "leader.replication.throttled.rate": "-1",
        "plug.in": "anything",
    }

    assert set(taken(given, is_per_broker=False)) == {"listener.name.a.max.connections", "plug.in"}
    assert set(taken(given, is_per_broker=True)) == {
        "listener.name.a.ssl.keystore.location",
        "listener.name.a.max.connections",
        "listeners",
        "plug.in",
    }


def test_the_node_s_own_counts_before_the_cluster_s_and_that_before_the_file() -> None:
    dynamic = DynamicConfig(FILE, {"num.io.threads": "6"}, {"num.io.threads": "5", "background.threads": "7"})

    assert dynamic.config.number("num.io.threads") == 6
    assert dynamic.config.number("background.threads") == 7
    assert dynamic.config.number("num.network.threads") == 3


def test_the_file_stays_in_effect_where_nothing_is_said() -> None:
    assert DynamicConfig(FILE, {}, {}).config is FILE


def test_what_means_the_same_is_replaced_with_its_like() -> None:
    # log.roll.ms of the file would else count before the hours.
    static = NodeConfig(NODE | {"log.flush.interval.ms": "9"})

    dynamic = DynamicConfig(static, {}, {"log.flush.interval.ms": "7"})

    assert dynamic.config.originals["log.flush.interval.ms"] == "7"


def test_values_that_do_not_go_together_leave_the_file_in_effect() -> None:
    dynamic = DynamicConfig(FILE, {}, {"max.connections.per.ip": "0", "num.io.threads": "5"})

    assert dynamic.config is FILE
    assert dynamic.cluster == {"max.connections.per.ip": "0", "num.io.threads": "5"}


def test_assignment_intervals_are_held_within_their_bounds() -> None:
    dynamic = DynamicConfig(FILE, {}, {"group.share.assignment.interval.ms": "900000"})

    assert dynamic.config.number("group.share.assignment.interval.ms") == 15000


def test_a_key_of_a_listener_has_the_type_of_the_key_without_the_prefix() -> None:
    assert node_type("listener.name.a.ssl.keystore.password") is Type.PASSWORD
    assert node_type("listener.name.a.plain.sasl.jaas.config") is Type.PASSWORD
    assert node_type("leader.replication.throttled.rate") is Type.LONG
    assert node_type("kraft.log.level") is Type.STRING
    assert node_type("plug.in") is None


def test_synonyms_of_a_key_come_in_the_order_in_which_they_count() -> None:
    assert described_synonyms("log.roll.hours") == ("log.roll.ms", "log.roll.hours")
    assert described_synonyms("log.flush.scheduler.interval.ms") == ("log.flush.scheduler.interval.ms",)
    assert described_synonyms("listener.name.a.b.sasl.jaas.config") == (
        "listener.name.a.b.sasl.jaas.config",
        "sasl.jaas.config",
    )
