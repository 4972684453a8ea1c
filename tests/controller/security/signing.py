"""Keys and tokens for tests of OAUTHBEARER."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

NOW_S = 1_800_000_000
CLAIMS: dict[str, Any] = {"sub": "alice", "iat": NOW_S - 10, "exp": NOW_S + 600}
SHARED = urlsafe_b64encode(b"s" * 64).decode().rstrip("=")


def private_key(kind: str, number: int = 0) -> Any:
    """A private key. kind: RSA, RSA1024, the name of a curve, OKP or oct; number: another of the kind."""
    return _private_key(kind, number)


@cache
def _private_key(kind: str, _number: int) -> Any:
    if kind == "oct":
        return b"s" * 64
    if kind.startswith("RSA"):
        return rsa.generate_private_key(public_exponent=65537, key_size=int(kind[3:] or 2048))
    if kind == "OKP":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key({"P-256": ec.SECP256R1, "P-384": ec.SECP384R1, "P-521": ec.SECP521R1}[kind]())


def public_jwk(kind: str, **members: Any) -> dict[str, Any]:
    """The public key as a member of a JWKS."""
    if kind == "oct":
        return {"kty": "oct", "k": SHARED, **members}
    name = {"RSA": "RS256", "OKP": "EdDSA"}.get(kind[:3], "ES256")
    algorithm = get_default_algorithms()[name]
    return json.loads(algorithm.to_jwk(private_key(kind).public_key())) | members


def key_set(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()


def signed(
    algorithm: str = "RS256", kind: str = "RSA", *, header: dict[str, Any] | None = None, number: int = 0, **claims: Any
) -> str:  # fmt: skip
    """A token of the claims above with some changed; those that are None are left out."""
    found = {name: value for name, value in (CLAIMS | claims).items() if value is not None}
    return jwt.PyJWS().encode(
        json.dumps(found).encode(), private_key(kind, number), algorithm=algorithm, headers=header
    )


def unsecured(claims: dict[str, Any], alg: str = "none", signature: str = "") -> str:
    """A token with any header and signature."""
    parts = ({"alg": alg}, claims)
    encoded = (urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{'.'.join(encoded)}.{signature}"
