"""Certificates and tokens of the HTTP port and the watch service: what is refused, and which clients are allowed."""

from __future__ import annotations

import shutil
import ssl
from pathlib import Path
from typing import Any

import pytest

from controller.config.edges import HTTP
from controller.config.node import NodeConfig
from controller.security.edges import EdgeSecurity, PemPaths, read_pems, read_tokens
from controller.server.http.pod import security_of
from raft.security import sessions
from raft.security.files import FileError
from tests.controller.config.test_edges import NODE
from tests.raft.security.test_sessions import shake_hands

TLS = Path(__file__).parents[2] / "data" / "tls"
TOKEN = "0123456789abcdef"


def paths(chain: Path, key: Path, client_ca: Path | None = None) -> PemPaths:
    return PemPaths(str(chain), str(key), None if client_ca is None else str(client_ca))


def put(directory: Path, name: str) -> dict[str, str]:
    """Copy the certificate of this name to `chain.pem` and `chain.key`; the keys that name them."""
    shutil.copy(TLS / f"{name}.pem", directory / "chain.pem")
    shutil.copy(TLS / f"{name}.key", directory / "chain.key")
    return {HTTP.certificate: str(directory / "chain.pem"), HTTP.key: str(directory / "chain.key")}


def security(notes: list[Any], **keys: str) -> EdgeSecurity:
    config = NodeConfig({**NODE, HTTP.listener: "127.0.0.1:9644", **keys})
    return EdgeSecurity(config, HTTP, now=lambda: 0.0, note=lambda *note: notes.append(note))


def test_a_certificate_its_key_and_the_authority_are_read() -> None:
    pems = read_pems(paths(TLS / "node.pem", TLS / "node.key", TLS / "ca.pem"))

    assert tuple(pems) == tuple((TLS / name).read_bytes() for name in ("node.pem", "node.key", "ca.pem"))
    assert "PRIVATE" not in repr(pems)


@pytest.mark.parametrize(
    ("chain", "key", "client_ca", "text"),
    [
        ("missing.pem", "node.key", None, "missing.pem: No such file or directory"),
        ("node.pem", "renewed.key", None, "does not match the key in"),
        ("README.md", "node.key", None, "README.md does not match the key in"),
        ("node.pem", "node.key", "README.md", "README.md holds no certificate"),
        ("node.pem", "node.key", "node.key", "node.key holds no certificate"),
        ("node.pem", "node.key", "missing.pem", "missing.pem: No such file or directory"),
    ],
)
def test_files_that_cannot_be_used_are_refused_by_name(chain: str, key: str, client_ca: str | None, text: str) -> None:
    given = paths(TLS / chain, TLS / key, None if client_ca is None else TLS / client_ca)

    with pytest.raises(FileError) as refused:
        read_pems(given)

    assert text in str(refused.value)
    assert "PRIVATE" not in str(refused.value)


def test_a_renewed_certificate_is_another_context_and_is_logged_with_its_port(tmp_path: Path) -> None:
    notes: list[Any] = []
    edge = security(notes, **put(tmp_path, "node"))

    first = edge.context()
    same = edge.context() is first
    put(tmp_path, "renewed")
    renewed = edge.context() is not first

    assert (same, renewed) == (True, True)
    fields = {"listener": HTTP.listener, "file": str(tmp_path / "chain.pem")}
    assert notes == [("certificate_renewed", fields)]


def test_another_authority_of_clients_is_used_without_a_restart(tmp_path: Path) -> None:
    notes: list[Any] = []
    shutil.copy(TLS / "ca.pem", tmp_path / "ca.pem")
    edge = security(notes, **put(tmp_path, "node"), **{HTTP.client_ca: str(tmp_path / "ca.pem")})
    first = edge.context()

    shutil.copy(TLS / "foreign.pem", tmp_path / "ca.pem")

    assert edge.context() is not first
    assert edge.context().get_ca_certs() != first.get_ca_certs()
    assert [name for name, _ in notes] == ["certificate_renewed"]


@pytest.mark.parametrize("is_agent", [False, True], ids=["http", "agent"])
def test_a_port_with_many_sessions_gets_a_new_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_agent: bool
) -> None:
    monkeypatch.setattr(sessions, "CACHED_MAX", 1)
    edge = security([], **put(tmp_path, "node"))
    context_of_port = security_of(edge.pems()).context if is_agent else edge.context
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client.maximum_version = ssl.TLSVersion.TLSv1_2

    first = context_of_port()
    # The sessions of open connections are in the cache in every release of Python.
    kept = [shake_hands(first, client)]
    assert context_of_port() is first
    kept.append(shake_hands(first, client))
    second = context_of_port()

    assert second is not first
    assert context_of_port() is second
    assert len(kept) == 2


def test_files_that_do_not_match_are_logged_once_and_not_used(tmp_path: Path) -> None:
    notes: list[Any] = []
    edge = security(notes, **put(tmp_path, "node"))
    first = edge.context()

    shutil.copy(TLS / "renewed.pem", tmp_path / "chain.pem")
    half = [edge.context(), edge.context()]
    shutil.copy(TLS / "renewed.key", tmp_path / "chain.key")

    assert half == [first, first]
    assert edge.context() is not first
    assert [name for name, _ in notes] == ["certificate_refused", "certificate_renewed"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has 0 tokens, not 1 to 16"),
        ("\n \n", "has 0 tokens, not 1 to 16"),
        ("short", "line 1: a token has 16 to 4096"),
        (f"{TOKEN}\n\n{TOKEN} {TOKEN}", "line 3: a token has 16 to 4096"),
        (f"{TOKEN}=x", "line 1: a token has"),
        ("ü" * 20, "line 1: a token has"),
        ("x" * 4097, "line 1: a token has"),
        (f"{TOKEN}\n" * 17, "has 17 tokens, not 1 to 16"),
        ("x" * ((1 << 20) + 1), "has more than 1048576 bytes"),
    ],
)
def test_a_file_without_tokens_is_refused_and_none_is_shown(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(text)

    with pytest.raises(FileError) as refused:
        read_tokens(str(path))

    assert said in str(refused.value)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    ("header", "may"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer  {TOKEN}z ", True),
        (f"Bearer {TOKEN}y", False),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        ("Bearer ", False),
        ("Bearer \xff", False),
        (None, False),
    ],
)
def test_a_call_must_have_one_of_the_tokens(tmp_path: Path, header: str | None, may: bool) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\n\n  {TOKEN}z\n")
    edge = security([], **{HTTP.token: str(path)})

    assert edge.has_sent_token(None if header is None else header.encode("latin-1")) is may


def test_a_token_is_exchanged_without_a_restart(tmp_path: Path) -> None:
    path, notes = tmp_path / "tokens", list[Any]()
    path.write_text(TOKEN)
    edge = security(notes, **{HTTP.token: str(path)})

    path.write_text(f"{TOKEN}2")
    may = [edge.has_sent_token(f"Bearer {TOKEN}{end}".encode()) for end in ("", "2")]

    assert may == [False, True]
    assert notes == [("certificate_renewed", {"listener": HTTP.listener, "file": str(path)})]


def test_without_keys_anybody_may_call() -> None:
    edge = security([])

    assert (edge.has_tls, edge.has_sent_token(None), edge.has_name([])) == (False, True, True)


NAMES = ("CN=watcher", "DNS=watch.example.org", "URI=spiffe://example.org/watcher")


@pytest.mark.parametrize(
    ("allowed", "may"),
    [
        ("*", True),
        ("CN=other,CN=watcher", True),
        ("URI=spiffe://example.org/watcher", True),
        ("CN=other", False),
        ("DNS=watcher", False),
        ("CN=watch.example.org", False),
        ("CN=Watcher", False),
    ],
)
def test_one_of_the_names_must_be_allowed_under_its_kind(tmp_path: Path, allowed: str, may: bool) -> None:
    edge = security([], **put(tmp_path, "node"), **{HTTP.client_ca: str(TLS / "ca.pem"), HTTP.allow: allowed})

    assert (edge.has_name(NAMES), edge.has_name([])) == (may, allowed == "*")
