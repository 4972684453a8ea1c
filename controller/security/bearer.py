"""From the configuration to both sides of OAUTHBEARER."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from controller.config.security import bearer_checks as checks
from controller.security.bearer_login import FetchedLogin, FileLogin, TokenRequest, UnsecuredLogin, Window
from controller.security.bearer_login import parse_token_file as token_parser
from controller.security.refreshed import Refreshed
from raft.network.bearer import BearerClient, BearerServer, is_extension
from raft.security.bearer_tokens import Rules, SignedTokens, UnsecuredTokens
from raft.security.http_fetch import TIMEOUT_S, FetchFailed, context_of, fetch
from raft.security.jwks import parse_key_set
from raft.security.watched_file import WatchedFile
from records.extras import install_command
from records.hidden_text import hide_url_secrets

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from controller.config.security.listener_values import ListenerValues
    from controller.security.bearer_login import ClientToken
    from raft.security.jaas import Module
    from raft.security.jwks import KeySet


class Surroundings(NamedTuple):
    """What both sides need. now: a clock, in s; wall_ms: the wall clock; note: takes events for the log, on any
    thread; opened: what must be closed at the end.
    """

    now: Callable[[], float]
    wall_ms: Callable[[], int]
    note: Callable[[str, dict[str, Any]], None]
    opened: list[Refreshed[Any]]


# A key that the set lacks makes it be fetched again, at most once in this time for all of them together.
MISSING_S = 60.0
LOGIN_BACKOFF_S = 10.0


class MissingLibrary(ValueError):
    """A package that is an extra is not installed."""


def bearer_server(values: ListenerValues, module: Module, around: Surroundings) -> Callable[[], BearerServer]:
    """What makes one exchange of a server. Raises ValueError, with one line."""
    if not checks.is_signed(values):
        tokens = UnsecuredTokens(module.options, around.wall_ms)
        return lambda: BearerServer(tokens.verify)
    try:
        import jwt
        import jwt.algorithms

        if not jwt.algorithms.has_crypto:
            raise ModuleNotFoundError
    except ModuleNotFoundError:
        raise MissingLibrary(
            f"listener {values.name} has SASL mechanism OAUTHBEARER, which needs a package: "
            f"{install_command('security')}"
        ) from None

    def number(key: str) -> int:
        return checks.integer_of(values, key) or 0

    url = checks.url_of(values, checks.JWKS_URL)
    audiences = values.mechanism_value(checks.OAUTHBEARER, checks.AUDIENCE)
    rules = Rules(
        None if checks.takes_any_audience(values) else frozenset(audiences if isinstance(audiences, tuple) else ()),
        checks.text_of(values, checks.ISSUER),
        number("sasl.oauthbearer.clock.skew.seconds"),
        checks.text_of(values, "sasl.oauthbearer.scope.claim.name") or "scope",
        checks.text_of(values, "sasl.oauthbearer.sub.claim.name") or "sub",
    )
    if checks.is_file(url):
        file = WatchedFile(path_of(url), parse_key_set, around.now, around.note)
        signed = SignedTokens(file.value, lambda _id: None, rules, around.wall_ms)
    else:
        context = provider_context(url, module.options)

        def fetch_keys() -> KeySet:
            try:
                return parse_key_set(fetch(url, context, headers={"Accept": "application/json"}))
            except FetchFailed:
                raise
            except ValueError as error:
                raise FetchFailed(f"{hide_url_secrets(url)}: {error}") from None

        refresh_s = max(number("sasl.oauthbearer.jwks.endpoint.refresh.ms") / 1000, 1.0)
        prefix = "sasl.oauthbearer.jwks.endpoint.retry.backoff."
        keys = Refreshed(
            checks.JWKS_URL, fetch_keys, wait_s=lambda _keys: refresh_s,
            backoff_s=(max(number(prefix + "ms"), 100) / 1000, max(number(prefix + "max.ms"), 100) / 1000),
            note=around.note,
        )  # fmt: skip
        around.opened.append(keys)
        signed = SignedTokens(lambda: keys.value, Missing(keys.hurry, around.now).missing, rules, around.wall_ms)
    return lambda: BearerServer(signed.verify)


class Missing:
    """Allows a fetch of the keys at most once in MISSING_S: tokens with invented key ids must not make this node send
    requests to the provider all the time.
    """

    def __init__(self, hurry: Callable[[], None], now: Callable[[], float]) -> None:
        self._hurry = hurry
        self._now = now
        self._asked_at: float | None = None

    def missing(self, _key_id: str) -> None:
        """A token names a key that the set lacks."""
        if self._asked_at is None or self._now() - self._asked_at >= MISSING_S:
            self._asked_at = self._now()
            self._hurry()


def bearer_client(values: ListenerValues, module: Module, around: Surroundings) -> Callable[[], BearerClient]:
    """What makes one exchange of a client. Raises ValueError, with one line."""
    login = _login(values, module, around)
    is_signed = checks.is_signed_login(values)
    prefix = "extension_" if is_signed else "unsecuredLoginExtension_"
    extensions = {key[len(prefix) :]: value for key, value in module.options.items() if key.startswith(prefix)}
    for name, value in extensions.items():
        if not is_extension(name, value):
            raise ValueError(f"the login module of listener {values.name} has an extension {name!r} that is invalid")
    return lambda: BearerClient(login.token, extensions)


def _login(values: ListenerValues, module: Module, around: Surroundings) -> FetchedLogin | FileLogin | UnsecuredLogin:
    if not checks.is_signed_login(values):
        return UnsecuredLogin(module.options, around.wall_ms)
    url = checks.url_of(values, checks.TOKEN_URL)
    if checks.is_file(url):
        path = path_of(url)
        file = WatchedFile(path, token_parser(around.wall_ms), around.now, around.note)
        return FileLogin(path, file, around.wall_ms)
    timeouts = [checks.integer_of(values, f"sasl.login.{kind}.timeout.ms") for kind in ("connect", "read")]
    request = TokenRequest(
        url,
        checks.text_of(values, checks.CLIENT_ID) or module.options["clientId"].strip(),
        checks.text_of(values, checks.CLIENT_SECRET) or module.options["clientSecret"].strip(),
        checks.text_of(values, checks.SCOPE) or module.options.get("scope", "").strip() or None,
        max((each / 1000 for each in timeouts if each), default=TIMEOUT_S),
    )
    context = provider_context(url, module.options)
    window = Window(
        float_of(values, "sasl.login.refresh.window.factor"),
        float_of(values, "sasl.login.refresh.window.jitter"),
        1000 * (checks.integer_of(values, "sasl.login.refresh.min.period.seconds") or 0),
        1000 * (checks.integer_of(values, "sasl.login.refresh.buffer.seconds") or 0),
    )

    def wait_s(token: ClientToken) -> float:
        return window.wait_s(token, around.wall_ms(), random.random)

    tokens = Refreshed(
        checks.TOKEN_URL, lambda: request.fetch(context, around.wall_ms()), wait_s=wait_s,
        backoff_s=(max(checks.integer_of(values, "sasl.login.retry.backoff.ms") or 0, 100) / 1000, LOGIN_BACKOFF_S),
        note=around.note,
    )  # fmt: skip
    around.opened.append(tokens)
    return FetchedLogin(tokens, around.wall_ms)


def float_of(values: ListenerValues, key: str) -> float:
    value = values.mechanism_value(checks.OAUTHBEARER, key)
    assert isinstance(value, int | float), key
    return value


def provider_context(url: str, options: dict[str, str]) -> ssl.SSLContext | None:
    """The TLS context for a URL; None without TLS. Raises FileError."""
    return context_of(options) if url.lower().startswith("https:") else None


def path_of(url: str) -> str:
    """The path in a `file:` URL."""
    return unquote(urlsplit(url).path)
