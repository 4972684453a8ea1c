"""The settings of the admin client: the checks of stock, and what is taken from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.raft.network.certificates import needs_openssl
from tools.client.settings import FILE_BYTES_MAX, Settings, read_file, settings_of
from tools.command_line.java_texts import Uncaught

if TYPE_CHECKING:
    from pathlib import Path


def test_addresses_may_have_protocols_and_brackets() -> None:
    found = settings_of(None, "127.0.0.1:9093, CONTROLLER://[::1]:9094,http://localhost:1,:2", {})

    addresses = (("127.0.0.1", 9093), ("::1", 9094), ("localhost", 1), ("localhost", 2))
    assert found == Settings(addresses, at_controllers=True)


def test_times_and_the_client_id_are_taken_from_the_file_and_other_keys_are_ignored() -> None:
    given = {
        "client.id": "me",
        "retries": " 3 ",
        "request.timeout.ms": "10",
        "retry.backoff.ms": "2000",
        "group.id": "g",
    }

    found = settings_of("127.0.0.1:9092", None, given)

    assert found == Settings(
        (("127.0.0.1", 9092),), at_controllers=False, client_id="me", retries=3, request_timeout=0.01,
        retry_backoff=2.0, retry_backoff_max=2.0,
    )  # fmt: skip


def test_security_is_that_of_the_file() -> None:
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="ann" password="x";'
    given = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.jaas.config": login}

    found = settings_of("127.0.0.1:9092", None, given).security

    assert found is not None
    assert found.mechanism is not None
    assert (found.context, found.mechanism[0]) == (None, "PLAIN")


@needs_openssl
@pytest.mark.parametrize(
    ("given", "java_class"),
    [
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "org.apache.kafka.common.KafkaException"),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/no/such/file"},
            "org.apache.kafka.common.KafkaException",
        ),
        ({"security.protocol": "SSL", "ssl.client.auth": "nothing"}, "org.apache.kafka.common.config.ConfigException"),
    ],
)
def test_wrong_security_is_refused_before_a_connection_is_made(given: dict[str, str], java_class: str) -> None:
    with pytest.raises(Uncaught) as raised:
        settings_of("127.0.0.1:1", None, given)

    assert raised.value.java_class == java_class


def test_a_file_that_is_too_large_to_be_a_configuration_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"#" * (FILE_BYTES_MAX + 1))

    with pytest.raises(Uncaught, match=f"larger than {FILE_BYTES_MAX} bytes"):
        read_file(str(tmp_path / "large"))
