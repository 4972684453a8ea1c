"""Which security settings a node refuses when it starts, in one line each."""

from __future__ import annotations

import pytest

from controller.config.served import served_config
from records.java.config_error import ConfigError

STORE = {"ssl.keystore.type": "PEM", "ssl.keystore.location": "node.pem"}
PLAIN_MODULE = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="n" password="hush";'
PLAIN = {
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "listener.name.controller.plain.sasl.jaas.config": PLAIN_MODULE,
}


def given(protocol: str, **changes: str):
    return {
        "process.roles": "controller", "node.id": "1", "controller.quorum.voters": "1@localhost:9093",
        "controller.listener.names": "CONTROLLER", "listeners": "CONTROLLER://localhost:9093",
        "listener.security.protocol.map": f"CONTROLLER:{protocol}", "log.dirs": "data",
    } | changes  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        given("SSL", **STORE),
        given("SSL", **{f"listener.name.controller.{key}": value for key, value in STORE.items()}),
        given("SASL_PLAINTEXT", **PLAIN),
        given("SASL_SSL", **PLAIN, **STORE),
        given("PLAINTEXT", **{"ssl.keystore.type": "BKS"}),
    ],
)
def test_supported_settings_are_accepted(settings):
    assert served_config(settings).node_id == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (given("SSL"), "listener CONTROLLER has TLS and no certificate"),
        (given("SSL", **STORE, **{"ssl.keystore.password": "hush"}), "password cannot be specified with PEM"),
        (given("SSL", **{"ssl.keystore.location": "a.jks"}), "key store password is not specified"),
        (given("SSL", **STORE | {"ssl.keystore.type": "BKS"}), "ssl.keystore.type=BKS: only PEM, JKS, PKCS12"),
        (given("SSL", **STORE, **{"ssl.enabled.protocols": "TLSv1.1"}), "change ssl.enabled.protocols"),
        (given("SSL", **STORE, **{"ssl.engine.factory.class": "a.B"}), "ssl.engine.factory.class names"),
        (given("SSL", **STORE, **{"listener.name.controller.ssl.client.auth": "maybe"}), "ssl.client.auth"),
        (given("SSL", **STORE, **{"ssl.principal.mapping.rules": "x"}), "Invalid rule"),
        (given("SASL_PLAINTEXT"), "has SASL mechanism GSSAPI without credentials"),
        (given("SASL_PLAINTEXT", **{"sasl.enabled.mechanisms": "LDAP"}), "mechanism LDAP is not served here, only"),
        (given("SASL_PLAINTEXT", **{"sasl.enabled.mechanisms": "PLAIN"}), "without credentials: set listener.name.con"),
        (
            given("SASL_PLAINTEXT", **PLAIN | {"sasl.mechanism.controller.protocol": "LDAP"}),
            "sasl.mechanism.controller.protocol=LDAP",
        ),
        (
            given("SASL_PLAINTEXT", **PLAIN, **{"listener.name.controller.plain.connections.max.reauth.ms": "x"}),
            "Invalid value x",
        ),
        (
            given("SASL_PLAINTEXT", **PLAIN | {
                "listener.name.controller.plain.sasl.jaas.config": PLAIN_MODULE.replace("username", "user_a")
            }),
            "has no username",
        ),
    ],
)  # fmt: skip
def test_unsupported_settings_are_refused_in_one_line(settings, said):
    with pytest.raises(ConfigError) as error:
        served_config(settings)

    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert "hush" not in str(error.value)
