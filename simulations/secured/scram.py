"""The reference of SCRAM (RFC 5802, RFC 7677): which user the messages of an exchange prove. It shares no code with the
product.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from functools import lru_cache
from typing import NamedTuple

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS = 4096
# Beyond the bounds that a client of Kafka accepts.
FEW, MANY = 4095, 16385


class Credential(NamedTuple):
    """What a server keeps."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


def salt_of(name: str) -> bytes:
    """The salt of a user."""
    return f"salt of {name}".encode()


@lru_cache(maxsize=256)
def salted_password(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    """The SaltedPassword of RFC 5802."""
    return hashlib.pbkdf2_hmac(HASHES[mechanism], password.encode(), salt, iterations)


def credential(mechanism: str, name: str, password: str, iterations: int = ITERATIONS) -> Credential:
    """The credential of a user."""
    algorithm = HASHES[mechanism]
    salted = salted_password(mechanism, password, salt_of(name), iterations)
    client_key = hmac.digest(salted, b"Client Key", algorithm)
    stored = hashlib.new(algorithm, client_key).digest()
    return Credential(salt_of(name), stored, hmac.digest(salted, b"Server Key", algorithm), iterations)


def proof(mechanism: str, password: str, salt: bytes, iterations: int, signed: str) -> str:
    """The ClientProof over an AuthMessage, in base64."""
    algorithm = HASHES[mechanism]
    client_key = hmac.digest(salted_password(mechanism, password, salt, iterations), b"Client Key", algorithm)
    signature = hmac.digest(hashlib.new(algorithm, client_key).digest(), signed.encode(), algorithm)
    return b64encode(bytes(a ^ b for a, b in zip(client_key, signature, strict=True))).decode()


def first_message(name: str, nonce: str, authorization: str = "") -> str:
    """The first message of a client."""
    return f"n,{authorization and 'a=' + authorization},n={name},r={nonce}"


def final_message(mechanism: str, password: str, name: str, first: str, said: str, nonce: str = "") -> str:
    """The final message of a client that knows the password. said: the server's first message; nonce: in place of the
    one in it.
    """
    values = attributes(said)
    bare = f"c=biws,r={nonce or values['r']}"
    signed = f"{first.split(',', 2)[2]},{said},{bare}"
    return f"{bare},p={proof(mechanism, password, salt_of(name), int(values['i']), signed)}"


def attributes(text: str) -> dict[str, str]:
    """The attributes of a message, by letter."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def proven(mechanism: str, passwords: dict[str, str], first: str, said: str, final: str) -> str | None:
    """The user whose password the client has proven; None if none."""
    parts = first.split(",", 2)
    if len(parts) != 3:
        return None
    asked, offered, proved = attributes(parts[2]), attributes(said), attributes(final)
    name = asked.get("n", "")
    if name not in passwords or parts[1] not in ("", f"a={name}"):
        return None
    nonce = offered["r"]
    # A server adds a part of its own, so that no exchange can be repeated.
    if not nonce.startswith(asked.get("r", "")) or nonce == asked.get("r") or proved.get("r") != nonce:
        return None
    if int(offered["i"]) < ITERATIONS:
        return None
    expected = final_message(mechanism, passwords[name], name, first, said)
    return name if final == expected else None
