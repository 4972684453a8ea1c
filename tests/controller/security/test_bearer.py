"""From the configuration to both sides of OAUTHBEARER."""

from __future__ import annotations

import json
import sys
from typing import Self

import pytest

from controller.config.node import NodeConfig
from controller.config.security.bearer_checks import SIGNED_HANDLER, SIGNED_LOGIN
from controller.security.bearer import MISSING_S, Missing, path_of
from controller.security.listeners import Security
from raft.network.mechanisms import SaslRefused
from raft.security.http_fetch import FetchFailed
from tests.controller.config.security.test_bearer_checks import MODERN, OAUTH, PREFIX, UNSECURED
from tests.controller.config.security.test_security_checks import given
from tests.controller.security.providers import Provider
from tests.controller.security.signing import NOW_S, key_set, public_jwk, signed

UNVERIFIED = {
    OAUTH + "expected.audience": "", OAUTH + "allow.unverified.audience": "true",
    OAUTH + "expected.issuer": "", OAUTH + "allow.unverified.issuer": "true",
}  # fmt: skip


class Both:
    """A listener, and this node's own connections; a context manager."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.clock = 0.0
        self.notes = []
        self.security = Security(
            NodeConfig(given("SASL_PLAINTEXT", **settings), {}), now=lambda: self.clock,
            note=lambda name, fields: self.notes.append((name, fields)), wall_ms=lambda: NOW_S * 1000,
            state=lambda: None,
        )  # fmt: skip
        self.client = self.security.client().mechanism[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.security.close()

    def log_in(self) -> tuple[str | None, int | None]:
        """The authenticated principal, and until when it is. Raises SaslRefused."""
        server = self.security.listener("CONTROLLER").sasl.mechanisms["OAUTHBEARER"]()
        client = self.client()
        token = client.first()
        while token is not None:
            token = client.answer(server.answer(token))
        return server.name, server.expires_ms


def test_unsecured_tokens_name_whom_the_options_name():
    with Both(UNSECURED) as both:
        assert both.log_in() == ("node", (NOW_S + 3600) * 1000)


def test_keys_and_token_come_from_files(tmp_path):
    keys, token = tmp_path / "jwks.json", tmp_path / "a token"
    keys.write_bytes(key_set(public_jwk("RSA")))
    token.write_text(signed(sub="node"))
    settings = MODERN | UNVERIFIED | {
        OAUTH + "jwks.endpoint.url": f"file:{keys}", OAUTH + "token.endpoint.url": f"file:{tmp_path}/a%20token",
    }  # fmt: skip
    with Both(settings) as both:
        assert both.log_in() == ("node", (NOW_S + 600) * 1000)

        keys.write_bytes(key_set(public_jwk("RSA3072")))
        both.clock += 2
        with pytest.raises(SaslRefused, match="its signature is wrong"):
            both.log_in()


def test_keys_and_token_come_from_endpoints():
    answer = json.dumps({"access_token": signed(sub="node", aud="kafka")}).encode()
    with Provider(key_set(public_jwk("RSA", kid="1"))) as keys, Provider(answer) as tokens:
        settings = MODERN | UNVERIFIED | {
            OAUTH + "jwks.endpoint.url": keys.url, OAUTH + "token.endpoint.url": tokens.url,
            f"{PREFIX}{OAUTH}expected.audience": "kafka,other",
        }  # fmt: skip
        with Both(settings) as both:
            assert both.log_in()[0] == "node"
            assert (len(keys.requests), len(tokens.requests)) == (1, 1)

            tokens.answer = keys.answer = b"not what is wanted"
            assert both.log_in()[0] == "node"


@pytest.mark.parametrize("which", ["jwks.endpoint.url", "token.endpoint.url"])
def test_a_node_whose_provider_does_not_answer_does_not_start(tmp_path, which):
    (tmp_path / "jwks.json").write_bytes(key_set(public_jwk("RSA")))
    (tmp_path / "token").write_text(signed())
    settings = MODERN | {
        OAUTH + "jwks.endpoint.url": f"file:{tmp_path}/jwks.json",
        OAUTH + "token.endpoint.url": f"file:{tmp_path}/token",
    }  # fmt: skip
    with Provider(b"", 503) as provider, pytest.raises(FetchFailed, match="HTTP status 503"):
        Both(settings | {OAUTH + which: provider.url})


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jwt", None)

    with pytest.raises(ValueError, match=r"needs a package: pip install 'cryptography>=42' 'PyJWT>=2\.12'"):
        Both(MODERN)


def test_keys_that_are_missing_are_asked_for_once_a_minute():
    asked, clock = [], [0.0]
    missing = Missing(lambda: asked.append(clock[0]), lambda: clock[0])

    for moment in (0.0, 1.0, MISSING_S - 1, MISSING_S, MISSING_S + 1):
        clock[0] = moment
        missing.missing("key")
    assert asked == [0.0, MISSING_S]


@pytest.mark.parametrize("value", ["", "\x01"])
def test_an_extension_that_is_invalid_is_refused(value):
    module = UNSECURED[PREFIX + "sasl.jaas.config"].replace(";", f' unsecuredLoginExtension_a="{value}";')

    with pytest.raises(ValueError, match="has an extension 'a' that is invalid"):
        Both(UNSECURED | {PREFIX + "sasl.jaas.config": module})


def test_a_file_url_has_a_path():
    assert [path_of(url) for url in ("file:/a/b", "file:///a/b%20c")] == ["/a/b", "/a/b c"]
    assert SIGNED_HANDLER != SIGNED_LOGIN
