"""Dynamic configs of the cluster over the file of a node."""

from __future__ import annotations

from controller.config.dynamic import DynamicConfig, applied_keys, described_synonyms, node_type
from controller.config.keys import server
from controller.config.keys.dynamic import CLUSTER_WIDE, DYNAMIC, LISTENER_ONLY, PER_BROKER
from controller.config.node import NodeConfig
from controller.config.values.definition import Type
from tests.controller.handlers.cluster_of_configs import NODE

FILE = NodeConfig(NODE | {"num.io.threads": "4", "log.roll.ms": "9"})


def test_a_key_applies_to_one_broker_or_to_all() -> None:
    assert not PER_BROKER & CLUSTER_WIDE
    assert LISTENER_ONLY <= PER_BROKER
    assert all(name in server.KEYS or name in server.BROKER_QUOTA_KEYS for name in DYNAMIC)


def test_static_and_invalid_keys_are_ignored() -> None:
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

    assert set(applied_keys(given, is_per_broker=False)) == {"listener.name.a.max.connections", "plug.in"}
    assert set(applied_keys(given, is_per_broker=True)) == {
        "listener.name.a.ssl.keystore.location",
        "listener.name.a.max.connections",
        "listeners",
        "plug.in",
    }


def test_node_configs_override_cluster_configs_which_override_the_file() -> None:
    dynamic = DynamicConfig(FILE, {"num.io.threads": "6"}, {"num.io.threads": "5", "background.threads": "7"})

    assert dynamic.config.number("num.io.threads") == 6
    assert dynamic.config.number("background.threads") == 7
    assert dynamic.config.number("num.network.threads") == 3


def test_the_file_stays_in_effect_without_dynamic_configs() -> None:
    assert DynamicConfig(FILE, {}, {}).config is FILE


def test_a_dynamic_config_replaces_its_static_synonyms() -> None:
    # Otherwise log.roll.ms in the file would take precedence over the hours.
    static = NodeConfig(NODE | {"log.flush.interval.ms": "9"})

    dynamic = DynamicConfig(static, {}, {"log.flush.interval.ms": "7"})

    assert dynamic.config.originals["log.flush.interval.ms"] == "7"


def test_inconsistent_dynamic_values_leave_the_file_in_effect() -> None:
    dynamic = DynamicConfig(FILE, {}, {"max.connections.per.ip": "0", "num.io.threads": "5"})

    assert dynamic.config is FILE
    assert dynamic.cluster == {"max.connections.per.ip": "0", "num.io.threads": "5"}


def test_assignment_intervals_are_clamped_to_their_bounds() -> None:
    dynamic = DynamicConfig(FILE, {}, {"group.share.assignment.interval.ms": "900000"})

    assert dynamic.config.number("group.share.assignment.interval.ms") == 15000


def test_a_key_of_a_listener_has_the_type_of_the_key_without_the_prefix() -> None:
    assert node_type("listener.name.a.ssl.keystore.password") is Type.PASSWORD
    assert node_type("listener.name.a.plain.sasl.jaas.config") is Type.PASSWORD
    assert node_type("leader.replication.throttled.rate") is Type.LONG
    assert node_type("kraft.log.level") is Type.STRING
    assert node_type("plug.in") is None


def test_synonyms_of_a_key_are_listed_by_precedence() -> None:
    assert described_synonyms("log.roll.hours") == ("log.roll.ms", "log.roll.hours")
    assert described_synonyms("log.flush.scheduler.interval.ms") == ("log.flush.scheduler.interval.ms",)
    assert described_synonyms("listener.name.a.b.sasl.jaas.config") == (
        "listener.name.a.b.sasl.jaas.config",
        "sasl.jaas.config",
    )


def test_values_that_a_running_controller_cannot_change_to_leave_the_file_in_effect() -> None:
    jmx = "org.apache.kafka.common.metrics.JmxReporter"

    def applied(key: str, text: str) -> bool:
        return DynamicConfig(FILE, {key: text, "background.threads": "7"}, {}).config is not FILE

    assert [applied("num.io.threads", text) for text in ("1", "2", "8", "9")] == [False, True, True, False]
    assert [applied("metric.reporters", text) for text in ("x.Y", f"{jmx},x.Y", "", jmx)] == [False, False, True, True]
