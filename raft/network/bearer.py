"""SASL/OAUTHBEARER without IO, both sides (RFC 7628, KIP-255, KIP-342). What a token must be, its validator says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from raft.network.mechanisms import TOKEN_BYTES_MAX, SaslRefused, quote_user

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OAUTHBEARER = "OAUTHBEARER"
_SEPARATOR = "\x01"
_NAME = r"(?:[\x01-\x2B\x2D-\x3C\x3E-\x7F]|=2C|=3D)+"
_VALUE = r"[\x21-\x7E \t\r\n]+"
_FIRST = re.compile(rf"n,(?:a=(?P<authzid>{_NAME}))?,\x01(?P<pairs>(?:[A-Za-z]+={_VALUE}\x01)*)\x01")
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.ASCII)
_EXTENSION_NAME, _EXTENSION_VALUE = re.compile("[A-Za-z]+"), re.compile(_VALUE)


class Verified(NamedTuple):
    """What a valid token says. name: of the principal; expires_ms: since 1970."""

    name: str
    expires_ms: int


class TokenRefused(Exception):
    """A token is not valid. str(): why, without the token; status: of the answer; scope: that is missing, or None."""

    def __init__(self, reason: str, status: str = "invalid_token", scope: str | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.scope = scope


class BearerServer:
    """OAUTHBEARER. verify: raises TokenRefused."""

    def __init__(self, verify: Callable[[str], Verified]) -> None:
        self.name: str | None = None
        self.is_token = False
        self.expires_ms: int | None = None
        self._verify = verify
        self._refused: SaslRefused | None = None

    def answer(self, token: bytes) -> bytes:
        if self._refused is not None:
            # The client has read why, and agrees to the end (RFC 7628, section 3.2.3); anything else ends it as well.
            raise self._refused
        if len(token) > TOKEN_BYTES_MAX:
            raise SaslRefused(f"its token has more than {TOKEN_BYTES_MAX} bytes")
        authorization, value = read_first(token)
        try:
            verified = self._verify(value)
        except TokenRefused as error:
            scope = "" if error.scope is None else f', "scope":"{error.scope}"'
            text = f'{{"status":"{error.status}"{scope}}}'
            self._refused = SaslRefused(f"the token is refused: {error}", text)
            return text.encode()
        if authorization and authorization != verified.name:
            text = (
                f"Authentication failed: Client requested an authorization id ({authorization}) that is different from "
                f"the token's principal name ({verified.name})"
            )
            raise SaslRefused(text[:500], text)
        self.name, self.expires_ms = verified
        return b""


class BearerClient:
    """OAUTHBEARER. token: the present one, raises SaslRefused; extensions: sent beside it (KIP-342)."""

    blocks = False

    def __init__(self, token: Callable[[], str], extensions: Mapping[str, str]) -> None:
        self.is_complete = False
        self.host = ""
        self._token = token
        self._extensions = extensions

    def first(self) -> bytes:
        pairs = [f"auth=Bearer {self._token()}", *(f"{name}={value}" for name, value in self._extensions.items())]
        return f"n,,{_SEPARATOR}{''.join(pair + _SEPARATOR for pair in pairs)}{_SEPARATOR}".encode()

    def answer(self, token: bytes) -> bytes | None:
        if token:
            return _SEPARATOR.encode()  # after that the server says in its own way that it refuses
        self.is_complete = True
        return None


def is_extension(name: str, value: str) -> bool:
    """Whether a client may send this extension."""
    is_name = _EXTENSION_NAME.fullmatch(name) is not None and name != "auth"
    return is_name and _EXTENSION_VALUE.fullmatch(value) is not None


def read_first(token: bytes) -> tuple[str, str]:
    """The authorization id, empty where there is none, and the bearer token. Raises SaslRefused."""
    match = _FIRST.fullmatch(token.decode("utf-8", "replace"))
    if match is None:
        raise SaslRefused("its first message is not one of OAUTHBEARER")
    pairs = dict(pair.split("=", 1) for pair in match["pairs"].split(_SEPARATOR) if pair)
    auth = _AUTH.fullmatch(pairs.get("auth", ""))
    if auth is None:
        raise SaslRefused("its first message has no token in 'auth'")
    if auth["scheme"].lower() != "bearer":
        raise SaslRefused(f"its first message has scheme {quote_user(auth['scheme'])}, not Bearer")
    return match["authzid"] or "", auth["token"]
