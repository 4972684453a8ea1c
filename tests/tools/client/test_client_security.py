"""The properties of a client as Kafka's tools take them: which are accepted, and what is said of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.config.security.jaas_file import PROPERTY
from records.java.config_error import ConfigError
from tests.raft.network.certificates import authority, certificate, needs_openssl
from tools.client.client_config import read_client_config

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
LOGIN = f'{PLAIN} required username="ann" password="hers-alone";'


def written(tmp_path: Path, **properties: str) -> str:
    path = tmp_path / "client.properties"
    path.write_text("".join(f"{key.replace('__', '.')}={text}\n" for key, text in properties.items()))
    return str(path)


def test_a_client_without_security_has_none_and_other_keys_are_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, bootstrap__servers="a:1", retries="3", of__nobody="x")

    assert read_client_config(path, {}).security is None


def test_a_login_has_user_and_password(tmp_path: Path) -> None:
    path = written(tmp_path, security__protocol="sasl_plaintext", sasl__mechanism="PLAIN", sasl__jaas__config=LOGIN)

    found = read_client_config(path, {}).security

    assert found is not None
    assert (found.context, found.mechanism and found.mechanism[0]) == (None, "PLAIN")
    assert found.mechanism is not None
    assert found.mechanism[1]().first() == b"\0ann\0hers-alone"


def test_the_login_may_stand_in_a_jaas_file(tmp_path: Path) -> None:
    jaas = tmp_path / "jaas.conf"
    jaas.write_text(f"KafkaClient {{\n{LOGIN}\n}};\n")
    path = written(tmp_path, security__protocol="SASL_PLAINTEXT", sasl__mechanism="PLAIN")

    found = read_client_config(path, {"KAFKA_OPTS": f"-Djava.security.auth.login.config={jaas}"}).security

    assert found is not None
    assert found.mechanism is not None
    assert found.mechanism[1]().first() == b"\0ann\0hers-alone"


def test_a_password_may_stand_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "secrets.properties").write_text(f"login={LOGIN}\n")
    path = written(
        tmp_path, security__protocol="SASL_PLAINTEXT", sasl__mechanism="PLAIN",
        sasl__jaas__config=f"${{file:{tmp_path}/secrets.properties:login}}", config__providers="file",
        config__providers__file__class="org.apache.kafka.common.config.provider.FileConfigProvider",
    )  # fmt: skip

    found = read_client_config(path, {}).security

    assert found is not None
    assert found.mechanism is not None
    assert found.mechanism[1]().first() == b"\0ann\0hers-alone"


@needs_openssl
def test_a_client_needs_no_certificate_and_may_have_one(tmp_path: Path) -> None:
    trust = {"ssl__truststore__type": "PEM", "ssl__truststore__location": str(authority() / "ca.pem")}
    key = {"ssl__keystore__type": "PEM", "ssl__keystore__location": str(certificate("/O=Test/CN=ann"))}

    for store in (trust, trust | key):
        found = read_client_config(written(tmp_path, security__protocol="SSL", **store), {}).security

        assert found is not None
        assert found.context is not None
        assert found.context().check_hostname


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        (
            {"security__protocol": "TLS"},
            "security.protocol=TLS: only PLAINTEXT, SSL, SASL_SSL, SASL_PLAINTEXT are known",
        ),
        (
            {"security__protocol": "SASL_SSL", "sasl__mechanism": "NTLM"},
            "sasl.mechanism=NTLM: only PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI are served here",
        ),
        (
            {"security__protocol": "SASL_SSL", "sasl__mechanism": "PLAIN"},
            f"sasl.mechanism needs credentials: set sasl.jaas.config, or -D{PROPERTY} in KAFKA_OPTS",
        ),
        (
            {"security__protocol": "SASL_PLAINTEXT", "sasl__mechanism": "SCRAM-SHA-512", "sasl__jaas__config": LOGIN},
            f"sasl.jaas.config must have one login module, {SCRAM}, for sasl.mechanism=SCRAM-SHA-512",
        ),
        (
            {"security__protocol": "SASL_PLAINTEXT", "sasl__mechanism": "PLAIN",
             "sasl__jaas__config": f'{PLAIN} required username="ann";'},
            "the login module of PLAIN in sasl.jaas.config has no password",
        ),
        (
            {"security__protocol": "SSL", "ssl__truststore__type": "PEM", "ssl__truststore__location": "/nowhere.pem"},
            "/nowhere.pem: No such file or directory",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_without_a_secret(properties: dict[str, str], told: str, tmp_path: Path) -> None:
    path = written(tmp_path, **properties)

    with pytest.raises(ConfigError) as error:
        read_client_config(path, {})

    assert error.value.text == f"{path}: {told}"
    assert "hers-alone" not in str(error.value)
