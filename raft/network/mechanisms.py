"""SASL mechanisms without IO: PLAIN (RFC 4616) and SCRAM (RFC 5802, RFC 7677), both sides."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ITERATIONS_MIN, ITERATIONS_MAX = 4096, 16384
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
TOKEN_BYTES_MAX = 64 << 10

_BASE64 = r"[A-Za-z0-9/+]+={0,2}"
_VALUE = r"[^\0=,]+"
_SASL_NAME = r"(?:[^\0=,]|=2C|=3D)+"
_PRINTABLE = r"[\x21-\x2B\x2D-\x7E]+"
_EXTENSIONS = r"(?:,[A-Za-z]+=[^\0,]+)*"
_CLIENT_FIRST = re.compile(
    rf"n,(?:a=(?P<authzid>{_SASL_NAME}))?,(?P<bare>(?:m=[^\0,]+,)?n=(?P<name>{_SASL_NAME}),r=(?P<nonce>{_PRINTABLE})"
    rf"(?P<extensions>{_EXTENSIONS}))"
)
_SERVER_FIRST = re.compile(
    rf"(?:m=[^\0,]+,)?r=(?P<nonce>{_PRINTABLE}),s=(?P<salt>{_BASE64}),i=(?P<iterations>[0-9]{{1,9}}){_EXTENSIONS}"
)
_CLIENT_FINAL = re.compile(
    rf"(?P<bare>c=(?P<binding>{_BASE64}),r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS}),p=(?P<proof>{_BASE64})"
)
_SERVER_FINAL = re.compile(rf"(?:e=(?P<error>{_VALUE}))|(?:v=(?P<signature>{_BASE64}){_EXTENSIONS})")


class SaslRefused(Exception):
    """Authentication failed. str(): why, for this side's log. answer: the message for the peer; None: no message."""

    def __init__(self, reason: str, answer: str | None = None) -> None:
        super().__init__(reason)
        self.answer = answer


class Credential(NamedTuple):
    """What a SCRAM server keeps of a password. owner, expires_ms: of a delegation token; None for a user."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int
    owner: str | None = None
    expires_ms: int | None = None

    def __repr__(self) -> str:
        return "Credential([hidden])"


class ServerMechanism(Protocol):
    """One exchange on the server. name: of the authenticated user, None until it is complete; is_token: by a delegation
    token; expires_ms: when the credential expires, in ms since 1970, None where it does not.
    """

    name: str | None
    is_token: bool
    expires_ms: int | None

    def answer(self, token: bytes) -> bytes:
        """The answer to the client's token. Raises SaslRefused."""


class ClientMechanism(Protocol):
    """One exchange on the client. host: of the server, set before `first`; blocks: whether `first` and `answer` may
    wait for others, so that they must not run on the loop's thread.
    """

    is_complete: bool
    host: str
    blocks: bool

    def first(self) -> bytes:
        """The first token."""

    def answer(self, token: bytes) -> bytes | None:
        """The next token, None when there is none. Raises SaslRefused."""


class PlainServer:
    """PLAIN. passwords: by user."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self.name: str | None = None
        self.is_token = False
        self.expires_ms: int | None = None
        self._passwords = passwords

    def answer(self, token: bytes) -> bytes:
        try:
            parts = token.decode().split("\0")
        except UnicodeDecodeError:
            raise SaslRefused("its token is not UTF-8") from None
        if len(parts) != 3:
            text = f"Invalid SASL/PLAIN response: expected 3 tokens, got {min(len(parts), 4)}"
            raise SaslRefused(text, text)
        authorization, user, password = parts
        for value, what in ((user, "username"), (password, "password")):
            if not value:
                text = f"Authentication failed: {what} not specified"
                raise SaslRefused(text, text)
        expected = self._passwords.get(user)
        # An unknown user takes as long as a wrong password.
        if not hmac.compare_digest((expected or "").encode(), password.encode()) or expected is None:
            text = "Authentication failed: Invalid username or password"
            raise SaslRefused(f"the user or the password is wrong (user {quote_user(user)})", text)
        if authorization and authorization != user:
            text = "Authentication failed: Client requested an authorization id that is different from username"
            raise SaslRefused(text, text)
        self.name = user
        return b""


class PlainClient:
    """PLAIN."""

    blocks = False

    def __init__(self, user: str, password: str) -> None:
        self.is_complete = False
        self.host = ""
        self._user, self._password = user, password

    def first(self) -> bytes:
        return f"\0{self._user}\0{self._password}".encode()

    def answer(self, token: bytes) -> bytes | None:
        if token:
            raise SaslRefused("the server answers PLAIN with a token")
        self.is_complete = True
        return None


class ScramServer:
    """SCRAM. credential_of: takes a name and whether it is that of a delegation token; None: there is none. nonce: of
    this exchange, random and printable, without a comma.
    """

    def __init__(self, mechanism: str, credential_of: Callable[[str, bool], Credential | None], nonce: str) -> None:
        self.name: str | None = None
        self.is_token = False
        self.expires_ms: int | None = None
        self._hash = HASHES[mechanism]
        self._credential_of = credential_of
        self._credential: Credential | None = None
        self._nonce = nonce
        self._signed = ""
        self._user = ""
        self._is_ended = False

    def answer(self, token: bytes) -> bytes:
        if self._is_ended:
            raise SaslRefused("it sends a token after the end of the exchange")
        text = decode_token(token)
        try:
            return self._first(text) if self._credential is None else self._final(text)
        except SaslRefused:
            self._is_ended = True
            raise

    def _first(self, text: str) -> bytes:
        match = _CLIENT_FIRST.fullmatch(text)
        if match is None:
            raise SaslRefused("its first message is not one of SCRAM")
        user = match["name"].replace("=2C", ",").replace("=3D", "=")
        extensions = dict(part.split("=", 1) for part in match["extensions"].split(",") if part)
        self.is_token = extensions.get("tokenauth", "").lower() == "true"
        credential = self._credential_of(user, self.is_token)
        if credential is None:
            raise SaslRefused(f"the user or the password is wrong (user {quote_user(user)})")
        authorization = (match["authzid"] or "").replace("=2C", ",").replace("=3D", "=")
        if authorization and authorization != user:
            text = "Authentication failed: Client requested an authorization id that is different from username"
            raise SaslRefused(text, text)
        if credential.iterations < ITERATIONS_MIN:
            raise SaslRefused(f"the credential has {credential.iterations} iterations, fewer than {ITERATIONS_MIN}")
        self._user = user
        self._credential = credential
        self._nonce = match["nonce"] + self._nonce
        first = f"r={self._nonce},s={encode_base64(credential.salt)},i={credential.iterations}"
        self._signed = f"{match['bare']},{first}"
        return first.encode()

    def _final(self, text: str) -> bytes:
        self._is_ended = True
        credential = self._credential
        assert credential is not None
        match = _CLIENT_FINAL.fullmatch(text)
        if match is None:
            raise SaslRefused("its final message is not one of SCRAM")
        if match["nonce"] != self._nonce:
            raise SaslRefused("its final message has another nonce")
        signed = f"{self._signed},{match['bare']}".encode()
        signature = hmac.digest(credential.stored_key, signed, self._hash)
        proof = base64_bytes(match["proof"])
        key = xor(signature, proof) if len(proof) == len(signature) else b""
        if not hmac.compare_digest(hashlib.new(self._hash, key).digest(), credential.stored_key):
            raise SaslRefused(f"the user or the password is wrong (user {quote_user(self._user)})")
        self.name = credential.owner if credential.owner is not None else self._user
        self.expires_ms = credential.expires_ms
        return f"v={encode_base64(hmac.digest(credential.server_key, signed, self._hash))}".encode()


class ScramClient:
    """SCRAM. salted: keeps the salted password of the last exchange, which takes milliseconds to compute; nonce: of
    this exchange, random and printable, without a comma; is_token: whether user and password are the id and the HMAC of
    a delegation token.
    """

    blocks = False

    def __init__(
        self,
        mechanism: str,
        user: str,
        password: str,
        salted: dict[tuple[bytes, int], bytes],
        nonce: str,
        *,
        is_token: bool = False,
    ) -> None:
        self.is_complete = False
        self.host = ""
        self._hash = HASHES[mechanism]
        self._user = user.replace("=", "=3D").replace(",", "=2C")
        self._password = password.encode()
        self._salted = salted
        self._nonce = nonce
        self._extensions = ",tokenauth=true" if is_token else ""
        self._expected = b""

    def first(self) -> bytes:
        return f"n,,n={self._user},r={self._nonce}{self._extensions}".encode()

    def answer(self, token: bytes) -> bytes | None:
        text = decode_token(token)
        if self._expected:
            match = _SERVER_FINAL.fullmatch(text)
            if match is None or match["signature"] is None:
                raise SaslRefused("its final message is not one of SCRAM")
            if not hmac.compare_digest(base64_bytes(match["signature"]), self._expected):
                raise SaslRefused("the server does not know the password: its signature is wrong")
            self.is_complete = True
            return None
        match = _SERVER_FIRST.fullmatch(text)
        if match is None or not match["nonce"].startswith(self._nonce):
            raise SaslRefused("its first message is not one of SCRAM, or has another nonce")
        iterations = int(match["iterations"])
        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
            raise SaslRefused(f"it asks for {iterations} iterations, not {ITERATIONS_MIN} to {ITERATIONS_MAX}")
        salt = base64_bytes(match["salt"])
        salted = self._salted.get((salt, iterations))
        if salted is None:
            salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, iterations)
            self._salted.clear()
            self._salted[salt, iterations] = salted
        client_key = hmac.digest(salted, b"Client Key", self._hash)
        bare = f"c={encode_base64(b'n,,')},r={match['nonce']}"
        signed = f"n={self._user},r={self._nonce}{self._extensions},{text},{bare}".encode()
        signature = hmac.digest(hashlib.new(self._hash, client_key).digest(), signed, self._hash)
        self._expected = hmac.digest(hmac.digest(salted, b"Server Key", self._hash), signed, self._hash)
        return f"{bare},p={encode_base64(xor(client_key, signature))}".encode()


def credential_of_password(mechanism: str, password: str, salt: bytes, iterations: int) -> Credential:
    """What a server keeps of a password."""
    name = HASHES[mechanism]
    salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
    stored = hashlib.new(name, hmac.digest(salted, b"Client Key", name)).digest()
    return Credential(salt, stored, hmac.digest(salted, b"Server Key", name), iterations)


def new_nonce() -> str:
    """A nonce of 128 random bits."""
    return secrets.token_hex(16)


def encode_base64(data: bytes) -> str:
    return b64encode(data).decode()


def base64_bytes(text: str) -> bytes:
    """The bytes of base64. Raises SaslRefused where the text is none."""
    try:
        return b64decode(text, validate=True)
    except Base64Error:
        raise SaslRefused("a value in its message is not base64") from None


def decode_token(token: bytes) -> str:
    """The text of a token. Raises SaslRefused where it is too long, or not UTF-8."""
    if len(token) > TOKEN_BYTES_MAX:
        raise SaslRefused(f"its token has more than {TOKEN_BYTES_MAX} bytes")
    try:
        return token.decode()
    except UnicodeDecodeError:
        raise SaslRefused("its token is not UTF-8") from None


def xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def quote_user(user: str) -> str:
    """A name from a peer, as it may stand in a line of the log."""
    return repr(user[:64])
