"""GSSAPI with a key distribution centre on loopback: both sides, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from controller.config.node import NodeConfig
from controller.security.gss import GssFailed
from controller.security.listeners import Security
from raft.network.mechanisms import SaslRefused
from tests.controller.config.security.test_security_checks import given
from tests.controller.security.kerberos import REALM, Realm, needs_kerberos

KRB5 = "com.sun.security.auth.module.Krb5LoginModule"


def settings(keytab: object, principal: str = f"kafka/localhost@{REALM}", **changes: str) -> dict[str, str]:
    return {
        "sasl.enabled.mechanisms": "GSSAPI", "sasl.mechanism.controller.protocol": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "listener.name.controller.gssapi.sasl.jaas.config": (
            f'{KRB5} required useKeyTab=true storeKey=true keyTab="{keytab}" principal="{principal}";'
        ),
    } | changes  # fmt: skip


def security(given_settings: dict[str, str]) -> Security:
    config = NodeConfig(given("SASL_PLAINTEXT", **given_settings), {})
    return Security(config, now=lambda: 0.0, note=lambda *_: None, wall_ms=lambda: 0, state=lambda: None)


@pytest.fixture(scope="module")
def realm(tmp_path_factory):
    with Realm(tmp_path_factory.mktemp("kdc")) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environment.items():
            patch.setenv(name, value)
        yield found


@pytest.fixture(scope="module")
def keytab(realm):
    return realm.keytab("kafka/localhost")


def log_in(server, client, host: str = "localhost"):
    """The authenticated principal. Raises SaslRefused."""
    client.host = host
    token = client.first()
    while token is not None:
        token = client.answer(server.answer(token))
    assert client.is_complete
    return server.name


def servers(found: Security):
    return found.listener("CONTROLLER").sasl.mechanisms["GSSAPI"]


@needs_kerberos
def test_a_node_authenticates_to_another_by_its_keytab(keytab):
    found = security(settings(keytab))
    name, make = found.client().mechanism

    assert (name, make().blocks) == ("GSSAPI", True)
    for _ in range(2):
        assert log_in(servers(found)(), make()) == "kafka"


@needs_kerberos
def test_rules_name_the_principal(keytab):
    found = security(settings(keytab, **{"sasl.kerberos.principal.to.local.rules": "RULE:[2:$1-$2@$0](.*)s/@.*//U"}))

    assert log_in(servers(found)(), found.client().mechanism[1]()) == "KAFKA-LOCALHOST"


@needs_kerberos
def test_a_principal_without_a_rule_is_refused(keytab):
    found = security(settings(keytab, **{"sasl.kerberos.principal.to.local.rules": "RULE:[1:$1]"}))

    with pytest.raises(SaslRefused, match=r"no rule of sasl\.kerberos\.principal\.to\.local\.rules applies to 'kafka/"):
        log_in(servers(found)(), found.client().mechanism[1]())


@needs_kerberos
def test_a_service_that_the_realm_does_not_have_is_named(keytab):
    make = security(settings(keytab)).client().mechanism[1]

    with pytest.raises(SaslRefused, match=r"no ticket of Kerberos for kafka/elsewhere\.example: .*not found"):
        log_in(None, make(), "elsewhere.example")


@needs_kerberos
def test_a_token_that_is_damaged_is_refused(keytab):
    found = security(settings(keytab))
    client = found.client().mechanism[1]()
    client.host = "localhost"
    token = client.first()

    for wrong in (token[:-1] + bytes([token[-1] ^ 1]), b"", b"\x60", token[: len(token) // 2], b"x" * 70_000):
        with pytest.raises(SaslRefused, match=r"Kerberos refuses it|too large"):
            servers(found)().answer(wrong)
    assert servers(found)().answer(token)


@needs_kerberos
def test_the_exchange_has_its_order_and_an_end(keytab):
    found = security(settings(keytab))
    server = servers(found)()
    client: Any = found.client().mechanism[1]()
    client.host = "localhost"
    offer = server.answer(client.answer(server.answer(client.first())))
    assert server.name is None

    with pytest.raises(SaslRefused, match="Kerberos refuses it"):
        server.answer(b"\1\0\0\0")
    choice = client.answer(offer)
    with pytest.raises(SaslRefused, match=r"refused by Kerberos|goes on after the end"):
        client.answer(offer)
    assert server.answer(choice) == b""
    assert server.name == "kafka"


@needs_kerberos
def test_a_layer_of_security_is_refused(keytab):
    found = security(settings(keytab))
    server = servers(found)()
    client: Any = found.client().mechanism[1]()
    client.host = "localhost"
    server.answer(client.answer(server.answer(client.first())))

    with pytest.raises(SaslRefused, match=r"set sasl\.qop to auth"):
        server.answer(client._context.wrap(b"\4\0\0\0", True).message)


@needs_kerberos
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"principal": f"other/localhost@{REALM}"}, "has no key of other/localhost"),
        ({"keytab": "/no/such"}, "the keytab /no/such has no key of kafka/localhost"),
    ],
)
def test_a_keytab_without_the_key_stops_the_start(keytab, changes, said):
    with pytest.raises(GssFailed, match=said):
        security(settings(**{"keytab": keytab} | changes))


@needs_kerberos
def test_a_node_that_gets_no_ticket_does_not_start(realm, keytab, tmp_path, monkeypatch):
    other = tmp_path / "krb5.conf"
    other.write_text(realm.config.read_text().replace(str(realm.port), "1"))
    monkeypatch.setenv("KRB5_CONFIG", str(other))
    monkeypatch.setattr("controller.security.gss._CACHE", "MEMORY:other")
    found = security(settings(keytab))

    with pytest.raises(GssFailed, match=r"this node gets no ticket of Kerberos for kafka/localhost"):
        found.client()


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gssapi", None)

    with pytest.raises(GssFailed, match=r"needs a package and the libraries of Kerberos: pip install 'gssapi"):
        security(settings("/keytab"))
