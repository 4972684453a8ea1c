"""`kraftctl` with a quorum that has TLS and SASL: `--command-config`, and what is said to a client without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import free_port, running
from tests.raft.network.certificates import authority, certificate, needs_openssl
from tools.client.client_config import read_client_config
from tools.client.connection import Connection
from tools.client.quorum import describe_request
from tools.kafka.shell.live_shell import run as shell
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_openssl
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
NODE, ANN = "node-alone", "hers-alone"


def stores(name: str) -> dict[str, str]:
    return {
        "ssl.keystore.type": "PEM", "ssl.keystore.location": str(certificate(f"/O=Test/CN={name}")),
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority() / "ca.pem"),
    }  # fmt: skip


@pytest.fixture(name="sasl", scope="module")
def _sasl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port and directory of a node with SASL_SSL, whose sessions last 1 s."""
    port, root = free_port(), tmp_path_factory.mktemp("sasl")
    settings = {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL", "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config":
            f'{MODULE} required username="node" password="{NODE}" user_node="{NODE}" user_ann="{ANN}";',
        "connections.max.reauth.ms": "1000", **stores("node"),
    }  # fmt: skip
    with running(root, port, **settings):
        assert main(["wait", "-c", str(root / "controller.properties"), "--timeout", "30"]) == 0
        yield port, root


@pytest.fixture(name="mutual", scope="module")
def _mutual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port and directory of a node that demands a certificate of its clients."""
    port, root = free_port(), tmp_path_factory.mktemp("mutual")
    settings = {"listener.security.protocol.map": "CONTROLLER:SSL", "ssl.client.auth": "required", **stores("node")}
    with running(root, port, **settings):
        assert main(["wait", "-c", str(root / "controller.properties"), "--timeout", "30"]) == 0
        yield port, root


def client(root: Path, name: str, **settings: str) -> str:
    path = root / f"{name}.properties"
    lines = {key.replace("__", "."): text for key, text in settings.items()}
    path.write_text("".join(f"{key}={text}\n" for key, text in lines.items()))
    return str(path)


def ann(root: Path, password: str = ANN) -> str:
    return client(
        root, f"ann-{len(password)}", security__protocol="SASL_SSL", sasl__mechanism="PLAIN",
        sasl__jaas__config=f'{MODULE} required username="ann" password="{password}";',
        **{key: text for key, text in stores("ann").items() if "truststore" in key},
    )  # fmt: skip


def test_status_and_wait_authenticate_by_the_command_config(
    sasl: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = sasl
    at = ["--bootstrap-controller", f"localhost:{port}", "--command-config", ann(root)]

    codes = [main(["status", *at, "--field", "leader_id"]), main(["wait", *at, "--timeout", "20"])]

    assert (codes, capsys.readouterr()) == ([0, 0], ("1\n", ""))


def test_a_configuration_of_a_node_has_the_login_of_the_node(
    sasl: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    properties = str(sasl[1] / "controller.properties")

    codes = [main(["status", "-c", properties, "--field", "leader_id"]), main(["probe", "live", "-c", properties])]

    assert (codes, capsys.readouterr()) == ([0, 0], ("1\nlistener CONTROLLER answers\n", ""))


def test_topic_alter_authenticates_too(sasl: tuple[int, Path], capsys: pytest.CaptureFixture[str]) -> None:
    port, root = sasl
    at = ["--bootstrap-controller", f"localhost:{port}", "--command-config", ann(root)]

    code = main(["topic", "alter", "orders", "--partitions", "3", *at])

    assert (code, capsys.readouterr().err) == (1, "kraftctl topic alter: topic orders: the topic does not exist\n")


def test_a_long_connection_authenticates_again_before_its_session_ends(sasl: tuple[int, Path]) -> None:
    port, root = sasl
    security = read_client_config(ann(root), {}).security

    with Connection("localhost", port, "test", 5.0, security) as connection:
        first = connection._log_in_at
        connection._log_in_at = 0.0
        connection.ask(describe_request())
        second = connection._log_in_at

    assert first is not None
    assert second is not None
    assert second > first


def test_a_certificate_is_sent_and_its_absence_is_explained(
    mutual: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = mutual
    at = ["status", "--bootstrap-controller", f"localhost:{port}", "--field", "leader_id", "--command-config"]
    trust = {key: text for key, text in stores("ann").items() if "truststore" in key}

    with_one = main([*at, client(root, "with", security__protocol="SSL", **stores("ann"))])
    without = main([*at, client(root, "without", security__protocol="SSL", **trust)])

    said = capsys.readouterr()
    assert (with_one, without, said.out) == (0, 1, "1\n")
    assert said.err.endswith("it demands a certificate: set ssl.keystore here\n")


def test_a_client_that_is_refused_is_told_why(sasl: tuple[int, Path], capsys: pytest.CaptureFixture[str]) -> None:
    port, root = sasl
    at = ["status", "--bootstrap-controller", f"localhost:{port}", "--field", "leader_id"]
    bare = client(
        root, "bare", security__protocol="SSL", ssl__truststore__type="PEM",
        ssl__truststore__location=str(authority() / "ca.pem"),
    )  # fmt: skip
    foreign = client(
        root, "foreign", security__protocol="SSL", ssl__truststore__type="PEM",
        ssl__truststore__location=str(authority("other") / "ca.pem"),
    )  # fmt: skip
    said = []

    for config, code in (
        ([], 2),
        (["--command-config", ann(root, "wrong")], 1),
        (["--command-config", bare], 2),
        (["--command-config", foreign], 1),
    ):
        assert main([*at, *config]) == code
        said.append(capsys.readouterr().err)

    assert "a listener with TLS or SASL needs the security settings of the client" in said[0]
    assert "authentication with SASL mechanism PLAIN is refused: Authentication failed: Invalid username" in said[1]
    assert "the connection ended after 0 of 4 bytes" in said[2]
    assert "its certificate is not trusted" in said[3]
    assert not any("wrong" in each.partition("refused")[0] or ANN in each for each in said)


def test_a_command_config_that_cannot_be_used_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = client(tmp_path, "odd", security__protocol="TLS")

    for verb in (["status"], ["wait"], ["topic", "alter", "orders", "--partitions", "3"]):
        code = main([*verb, "--bootstrap-controller", "localhost:1", "--command-config", path])

        said = capsys.readouterr().err
        assert code == 1
        assert said == (
            f"kraftctl {' '.join(verb[:2])}: {path}: security.protocol=TLS: only PLAINTEXT, SSL, SASL_SSL, "
            "SASL_PLAINTEXT are known\n"
        )


@pytest.fixture(name="strict", scope="module")
def _strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port and directory of a node with ACLs, of which ann has none."""
    port, root = free_port(), tmp_path_factory.mktemp("strict")
    settings = {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL", "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config":
            f'{MODULE} required username="node" password="{NODE}" user_node="{NODE}" user_ann="{ANN}";',
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:node", **stores("node"),
    }  # fmt: skip
    with running(root, port, **settings):
        assert main(["wait", "-c", str(root / "controller.properties"), "--timeout", "30"]) == 0
        yield port, root


def refused_everywhere(port: int, config: str, target: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What each command says that asks the quorum; its exit code is 1, and the timeouts are never reached."""
    where = f"127.0.0.1:{port}"
    at = ["--bootstrap-controller", where, "--command-config", config]
    commands = {
        "status": lambda: main(["status", *at]),
        "wait": lambda: main(["wait", *at, "--timeout", "600"]),
        "watch": lambda: main(["watch", *at]),
        "backup": lambda: main(["backup", "save", *at, str(target)]),
        "shell": lambda: shell(["--controllers", where, "--config", config, "ls"]),
    }
    said = []
    for name, command in commands.items():
        code = command()
        shown = capsys.readouterr()
        assert (name, code) == (name, 1)
        assert "no leader" not in shown.out + shown.err  # as after 30 s of further attempts
        assert "timed out" not in shown.err
        assert shown.err.count("\n") == 1, shown.err
        said.append(shown.err)
    return said


def test_a_wrong_password_is_the_answer_at_once(
    sasl: tuple[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = sasl

    said = refused_everywhere(port, ann(root, "not-hers"), tmp_path / "saved", capsys)

    assert ["authentication with SASL mechanism PLAIN is refused" in each for each in said] == [True] * 5


def test_a_wrong_authority_is_the_answer_at_once(
    sasl: tuple[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = sasl
    config = client(
        root, "foreign-authority", security__protocol="SSL", ssl__truststore__type="PEM",
        ssl__truststore__location=str(authority("other") / "ca.pem"),
    )  # fmt: skip

    said = refused_everywhere(port, config, tmp_path / "saved", capsys)

    assert ["its certificate is not trusted" in each for each in said] == [True] * 5


def test_a_certificate_that_the_node_does_not_trust_is_the_answer_at_once(
    mutual: tuple[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = mutual
    other = str(certificate("/O=Test/CN=ann", ca="other"))
    config = client(
        root, "foreign-certificate", security__protocol="SSL", **{**stores("ann"), "ssl.keystore.location": other}
    )

    said = refused_everywhere(port, config, tmp_path / "saved", capsys)

    assert [each for each in said if "it does not trust our certificate" not in each] == []


def test_a_missing_acl_is_the_answer_at_once(
    strict: tuple[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = strict

    said = refused_everywhere(port, ann(root), tmp_path / "saved", capsys)

    assert ["CLUSTER_AUTHORIZATION_FAILED" in each for each in said] == [True] * 5


def test_a_client_without_a_certificate_is_told_so_and_not_that_there_is_no_leader(
    mutual: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = mutual
    config = client(
        root, "bare", security__protocol="SSL",
        **{key: text for key, text in stores("ann").items() if "truststore" in key},
    )  # fmt: skip

    assert main(["status", "--bootstrap-controller", f"127.0.0.1:{port}", "--command-config", config]) == 1

    said = capsys.readouterr()
    assert "does not accept" in said.err
    assert "no leader" not in said.out + said.err
