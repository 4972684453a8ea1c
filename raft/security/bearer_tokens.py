"""Whether a bearer token is valid: signed ones (RFC 7519, KIP-768), and unsecured ones, which are for development."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from raft.network.bearer import TokenRefused, Verified
from raft.network.mechanisms import quote_user
from raft.security.jwks import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.security.jwks import KeySet

TOKEN_CHARS_MAX = 64 << 10
KEY_ID_CHARS_MAX = 1000
_PART = re.compile(r"[A-Za-z0-9_-]*")


class Rules(NamedTuple):
    """What a signed token must have, by the keys `sasl.oauthbearer.*`.

    audiences: one of them; empty: none at all; None: any, or none.
    """

    audiences: frozenset[str] | None
    issuer: str | None
    clock_skew_s: int
    scope_claim: str
    subject_claim: str


class SignedTokens:
    """The validator of a listener with a JWKS."""

    def __init__(
        self, keys: Callable[[], KeySet], on_missing: Callable[[str], None], rules: Rules, wall_ms: Callable[[], int]
    ) -> None:
        """on_missing: takes the id of a key that the set does not have."""
        self._keys = keys
        self._on_missing = on_missing
        self._rules = rules
        self._wall_ms = wall_ms

    def verify(self, token: str) -> Verified:
        """What the token says. Raises TokenRefused."""
        header, _ = parts_of(token)
        claims = read_json(self._payload(token, header), "its claims")
        return self._check_claims(claims)

    def _payload(self, token: str, header: dict[str, Any]) -> bytes:
        """The claims, when the signature is right."""
        import jwt

        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise TokenRefused(f"it is signed by algorithm {quote_user(str(algorithm))}, which is not accepted")
        if "crit" in header:
            raise TokenRefused("its header has critical parameters that are not known here")
        key_id = header.get("kid")
        if key_id is not None and not isinstance(key_id, str):
            raise TokenRefused("its key id is no text")
        if key_id is None:
            header.pop("kid", None)
        keys = self._keys()
        if key_id is not None and not keys.has(key_id):
            if len(key_id) <= KEY_ID_CHARS_MAX:
                self._on_missing(key_id)
            raise TokenRefused(
                f"it is signed by key {quote_user(key_id)}, which sasl.oauthbearer.jwks.endpoint.url lacks"
            )
        verifier = jwt.PyJWS()
        candidates = keys.candidates(header)
        reason = "its signature is wrong"
        if not candidates:
            reason = f"sasl.oauthbearer.jwks.endpoint.url has no key for {algorithm} that fits it"
        for key in candidates:
            try:
                decoded = verifier.decode_complete(
                    token, key, algorithms=[algorithm], options={"enforce_minimum_key_length": True}
                )
            except jwt.InvalidKeyError:
                reason = f"its key is too short for {algorithm}"
                continue
            except jwt.PyJWTError:
                continue
            payload: bytes = decoded["payload"]
            return payload
        raise TokenRefused(reason)

    def _check_claims(self, claims: dict[str, Any]) -> Verified:
        rules = self._rules
        now_s = self._wall_ms() // 1000
        expires_s = _time(claims, "exp", is_required=True)
        issued_s = _time(claims, "iat", is_required=True)
        begins_s = _time(claims, "nbf", is_required=False)
        assert expires_s is not None
        assert issued_s is not None
        if now_s - rules.clock_skew_s >= expires_s:
            raise TokenRefused(
                f"it expired {now_s - expires_s} s ago; compare the clocks, or sasl.oauthbearer.clock.skew.seconds"
            )
        if begins_s is not None and now_s + rules.clock_skew_s < begins_s:
            raise TokenRefused(
                f"it is valid only in {begins_s - now_s} s; compare the clocks, or sasl.oauthbearer.clock.skew.seconds"
            )
        if expires_s < issued_s or (begins_s is not None and expires_s < begins_s):
            raise TokenRefused("it expires before it begins")
        if rules.issuer is not None and claims.get("iss") != rules.issuer:
            raise TokenRefused("its issuer is another than sasl.oauthbearer.expected.issuer")
        _check_audience(claims.get("aud"), rules.audiences)
        _check_scopes(claims.get(rules.scope_claim), rules.scope_claim)
        name = claims.get(rules.subject_claim)
        if not isinstance(name, str) or not name.strip():
            raise TokenRefused(f"it has no text in claim {rules.subject_claim} (sasl.oauthbearer.sub.claim.name)")
        return Verified(name.strip(), expires_s * 1000)


def _check_audience(claim: Any, wanted: frozenset[str] | None) -> None:
    if wanted is None:
        return
    audiences = [claim] if isinstance(claim, str) else claim
    if audiences is None:
        if wanted:
            raise TokenRefused("it has no audience, which sasl.oauthbearer.expected.audience demands")
        return
    if not isinstance(audiences, list) or not all(isinstance(each, str) for each in audiences):
        raise TokenRefused("its audience is neither a text nor a list of texts")
    if not wanted & set(audiences):
        raise TokenRefused(
            "its audience is not in sasl.oauthbearer.expected.audience"
            + ("" if wanted else ", which is not set: a token that has an audience needs it")
        )


def _check_scopes(claim: Any, name: str) -> None:
    scopes = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
    texts = [scope.strip() for scope in scopes if isinstance(scope, str)]
    if len(texts) != len(scopes) or not all(texts) or len(set(texts)) != len(texts):
        raise TokenRefused(f"claim {name} (sasl.oauthbearer.scope.claim.name) is empty, no text, or has a scope twice")


class UnsecuredTokens:
    """The validator of a listener without a JWKS: it accepts unsigned tokens, as stock does. options: of the login
    module.
    """

    def __init__(self, options: dict[str, str], wall_ms: Callable[[], int]) -> None:
        def option(name: str) -> str:
            return options.get(f"unsecuredValidator{name}", "").strip()

        self._name_claim = option("PrincipalClaimName") or "sub"
        self._scope_claim = option("ScopeClaimName") or "scope"
        self._required = option("RequiredScope").split()
        self._skew_ms = int(option("AllowableClockSkewMs") or 0)
        self._wall_ms = wall_ms

    def verify(self, token: str) -> Verified:
        """What the token says. Raises TokenRefused."""
        header, payload = parts_of(token)
        if header.get("alg") != "none" or not token.endswith("."):
            raise TokenRefused(
                "it is signed, and this listener takes unsecured tokens: set its sasl.server.callback.handler.class to "
                "OAuthBearerValidatorCallbackHandler"
            )
        claims = read_json(payload, "its claims")
        name = claims.get(self._name_claim)
        if not isinstance(name, str) or not name.strip():
            raise TokenRefused(f"it has no text in claim {self._name_claim}")
        now_ms = self._wall_ms()
        expires, issued = _number(claims, "exp"), _number(claims, "iat")
        if issued is not None and 1000 * issued > now_ms + self._skew_ms:
            raise TokenRefused("it was issued in the future; compare the clocks")
        if expires is None:
            raise TokenRefused("it has no claim exp")
        if now_ms - self._skew_ms >= 1000 * expires:
            raise TokenRefused("it has expired; compare the clocks")
        if issued is not None and expires <= issued:
            raise TokenRefused("it expires before it begins")
        scope = claims.get(self._scope_claim)
        scopes = {scope} if isinstance(scope, str) else set(map(str, scope)) if isinstance(scope, list) else set()
        missing = [each for each in self._required if each not in {text.strip() for text in scopes}]
        if missing:
            shown_scope = f"[{', '.join(self._required)}]"
            raise TokenRefused(f"it lacks scope {missing[0]}", "insufficient_scope", shown_scope)
        return Verified(name, round(expires * 1000))


def parts_of(token: str) -> tuple[dict[str, Any], bytes]:
    """The header, and the claims as they stand in the token; nothing is verified. Raises TokenRefused."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > TOKEN_CHARS_MAX or not parts[0] or not parts[1]:
        raise TokenRefused("it is no JSON Web Token: three parts with dots between them")
    return read_json(_decode_part(parts[0]), "its header"), _decode_part(parts[1])


def _decode_part(part: str) -> bytes:
    try:
        if _PART.fullmatch(part) is None:
            raise ValueError
        return urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (ValueError, Base64Error):
        raise TokenRefused("a part of it is not base64url") from None


def read_json(data: bytes, what: str) -> dict[str, Any]:
    """A JSON object without a name that stands twice. Raises TokenRefused."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            raise ValueError
        return members

    def constant(_text: str) -> NoReturn:
        raise ValueError

    try:
        value = json.loads(data, object_pairs_hook=unique, parse_constant=constant)
    except (ValueError, RecursionError):
        raise TokenRefused(f"{what} are no JSON object, or have a name twice") from None
    if not isinstance(value, dict):
        raise TokenRefused(f"{what} are no JSON object")
    return value


def _number(claims: dict[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    # A time beyond the year 9999 is a mistake, and would not fit where it is stored.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 38:
        raise TokenRefused(f"claim {name} is no time in seconds since 1970")
    return value


def _time(claims: dict[str, Any], name: str, *, is_required: bool) -> int | None:
    value = _number(claims, name)
    if value is None and is_required:
        raise TokenRefused(f"it has no claim {name}")
    return None if value is None else int(value)
