"""Requests to the provider of tokens and keys, on real loopback sockets."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from base64 import b64encode
from typing import Self

import pytest

from raft.security.files import FileError
from raft.security.http_fetch import BYTES_MAX, FetchFailed, context_of, fetch
from tests.controller.security.providers import Provider
from tests.raft.network.certificates import authority, certificate, needs_openssl, server_context


def test_a_request_without_a_body_is_a_get_and_one_with_a_body_a_post():
    with Provider(b"answer") as provider:
        assert fetch(provider.url, None, headers={"X-A": "b"}) == b"answer"
        assert fetch(provider.url, None, body=b"a=b") == b"answer"

    found = [(method, path, headers["X-A"], body) for method, path, headers, body in provider.requests]
    assert found == [("GET", "/path", "b", b""), ("POST", "/path", None, b"a=b")]


@pytest.mark.parametrize("status", [400, 401, 404, 500, 503])
def test_an_error_is_named_without_its_content(status):
    with Provider(b"secret", status) as provider, pytest.raises(FetchFailed) as error:
        fetch(provider.url, None)

    assert str(error.value) == f"{provider.url} answers with HTTP status {status}"


def test_an_error_shows_neither_the_user_nor_the_query_of_the_url():
    with pytest.raises(FetchFailed) as error:
        fetch("http://kraft:s3cret@127.0.0.1:1/path?key=s3cret", None)

    assert str(error.value).startswith("http://[hidden]@127.0.0.1:1/path?[hidden] ")
    assert "s3cret" not in str(error.value)


def test_a_redirect_is_not_followed():
    with Provider(b"", 302) as provider, Provider(b"stolen") as other:
        provider.headers = {"Location": other.url}
        with pytest.raises(FetchFailed, match="redirect"):
            fetch(provider.url, None, headers={"Authorization": "Basic secret"})

    assert other.requests == []


def test_an_answer_that_is_too_large_is_refused():
    with Provider(b"x" * (BYTES_MAX + 1)) as provider, pytest.raises(FetchFailed, match="more than"):
        fetch(provider.url, None)


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    with Provider(b"direct") as provider:
        assert fetch(provider.url, None) == b"direct"


def test_a_provider_that_is_not_there_or_is_silent_is_named():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(FetchFailed, match="cannot be reached: timed out"):
            fetch(url, None, timeout_s=0.05)
    with pytest.raises(FetchFailed, match="cannot be reached: "):
        fetch(url, None)


@needs_openssl
@pytest.mark.parametrize("form", ["location", "certificates"])
def test_the_provider_is_trusted_by_the_truststore_of_the_login_module(form):
    path = authority() / "ca.pem"
    options = {"ssl.truststore.type": "PEM", f"ssl.truststore.{form}": str(path)}
    if form == "certificates":
        options[f"ssl.truststore.{form}"] = path.read_text()

    with Provider(b"x", context=server_context(certificate("/O=Test/CN=idp"))) as provider:
        assert fetch(provider.url, context_of(options)) == b"x"
        with pytest.raises(FetchFailed, match="certificate verify failed"):
            fetch(provider.url, context_of({}))


@needs_openssl
def test_a_certificate_for_another_name_is_refused():
    options = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority() / "ca.pem")}
    context = server_context(certificate("/O=Test/CN=other", names="DNS:other.example"))

    with Provider(b"x", context=context) as provider, pytest.raises(FetchFailed, match="certificate verify failed"):
        fetch(provider.url, context_of(options))


def test_a_truststore_without_certificates_is_refused(tmp_path):
    path = tmp_path / "ca.pem"
    path.write_bytes(b64encode(b"x"))

    with pytest.raises(FileError, match="holds no certificates"):
        context_of({"ssl.truststore.type": "PEM", "ssl.truststore.location": str(path)})


class Raw:
    """A provider that sends bytes as they are, one after the other, until the client leaves; a context manager."""

    def __init__(self, *parts: bytes) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        self._parts = parts
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._thread.join(10)

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(10_000)
            for part in self._parts:
                connection.sendall(part)
                time.sleep(0.02)


@pytest.mark.parametrize("answer", [b"hush\r\n\r\n", b"HTTP/1.1 x hush\r\n\r\n", b""])
def test_a_provider_that_speaks_no_http_is_named_and_not_shown(answer):
    with Raw(answer) as provider, pytest.raises(FetchFailed) as error:
        fetch(provider.url, None)

    assert str(error.value).startswith(provider.url)
    assert "hush" not in str(error.value)


def test_a_provider_that_sends_byte_by_byte_is_left():
    answer = b"HTTP/1.1 200 OK\r\n\r\n"

    with Raw(answer, *[b"x"] * 500) as provider, pytest.raises(FetchFailed, match="answers too slowly"):
        fetch(provider.url, None, timeout_s=0.1)
