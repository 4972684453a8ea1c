"""How this node gets the bearer token with which it authenticates to other controllers (KIP-768)."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING, Any, NamedTuple

from raft.network.bearer import TokenRefused
from raft.network.mechanisms import SaslRefused
from raft.security.bearer_tokens import TOKEN_CHARS_MAX, UnsecuredTokens, parts_of, read_json
from raft.security.http_fetch import FetchFailed, fetch
from records.hidden_text import hide_url_secrets

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from controller.security.refreshed import Refreshed
    from raft.security.watched_file import WatchedFile

WAIT_MS_MIN = 1000
_RESERVED = {"exp", "iat"}


class ClientToken(NamedTuple):
    """A token, and its times in ms since 1970."""

    text: str
    begins_ms: int
    expires_ms: int

    def __repr__(self) -> str:
        return "ClientToken([hidden])"


class Window(NamedTuple):
    """When a token is fetched again, by the keys `sasl.login.refresh.*`: shares of its lifetime, and times in ms."""

    factor: float
    jitter: float
    min_period_ms: int
    buffer_ms: int

    def wait_s(self, token: ClientToken, now_ms: int, draw: Callable[[], float]) -> float:
        """How long a token is kept from now on. draw: a random number from 0 to 1."""
        share = self.factor + self.jitter * draw()
        earliest_ms, latest_ms = now_ms + self.min_period_ms, token.expires_ms - self.buffer_ms
        if now_ms + self.min_period_ms + self.buffer_ms > token.expires_ms:
            planned_ms = now_ms + (token.expires_ms - now_ms) * share  # too short for both times
        else:
            planned_ms = token.begins_ms + (token.expires_ms - token.begins_ms) * share
            planned_ms = max(min(planned_ms, latest_ms), earliest_ms)
        return max(planned_ms - now_ms, WAIT_MS_MIN) / 1000


def client_token(text: str, now_ms: int) -> ClientToken:
    """A token, of which nothing is verified: the other side does that. Raises ValueError, without the token."""
    try:
        _, payload = parts_of(text)
        claims = read_json(payload, "its claims")
    except TokenRefused as error:
        raise ValueError(f"the token cannot be used: {error}") from None
    times = [claims.get(name) for name in ("exp", "iat")]
    if isinstance(times[0], bool) or not isinstance(times[0], int | float) or not 0 <= times[0] < 1 << 38:
        raise ValueError("the token cannot be used: it has no time in claim exp")
    is_issued = isinstance(times[1], int | float) and 0 <= times[1] <= times[0]
    return ClientToken(text, int(times[1] * 1000) if is_issued and times[1] else now_ms, int(times[0] * 1000))


class TokenRequest(NamedTuple):
    """What is asked of a token endpoint with client credentials (RFC 6749, section 4.4)."""

    url: str
    client_id: str
    client_secret: str
    scope: str | None
    timeout_s: float

    def __repr__(self) -> str:
        return f"TokenRequest({hide_url_secrets(self.url)})"

    def fetch(self, context: ssl.SSLContext | None, now_ms: int) -> ClientToken:
        """Blocks. Raises FetchFailed."""
        credentials = f"{self.client_id}:{self.client_secret}".encode()
        headers = {
            "Accept": "application/json",
            "Authorization": f"Basic {b64encode(credentials).decode()}",
            "Cache-Control": "no-cache",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        body = "grant_type=client_credentials" + (f"&scope={self.scope}" if self.scope else "")
        data = fetch(self.url, context, headers=headers, body=body.encode(), timeout_s=self.timeout_s)
        try:
            answer = json.loads(data)
            token = next(
                value.strip()
                for value in (answer.get("access_token"), answer.get("id_token"))
                if isinstance(value, str) and value.strip()
            )
        except (ValueError, AttributeError, StopIteration, RecursionError):
            raise FetchFailed(f"{hide_url_secrets(self.url)} answers without an access_token") from None
        try:
            return client_token(token, now_ms)
        except ValueError as error:
            raise FetchFailed(f"{hide_url_secrets(self.url)}: {error}") from None


class FetchedLogin:
    """The token that was fetched last."""

    def __init__(self, tokens: Refreshed[ClientToken], wall_ms: Callable[[], int]) -> None:
        self._tokens = tokens
        self._wall_ms = wall_ms

    def token(self) -> str:
        """Raises SaslRefused."""
        value = self._tokens.value
        if value.expires_ms <= self._wall_ms():
            raise SaslRefused("our token has expired, and sasl.oauthbearer.token.endpoint.url has given no new one")
        return value.text


class FileLogin:
    """The token in a file, which its issuer replaces before it expires."""

    def __init__(self, path: str, file: WatchedFile[ClientToken], wall_ms: Callable[[], int]) -> None:
        self._path = path
        self._file = file
        self._wall_ms = wall_ms

    def token(self) -> str:
        """Raises SaslRefused."""
        value = self._file.value()
        if value.expires_ms <= self._wall_ms():
            raise SaslRefused(f"our token in {self._path} has expired: write a new one to it")
        return value.text


class UnsecuredLogin:
    """A token that nobody signs, from the options of the login module, for development."""

    def __init__(self, options: dict[str, str], wall_ms: Callable[[], int]) -> None:
        """Raises ValueError for options that make no token."""
        self._claims = _claims(options)
        self._lifetime_s = int(options.get("unsecuredLoginLifetimeSeconds", "3600"))
        self._wall_ms = wall_ms
        name = options.get("unsecuredLoginPrincipalClaimName", "").strip() or "sub"
        try:
            UnsecuredTokens({"unsecuredValidatorPrincipalClaimName": name}, wall_ms).verify(self.token())
        except TokenRefused as error:
            raise ValueError(f"the options unsecuredLogin… of the login module make no token: {error}") from None

    def token(self) -> str:
        now_s = self._wall_ms() / 1000
        claims = {"exp": now_s + self._lifetime_s, "iat": now_s, **self._claims}
        header, payload = (
            urlsafe_b64encode(json.dumps(part, separators=(",", ":")).encode()).decode().rstrip("=")
            for part in ({"alg": "none"}, claims)
        )
        return f"{header}.{payload}."


def _claims(options: dict[str, str]) -> dict[str, Any]:
    kinds: tuple[tuple[str, Callable[[str], Any]], ...] = (
        ("unsecuredLoginStringClaim_", str), ("unsecuredLoginNumberClaim_", float), ("unsecuredLoginListClaim_", _list),
    )  # fmt: skip
    claims = {}
    for key, value in options.items():
        for prefix, kind in kinds:
            name = key.removeprefix(prefix)
            if name and name != key:
                if name in _RESERVED:
                    raise ValueError(f"Cannot explicitly set the '{name}' claim")
                claims[name] = kind(value)
    return claims


def _list(text: str) -> list[str]:
    """The first character separates the elements."""
    return text[1:].split(text[0]) if len(text) > 1 else []


def parse_token_file(wall_ms: Callable[[], int]) -> Callable[[bytes], ClientToken]:
    """What reads a file with a token. Raises ValueError, without the token."""

    def parse(data: bytes) -> ClientToken:
        if len(data) > TOKEN_CHARS_MAX:
            raise ValueError(f"it has more than {TOKEN_CHARS_MAX} bytes")
        return client_token(data.decode("latin-1").strip(), wall_ms())

    return parse
