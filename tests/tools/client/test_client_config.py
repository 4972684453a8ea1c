"""The properties of a client: which are read, what is said of wrong ones, and the shell with each kind of security."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from records.java.config_error import ConfigError
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import (
    CLUSTER_ID,
    format_directory,
    running,
    write_properties,
)
from tests.raft.network.certificates import authority, certificate, needs_openssl
from tools.client.client_config import FILE_BYTES_MAX, ClientConfig, read_client_config
from tools.kafka.shell.metadata_shell import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMON = "org.apache.kafka.common.security"
PLAIN = f"{COMMON}.plain.PlainLoginModule"
SCRAM = f"{COMMON}.scram.ScramLoginModule"
BEARER = f"{COMMON}.oauthbearer.OAuthBearerLoginModule"
SECRET = "hers-alone"


def written(root: Path, **properties: str) -> str:
    """A client's file. properties: `__` for `.`"""
    path = root / "client.properties"
    path.write_text("".join(f"{key.replace('__', '.')}={text}\n" for key, text in properties.items()))
    return str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("security.protocol=\n", "security.protocol has no value"),
        ("client.id\n", "client.id has no value"),
        ("default.api.timeout.ms=soon\n", "default.api.timeout.ms=soon is not a number of milliseconds"),
        ("default.api.timeout.ms=0\n", "default.api.timeout.ms=0 is not a number of milliseconds"),
        ("security.protocol=\\u12\n", "Malformed \\uxxxx encoding in line 1: \\u12"),
        ("#" * (FILE_BYTES_MAX + 1), "the file is larger than 1048576 bytes, so it is not a configuration"),
    ],
)
def test_a_wrong_or_half_written_configuration_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(text)

    with pytest.raises(ConfigError) as error:
        read_client_config(str(path))

    assert error.value.text == f"{path}: {message}"


def test_a_configuration_sets_the_client_id_and_the_timeout_and_other_keys_are_ignored(tmp_path: Path) -> None:
    properties = {"client__id": " me ", "default__api__timeout__ms": "1500", "acks": "all"}

    bare = read_client_config(written(tmp_path, **properties))
    secured = read_client_config(
        written(
            tmp_path, **properties, security__protocol="SASL_PLAINTEXT", sasl__mechanism="PLAIN",
            sasl__jaas__config=f'{PLAIN} required username="ann" password="{SECRET}";',
        )
    )  # fmt: skip

    assert bare == ClientConfig("me", 1.5)
    assert secured[:2] == bare[:2]
    assert secured.security is not None


def test_every_key_may_be_looked_up_by_a_config_provider(tmp_path: Path) -> None:
    path = written(
        tmp_path, config__providers="env", client__id="${env:ID}",
        config__providers__env__class="org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    )  # fmt: skip

    assert read_client_config(path, {"ID": "me"}) == ClientConfig("me")


@pytest.mark.parametrize("protocol", [None, "PLAINTEXT", "plaintext"])
def test_nothing_of_tls_and_sasl_is_imported_for_plaintext(protocol: str | None, tmp_path: Path) -> None:
    path = written(tmp_path, client__id="me", **({} if protocol is None else {"security__protocol": protocol}))
    code = (
        "import sys, tools.client.connection; from tools.client.client_config import read_client_config\n"
        f"assert read_client_config({path!r}).security is None; print(*sys.modules)"
    )

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert [
        name
        for name in loaded
        if name.startswith(("controller.security", "raft.")) or name in {"ssl", "hashlib", "dataclasses", "asyncio"}
    ] == []


def trust() -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority() / "ca.pem")}


def key(name: str) -> dict[str, str]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(certificate(f"/O=Test/CN={name}"))}


LISTENERS = {"INNER": "PLAINTEXT", "MUTUAL": "SSL", "BOTH": "SASL_SSL", "OPEN": "SASL_PLAINTEXT"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SERVED = {
    "PLAIN": f'{PLAIN} required user_ann="{SECRET}";',
    "SCRAM-SHA-256": f"{SCRAM} required;",
    "SCRAM-SHA-512": f"{SCRAM} required;",
    "OAUTHBEARER": f"{BEARER} required;",
}
LOGINS = {
    "PLAIN": f'{PLAIN} required username="ann" password="{SECRET}";',
    "SCRAM-SHA-256": f'{SCRAM} required username="ann" password="{SECRET}";',
    "SCRAM-SHA-512": f'{SCRAM} required username="ann" password="{SECRET}";',
    "OAUTHBEARER": f'{BEARER} required unsecuredLoginStringClaim_sub="ann";',
}


@pytest.fixture(name="ports", scope="module")
def _ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """Ports by protocol of a quorum of one node that has a listener of each."""
    root = tmp_path_factory.mktemp("node")
    first = free_ports_in_a_row(len(LISTENERS))
    ports = dict(zip(LISTENERS, range(first, first + len(LISTENERS)), strict=True))
    settings = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "controller.listener.names": ",".join(LISTENERS),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in LISTENERS.items()),
        "listener.name.mutual.ssl.client.auth": "required",
        **trust(), **key("node"),
    }  # fmt: skip
    for name in ("both", "open"):
        settings[f"listener.name.{name}.sasl.enabled.mechanisms"] = ",".join(MECHANISMS)
        for mechanism, module in SERVED.items():
            settings[f"listener.name.{name}.{mechanism.lower()}.sasl.jaas.config"] = module
    properties = write_properties(root, first, **settings)
    credentials = [
        part for mechanism in MECHANISMS[1:3] for part in ("--add-scram", f"{mechanism}=[name=ann,password={SECRET}]")
    ]
    format_directory(properties, *credentials)
    with running(root, first, **settings):
        yield {protocol: ports[name] for name, protocol in LISTENERS.items()}


@needs_openssl
@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [("PLAINTEXT", None), ("SSL", None),
     *(("SASL_SSL", each) for each in MECHANISMS), *(("SASL_PLAINTEXT", each) for each in MECHANISMS)],
)  # fmt: skip
def test_the_shell_reads_a_quorum_by_each_protocol_and_mechanism(
    protocol: str, mechanism: str | None, ports: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = {"security.protocol": protocol}
    if protocol.endswith("SSL"):
        properties |= trust()
    if protocol == "SSL":
        properties |= key("ann")
    if mechanism is not None:
        properties |= {"sasl.mechanism": mechanism, "sasl.jaas.config": LOGINS[mechanism]}
    config = written(tmp_path, **properties)

    code = run(["--controllers", f"127.0.0.1:{ports[protocol]}", "--config", config, "ls", "/image"])

    printed = capsys.readouterr()
    assert (code, printed.out.split()[0]) == (0, "acls")
    assert f"of cluster {CLUSTER_ID}, from 127.0.0.1:{ports[protocol]}" in printed.err


@needs_openssl
@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({}, "a listener with TLS or SASL needs the security settings of the client"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", **trust(),
          "sasl.jaas.config": f'{PLAIN} required username="ann" password="wrong-word";'},
         "authentication with SASL mechanism PLAIN is refused: Authentication failed: Invalid username or password"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", **trust(),
          "sasl.jaas.config": f'{SCRAM} required username="ann" password="wrong-word";'},
         "authentication with SASL mechanism SCRAM-SHA-512 is refused"),
    ],
)  # fmt: skip
def test_a_refused_shell_says_why_in_one_line_without_the_password(
    properties: dict[str, str], told: str, ports: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = written(tmp_path, **properties, default__api__timeout__ms="500")

    code = run(["--controllers", f"127.0.0.1:{ports['SASL_SSL']}", "--config", config, "ls", "/image"])

    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (1, 1)
    assert told in said
    assert "wrong-word" not in said
