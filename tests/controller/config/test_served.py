"""What a configuration must have where its node is served."""

from __future__ import annotations

import pytest

from controller.config.node import NodeConfig
from controller.config.plugins import STATIC_QUOTAS
from controller.config.served import check_served
from controller.interface.settings import settings_of
from records.java.config_error import ConfigError
from tests.controller.config.test_node import NODE, node


def test_a_plaintext_controller_configuration_is_accepted() -> None:
    check_served(node())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"process.roles": "broker,controller", "listeners": "PLAINTEXT://h:9092,CONTROLLER://h:9093"},
            "process.roles=broker,controller: this node is a KRaft controller and nothing else",
        ),
        ({"listener.security.protocol.map": "CONTROLLER:SSL"}, "listener CONTROLLER has TLS and no certificate"),
        ({"authorizer.class.name": "a.B"}, "authorizer.class.name=a.B"),
        ({"create.topic.policy.class.name": "a.B"}, "create.topic.policy.class.name=a.B names a Java class"),
        ({"client.quota.callback.class": "a.B"}, "client.quota.callback.class=a.B names a Java class"),
        ({"principal.builder.class": "a.B"}, "principal.builder.class=a.B names a Java class"),
    ],
)
def test_an_unsupported_configuration_is_refused_in_one_line(changes: dict[str, str], said: str) -> None:
    config = NodeConfig(NODE | changes)

    with pytest.raises(ConfigError) as error:
        check_served(config)

    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


def test_strimzis_quotas_plugin_is_taken_with_one_line() -> None:
    own = {
        "client.quota.callback.static.produce": "1e6",
        "client.quota.callback.static.excluded.principal.name.list": "a",
    }
    config = NodeConfig(NODE | {"client.quota.callback.class": STATIC_QUOTAS} | own)

    check_served(config)

    instead = "brokers run it, and beside it this node applies no controller_mutation_rate, as in Kafka"
    assert config.warnings == [f"client.quota.callback.class names {STATIC_QUOTAS}: {instead}"]
    assert settings_of(config).has_static_quotas
    assert not settings_of(node()).has_static_quotas
