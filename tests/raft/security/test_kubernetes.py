"""Values from Secrets and ConfigMaps, from a server on loopback that answers as the Kubernetes API does."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from controller.config.dynamic import DynamicConfig
from controller.config.node import NodeConfig
from raft.security import kubernetes
from raft.security.kubernetes import KubernetesProvider
from records.java.config_error import ConfigError
from tests.raft.network.certificates import certificate, needs_openssl, server_context
from tests.raft.security.kubernetes_api import KubernetesApi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_openssl

URL = "/api/v1/namespaces/kafka/secrets/node-0"
PROVIDERS = {
    "config.providers": "strimzisecrets,maps",
    "config.providers.strimzisecrets.class": "io.strimzi.kafka.KubernetesSecretConfigProvider",
    "config.providers.maps.class": "io.strimzi.kafka.KubernetesConfigMapConfigProvider",
}
NODE = {
    "process.roles": "controller", "node.id": "7", "controller.quorum.voters": "7@localhost:9093",
    "controller.listener.names": "CONTROLLER", "listeners": "CONTROLLER://localhost:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT", "log.dirs": "data", **PROVIDERS,
}  # fmt: skip


@pytest.fixture
def api(tmp_path: Path) -> Iterator[KubernetesApi]:
    with KubernetesApi(tmp_path) as found:
        found.secret("kafka/node-0", node_key=b"hush", node_crt=b"chain")
        yield found


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes, "LAST_ATTEMPT_S", 0.3)
    monkeypatch.setattr(kubernetes, "ATTEMPT_S", 1.0)
    monkeypatch.setattr(kubernetes, "FIRST_BACKOFF_S", 0.01)


def get(api: KubernetesApi, path: str = "kafka/node-0", *keys: str) -> dict[str, str]:
    return KubernetesProvider("Secret", api.environment)(path, frozenset(keys or ("node.key",)))


def refusal(api: KubernetesApi, path: str = "kafka/node-0") -> str:
    with pytest.raises(ConfigError) as error:
        get(api, path)
    assert api.token not in str(error.value)
    return str(error.value)


def test_the_keys_of_a_secret_are_decoded_and_others_are_left_out(api: KubernetesApi) -> None:
    assert get(api, "kafka/node-0", "node.key", "node.crt", "none") == {"node.key": "hush", "node.crt": "chain"}
    assert get(api, "node-0") == {"node.key": "hush"}, "the namespace of the pod"
    assert api.requests == [(URL, "first-token"), (URL, "first-token")]


def test_a_secret_without_data_has_no_keys(api: KubernetesApi) -> None:
    api.bodies[URL] = b'{"kind": "Secret"}'

    assert get(api) == {}


def test_a_config_map_holds_text(api: KubernetesApi) -> None:
    api.config_map("kafka/settings", level="hüsh")

    assert KubernetesProvider("ConfigMap", api.environment)("settings", frozenset({"level"})) == {"level": "hüsh"}


def test_one_request_reads_all_keys_of_a_resource(api: KubernetesApi) -> None:
    given = NODE | {"a": "${strimzisecrets:kafka/node-0:node.key}", "b": "${strimzisecrets:kafka/node-0:node.crt}"}

    config = NodeConfig(given, api.environment)

    assert (config.originals["a"], config.originals["b"]) == ("hush", "chain")
    assert config.looked_up == {"a", "b"}
    assert len(api.requests) == 1


def test_the_token_and_the_authority_are_read_again_for_each_request(api: KubernetesApi, tmp_path: Path) -> None:
    provider = KubernetesProvider("Secret", api.environment)
    provider("kafka/node-0", frozenset())
    api.token = "second-token"
    (tmp_path / "token").write_text("second-token")
    provider("kafka/node-0", frozenset())
    (tmp_path / "ca.crt").write_text("nothing")

    with pytest.raises(ConfigError, match=r"ca\.crt holds no certificates of the Kubernetes API"):
        provider("kafka/node-0", frozenset())

    assert [token for _, token in api.requests] == ["first-token", "second-token"]


def test_what_the_account_may_not_read_is_named_with_the_right_that_it_needs(api: KubernetesApi) -> None:
    api.readable = set()

    assert refusal(api) == (
        "Failed to retrieve Secret node-0 in namespace kafka: the service account of this pod may not read it (HTTP "
        "status 403): its Role needs the verb get for node-0 among the secrets of this namespace"
    )
    assert len(api.requests) == 1, "another attempt would change nothing"


def test_what_does_not_exist_is_named_as_strimzi_names_it(api: KubernetesApi) -> None:
    assert refusal(api, "kafka/none") == "Secret none in namespace kafka not found"


def test_a_token_that_is_not_accepted_is_named_by_its_file(api: KubernetesApi, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("stolen-token")

    text = refusal(api)

    assert text.endswith(f"HTTP status 401: it does not accept the token in {tmp_path}/token")
    assert "stolen-token" not in text


def test_an_api_server_that_is_busy_is_asked_again(api: KubernetesApi) -> None:
    api.failures.extend([503, 429])

    assert get(api) == {"node.key": "hush"}
    assert len(api.requests) == 3


def test_an_api_server_that_stays_busy_is_asked_for_a_bounded_time(api: KubernetesApi) -> None:
    api.failures.extend([500] * 1000)

    assert refusal(api).endswith("answers with HTTP status 500")
    assert 2 <= len(api.requests) < 100


def test_an_api_server_that_is_not_there_is_named(api: KubernetesApi) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    with pytest.raises(ConfigError, match=rf"the Kubernetes API at 127\.0\.0\.1:{port} cannot be reached: "):
        KubernetesProvider("Secret", api.environment | {kubernetes.PORT: str(port)})("kafka/node-0", frozenset())


@contextmanager
def raw(*parts: bytes) -> Iterator[str]:
    """The port of a server with the certificate of the API, which sends each part 0.2 s after the one before."""
    context = server_context(certificate("/CN=kube-apiserver", ca="kubernetes-ca"))
    end = threading.Event()

    def serve() -> None:
        while not end.is_set():
            try:
                taken, _ = listening.accept()
                with context.wrap_socket(taken, server_side=True) as connection:
                    connection.recv(1 << 16)
                    for number, part in enumerate(parts):
                        if number:
                            end.wait(0.2)
                        connection.sendall(part)
            except OSError:
                continue

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield str(listening.getsockname()[1])
        end.set()
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([b"HTTP/1.1 200 OK\r\n"] + [b"X: y\r\n"] * 100, "timed out"),
        ([], "cannot be reached: Remote end closed connection"),
        ([b"hush\r\n\r\n"], "does not answer in HTTP: BadStatusLine"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhush"], "does not answer in HTTP: IncompleteRead"),
        ([b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (kubernetes.ANSWER_BYTES_MAX + 1)], "the answer has more than 4194304 b"),
    ],
    ids=["slow", "nothing", "not HTTP", "cut", "large"],
)
def test_an_answer_that_is_slow_cut_or_large_is_refused(api: KubernetesApi, parts: list[bytes], text: str) -> None:
    with raw(*parts) as port, pytest.raises(ConfigError) as error:
        KubernetesProvider("Secret", api.environment | {kubernetes.PORT: port})("kafka/node-0", frozenset())

    assert text in str(error.value)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize("body", [b"hush", b"[]", b'{"data": "hush"}', b'{"data": {"node.key": 1}}', b"[" * 100_000])
def test_an_answer_that_is_no_secret_is_refused_and_not_shown(api: KubernetesApi, body: bytes) -> None:
    api.bodies[URL] = body

    assert refusal(api) == "Failed to retrieve Secret node-0 in namespace kafka: the answer is no Secret"


def test_a_value_that_is_not_base64_is_refused_and_not_shown(api: KubernetesApi) -> None:
    api.bodies[URL] = json.dumps({"data": {"node.key": "hush!"}}).encode()

    assert refusal(api).endswith("its key node.key is not base64")


def test_an_api_server_with_another_authority_does_not_get_the_token(api: KubernetesApi) -> None:
    text = certificate("/CN=other").read_text()
    (api.directory / "ca.crt").write_text(text[text.index("-----BEGIN CERTIFICATE") :])

    assert "its certificate is not trusted by" in refusal(api)
    assert api.requests == []


@pytest.mark.parametrize(
    "path", ["", "a/b/c", "../secrets", "kafka/", "kafka/no de", "Kafka/node", "kafka/node?x", "."]
)
def test_a_path_that_names_no_resource_is_refused_before_anything_is_asked(api: KubernetesApi, path: str) -> None:
    assert refusal(api, path).startswith(f"Invalid path {path}. It has to be in format <namespace>/<secret>")
    assert api.requests == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("token", None, "token cannot be read: No such file or directory. The Kubernetes API is asked only as"),
        ("token", "a\r\nX-Other: b", "token holds no token of a service account"),
        ("token", "", "token holds no token of a service account"),
        ("ca.crt", None, "ca.crt cannot be read: No such file or directory."),
    ],
)
def test_a_pod_without_an_account_is_told_what_is_missing(
    api: KubernetesApi, name: str, text: str | None, found: str
) -> None:
    (api.directory / name).unlink() if text is None else (api.directory / name).write_text(text)

    assert found in refusal(api)


def test_the_variables_of_the_pod_are_checked(api: KubernetesApi) -> None:
    for variable, value, text in (
        (kubernetes.PORT, "0", "the variable KUBERNETES_SERVICE_PORT is '0', which is no port"),
        (kubernetes.NAMESPACE, "a b", "the namespace of the pod is 'a b', which is no name of a namespace"),
    ):
        with pytest.raises(ConfigError, match=text):
            KubernetesProvider("Secret", api.environment | {variable: value})("node-0", frozenset())


def test_a_dynamic_config_of_a_running_node_does_not_wait_for_the_api(
    api: KubernetesApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in api.environment.items():
        monkeypatch.setenv(name, value)
    static = NodeConfig(NODE)

    dynamic = DynamicConfig(static, {"unknown.key": "${strimzisecrets:kafka/node-0:node.key}"}, {})

    assert dynamic.config is not static
    assert dynamic.config.originals["unknown.key"] == "${strimzisecrets:kafka/node-0:node.key}"
    assert api.requests == []


def test_a_configuration_without_such_a_provider_imports_neither_tls_nor_http() -> None:
    """They would take a tool a good part of its 100 ms."""
    code = (
        f"import sys; from controller.config.node import NodeConfig; NodeConfig({ {**NODE, 'config.providers': ''}!r});"
        "print(sorted({'ssl', 'http.client', 'raft.security.kubernetes'} & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout == "[]\n"
