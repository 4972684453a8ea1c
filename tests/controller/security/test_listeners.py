"""From the configuration to the security of listeners and of the node's own connections."""

from __future__ import annotations

from controller.config.node import NodeConfig
from controller.security.listeners import Security
from raft.network.mechanisms import PlainClient, PlainServer
from tests.controller.config.security.test_security_checks import PLAIN, PLAIN_MODULE, given


def made(**changes: str) -> Security:
    config = NodeConfig(given("SASL_PLAINTEXT", **PLAIN | changes))
    return security_of(config)


def security_of(config: NodeConfig) -> Security:
    return Security(config, now=lambda: 0.0, note=lambda *_: None, wall_ms=lambda: 0, state=lambda: None)


def test_a_plaintext_listener_has_no_security():
    config = NodeConfig(given("PLAINTEXT"))
    security = security_of(config)

    assert security.listener("CONTROLLER") is None
    assert security.client() is None


def test_users_of_plain_are_options_of_the_login_module():
    jaas = PLAIN_MODULE.replace(";", ' user_n="hush" user_b="b";')
    security = made(**{"listener.name.controller.plain.sasl.jaas.config": jaas})

    server = security.listener("CONTROLLER").sasl.mechanisms["PLAIN"]()
    assert isinstance(server, PlainServer)
    name, make = security.client().mechanism
    assert name == "PLAIN"
    client = make()
    assert isinstance(client, PlainClient)
    server.answer(client.first())
    assert server.name == "n"
    assert str(security.listener("CONTROLLER").sasl.identity_of("n", False)) == "User:n"


def test_a_listener_and_a_mechanism_have_their_own_settings():
    security = made(
        **{
            "connections.max.reauth.ms": "1000",
            "listener.name.controller.plain.connections.max.reauth.ms": "2000",
            "listener.name.controller.sasl.server.max.receive.size": "999",
        }
    )

    sasl = security.listener("CONTROLLER").sasl
    assert (sasl.reauth_ms, sasl.bytes_max) == ({"PLAIN": 2000}, 999)
