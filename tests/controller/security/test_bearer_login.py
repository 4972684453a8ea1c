"""The token with which a node authenticates: from an endpoint, from a file, unsecured."""

from __future__ import annotations

import json
from base64 import b64decode
from urllib.parse import parse_qs

import pytest

from controller.security.bearer_login import (
    ClientToken,
    FetchedLogin,
    FileLogin,
    TokenRequest,
    UnsecuredLogin,
    Window,
    client_token,
    parse_token_file,
)
from raft.network.mechanisms import SaslRefused
from raft.security.bearer_tokens import UnsecuredTokens
from raft.security.files import FileError
from raft.security.http_fetch import FetchFailed
from raft.security.watched_file import WatchedFile
from tests.controller.security.providers import Provider
from tests.controller.security.signing import CLAIMS, NOW_S, signed, unsecured

NOW_MS = NOW_S * 1000


class Clock:
    """Both clocks, which a test turns."""

    def __init__(self) -> None:
        self.ms = NOW_MS

    def wall_ms(self) -> int:
        return self.ms

    def now(self) -> float:
        return self.ms / 1000


def request(url: str, scope: str | None = None) -> TokenRequest:
    return TokenRequest(url, "client", "hush", scope, 5.0)


@pytest.mark.parametrize("field", ["access_token", "id_token"])
def test_an_endpoint_is_asked_with_client_credentials(field):
    with Provider(json.dumps({field: signed()}).encode()) as provider:
        found = request(provider.url, "kafka").fetch(None, NOW_MS)

    assert found == ClientToken(signed(), CLAIMS["iat"] * 1000, CLAIMS["exp"] * 1000)
    ((method, _, headers, body),) = provider.requests
    assert (method, parse_qs(body.decode())) == ("POST", {"grant_type": ["client_credentials"], "scope": ["kafka"]})
    assert b64decode(headers["Authorization"].removeprefix("Basic ")) == b"client:hush"
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize(("access", "is_used"), [(unsecured({"exp": NOW_S + 5}), True), (" ", False), (5, False)])
def test_an_access_token_stands_before_an_id_token(access, is_used):
    identity = unsecured({"exp": NOW_S + 9})
    with Provider(json.dumps({"id_token": identity, "access_token": access}).encode()) as provider:
        found = request(provider.url).fetch(None, NOW_MS)

    assert found.text == (access if is_used else identity)


@pytest.mark.parametrize(
    "answer", [b"", b"[]", b"{}", b'{"access_token": 5}', b'{"access_token": " "}', b'{"access_token": "hush"}', b"5"]
)
def test_an_answer_without_a_token_is_named_and_not_shown(answer):
    with Provider(answer) as provider, pytest.raises(FetchFailed) as error:
        request(provider.url).fetch(None, NOW_MS)

    assert str(error.value).startswith(provider.url)
    assert "hush" not in str(error.value)


def test_nothing_secret_is_printed():
    assert "hush" not in repr(request("http://idp/"))
    assert "hush" not in repr(ClientToken("hush", 0, 1))


@pytest.mark.parametrize(
    ("begins_s", "expires_s", "wait_s"),
    [
        (0, 3600, 2880),
        (0, 1000, 700),
        (0, 350, 280),
        (0, 360, 60),
        (-2000, 1000, 400),
        (-3500, 1000, 100),
        (-100, 200, 160),
        (0, 0, 1),
    ],
)
def test_a_token_is_fetched_again_in_its_window(begins_s, expires_s, wait_s):
    """80 % of the lifetime, at least 60 s from now, at least 300 s before the end, where both are possible."""
    token = ClientToken("", NOW_MS + 1000 * begins_s, NOW_MS + 1000 * expires_s)

    assert Window(0.8, 0.05, 60_000, 300_000).wait_s(token, NOW_MS, lambda: 0.0) == wait_s


def test_a_fetched_token_is_used_until_it_expires():
    class Fetched:
        value = ClientToken("token", 0, NOW_MS + 1)

    clock = Clock()
    login = FetchedLogin(Fetched(), clock.wall_ms)

    assert login.token() == "token"
    clock.ms += 1
    with pytest.raises(SaslRefused, match="our token has expired"):
        login.token()


def test_a_token_in_a_file_is_replaced_without_a_restart(tmp_path):
    path, clock = tmp_path / "token", Clock()
    path.write_text(signed() + "\n")
    file = WatchedFile(str(path), parse_token_file(clock.wall_ms), clock.now, lambda *_: None)
    login = FileLogin(str(path), file, clock.wall_ms)

    assert login.token() == signed()
    clock.ms = CLAIMS["exp"] * 1000
    with pytest.raises(SaslRefused, match="has expired: write a new one to it"):
        login.token()
    newer = signed(exp=CLAIMS["exp"] + 600)
    path.write_text(newer)
    clock.ms += 1001
    assert login.token() == newer


@pytest.mark.parametrize("content", ["hush", "", "a.b.hush", unsecured({"sub": "hush"}), unsecured({"exp": "hush"})])
def test_a_file_without_a_token_is_named_and_not_shown(tmp_path, content):
    path = tmp_path / "token"
    path.write_text(content)

    with pytest.raises(FileError, match="the token cannot be used") as error:
        WatchedFile(str(path), parse_token_file(lambda: NOW_MS), lambda: 0.0, lambda *_: None)
    assert not content or content not in str(error.value)


def test_a_token_without_iat_begins_now():
    assert client_token(unsecured({"exp": NOW_S + 5}), NOW_MS).begins_ms == NOW_MS


def test_an_unsecured_token_is_made_of_the_options():
    options = {
        "unsecuredLoginStringClaim_sub": 'a"b', "unsecuredLoginNumberClaim_n": "1.5",
        "unsecuredLoginListClaim_l": "|a|b",        "unsecuredLoginLifetimeSeconds": "60",
    }  # fmt: skip
    token = UnsecuredLogin(options, lambda: NOW_MS).token()

    verified = UnsecuredTokens({}, lambda: NOW_MS).verify(token)
    assert (verified.name, verified.expires_ms) == ('a"b', NOW_MS + 60_000)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "make no token: it has no text in claim sub"),
        ({"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginStringClaim_exp": "1"}, "Cannot explicitly set"),
        ({"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginPrincipalClaimName": "x"}, "no text in claim x"),
        ({"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginLifetimeSeconds": "long"}, "invalid literal"),
    ],
)
def test_options_that_make_no_token_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        UnsecuredLogin(options, lambda: NOW_MS)
