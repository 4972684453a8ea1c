"""The keys that sign tokens: a JSON Web Key Set (RFC 7517), and which of them may have signed a token."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS_MAX = 1000
# Keys that are tried for a token that names none.
TRIED_MAX = 8


class Algorithm(NamedTuple):
    """Which key an algorithm of a signature needs. kind: `kty`; curve: `crv`, None for any."""

    kind: str
    curve: str | None = None


# `none` is not among them. A token's `alg` never decides how a key is used: a key is used for an algorithm of its kind.
ALGORITHMS = {
    **{f"{family}{bits}": Algorithm("RSA") for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": Algorithm("EC", "P-256"),
    "ES384": Algorithm("EC", "P-384"),
    "ES512": Algorithm("EC", "P-521"),
    "EdDSA": Algorithm("OKP"),
    **{f"HS{bits}": Algorithm("oct") for bits in (256, 384, 512)},
}
# The public members of a key; private ones, which do not belong here, are dropped.
_MEMBERS = {"RSA": ("n", "e"), "EC": ("crv", "x", "y"), "OKP": ("crv", "x"), "oct": ("k",)}
_NAMES = ("kty", "kid", "use", "alg", "key_ops")


class KeySet:
    """The keys of a set. A key of a kind that is not known here is left out, as it may serve another purpose."""

    def __init__(self, keys: list[dict[str, Any]]) -> None:
        self._keys = keys
        self._made: dict[tuple[int, str], Any] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"KeySet({len(self)} keys)"

    def has(self, key_id: str) -> bool:
        """Whether the set has a key with this id."""
        return any(key.get("kid") == key_id for key in self._keys)

    def candidates(self, header: Mapping[str, Any]) -> list[Any]:
        """The keys that may have signed a token with this header, as `jwt.PyJWK`; those that cannot be used are left
        out.
        """
        import jwt

        algorithm = ALGORITHMS[header["alg"]]
        keys: list[Any] = []
        for position, key in enumerate(self._keys):
            if len(keys) >= TRIED_MAX or not _fits(key, algorithm, header):
                continue
            made = (position, header["alg"])
            if made not in self._made:
                try:
                    self._made[made] = jwt.PyJWK(key, header["alg"])
                except (jwt.PyJWTError, ValueError, TypeError):
                    self._made[made] = None
            if self._made[made] is not None:
                keys.append(self._made[made])
        return keys


def _fits(key: Mapping[str, Any], algorithm: Algorithm, header: Mapping[str, Any]) -> bool:
    return (
        key["kty"] == algorithm.kind
        and (algorithm.curve is None or key.get("crv") == algorithm.curve)
        and ("kid" not in header or key.get("kid") == header["kid"])
        and key.get("use") in {None, "sig"}
        and key.get("alg") in {None, header["alg"]}
        and ("key_ops" not in key or "verify" in key["key_ops"])
    )


def parse_key_set(data: bytes) -> KeySet:
    """Raises ValueError, with nothing of the content."""
    try:
        tree = json.loads(data)
        keys = tree["keys"]
        known = [key for key in keys[: KEYS_MAX + 1] if isinstance(key, dict) and key.get("kty") in _MEMBERS]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("it is no JSON Web Key Set: a JSON object with an array 'keys'") from None
    if len(keys) > KEYS_MAX:
        raise ValueError(f"it has more than {KEYS_MAX} keys")
    if not known:
        raise ValueError("it has no key of type RSA, EC, OKP or oct")
    return KeySet([{name: key[name] for name in (*_NAMES, *_MEMBERS[key["kty"]]) if name in key} for key in known])
