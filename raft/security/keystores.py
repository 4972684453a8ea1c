"""Keystores and truststores: what is in PEM, JKS and PKCS12 files, as the loop's TLS takes it."""

from __future__ import annotations

import hashlib
import hmac
from base64 import encodebytes
from typing import NamedTuple

from raft.security.files import FileError
from records.extras import install_command

_JKS, _JCEKS = b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce"
_JKS_SALT = b"Mighty Aphrodite"  # stands in the format
_SUN_PROTECTION = bytes.fromhex("060a2b060104012a02110101")  # the object identifier of JKS's key protection


class KeyPair(NamedTuple):
    """A private key and its certificates, as PEM. password: of the key, None where it has none."""

    pem: bytes
    password: str | None

    def __repr__(self) -> str:
        return "KeyPair([hidden])"


def key_pair(data: bytes, path: str, kind: str, password: str, key_password: str | None) -> KeyPair:
    """The first private key of a store, with its certificates. kind: PEM, JKS or PKCS12. Raises FileError."""
    if kind == "PEM":
        return KeyPair(data, key_password)
    if data.startswith(_JKS):
        keys, _ = read_jks(data, path, password, key_password or password)
        if not keys:
            raise FileError(f"{path} holds no private key")
        key, chain = keys[0]
        return KeyPair(pem("PRIVATE KEY", key) + b"".join(pem("CERTIFICATE", each) for each in chain), None)
    private_key, certificates = read_pkcs12(data, path, password)
    if private_key is None:
        raise FileError(f"{path} holds no private key")
    return KeyPair(pem("PRIVATE KEY", private_key) + b"".join(pem("CERTIFICATE", each) for each in certificates), None)


def trusted_certificates(data: bytes, path: str, password: str | None) -> list[bytes]:
    """The certificates of a JKS or PKCS12 truststore, in DER. Raises FileError."""
    if data.startswith(_JKS):
        keys, certificates = read_jks(data, path, password, None)
        return certificates + [chain[0] for _, chain in keys if chain]
    return read_pkcs12(data, path, password)[1]


def pem(label: str, data: bytes) -> bytes:
    return f"-----BEGIN {label}-----\n".encode() + encodebytes(data) + f"-----END {label}-----\n".encode()


def read_pkcs12(data: bytes, path: str, password: str | None) -> tuple[bytes | None, list[bytes]]:
    """The private key, and all certificates beginning with its own. Raises FileError."""
    if data.startswith(_JCEKS):
        raise FileError(f"{path} is of type JCEKS; use keytool -importkeystore -deststoretype pkcs12")
    if data[:1] != b"\x30":
        raise FileError(f"{path} is neither a JKS nor a PKCS12 store; for PEM set its type to PEM")
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
    except ModuleNotFoundError:
        raise FileError(
            f"{path} is a PKCS12 store, which needs a package: {install_command('security')}; or use PEM"
        ) from None
    try:
        store = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise FileError(f"{path} cannot be opened: the password is wrong or the file is damaged") from None
    certificates = [store.cert.certificate] if store.cert is not None else []
    certificates += [each.certificate for each in store.additional_certs]
    key = None
    if store.key is not None:
        key = store.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return key, [certificate.public_bytes(Encoding.DER) for certificate in certificates]


def read_jks(
    data: bytes, path: str, password: str | None, key_password: str | None
) -> tuple[list[tuple[bytes, list[bytes]]], list[bytes]]:
    """The keys with their chains, and the trusted certificates, in DER.

    password: checks the whole file, None where it is not checked; key_password: None where keys are left out.
    Raises FileError.
    """
    if password is not None:
        expected = hashlib.sha1(password.encode("utf-16-be") + _JKS_SALT + data[:-20]).digest()  # noqa: S324
        if not hmac.compare_digest(expected, data[-20:]):
            raise FileError(f"{path} cannot be opened: the password is wrong or the file is damaged")
    reader = _Reader(data, path)
    reader.skip(4)
    version, count = reader.number(), reader.number()
    if version not in {1, 2}:
        raise FileError(f"{path} is a JKS store of version {version}")
    keys: list[tuple[bytes, list[bytes]]] = []
    certificates = []
    for _ in range(count):
        tag = reader.number()
        reader.text()  # the alias
        reader.skip(8)  # the time of its making
        if tag == 1:
            protected = reader.blob()
            chain = [reader.certificate(version) for _ in range(reader.number())]
            keys.append((b"" if key_password is None else decrypt_key(protected, key_password, path), chain))
        elif tag == 2:
            certificates.append(reader.certificate(version))
        else:
            raise FileError(f"{path} is damaged")
    return keys, certificates


class _Reader:
    def __init__(self, data: bytes, path: str) -> None:
        self._data, self._path, self._at = data, path, 0

    def _take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) != size:
            raise FileError(f"{self._path} is cut off")
        self._at += size
        return part

    def skip(self, size: int) -> None:
        self._take(size)

    def number(self) -> int:
        return int.from_bytes(self._take(4), "big")

    def text(self) -> bytes:
        return self._take(int.from_bytes(self._take(2), "big"))

    def blob(self) -> bytes:
        return self._take(self.number())

    def certificate(self, version: int) -> bytes:
        if version == 2:
            self.text()  # its type, X.509
        return self.blob()


def decrypt_key(protected: bytes, password: str, path: str) -> bytes:
    """A key as PKCS8, from the form in which JKS protects it. Raises FileError."""
    at = protected.find(_SUN_PROTECTION)
    if not 0 <= at < 16:
        raise FileError(f"{path} protects its key in a way that is not known; use PKCS12 or PEM")
    at += len(_SUN_PROTECTION)
    at += 2 if protected[at : at + 2] == b"\x05\x00" else 0  # no parameters
    if protected[at : at + 1] != b"\x04":
        raise FileError(f"{path} is damaged")
    at += 2 if protected[at + 1] < 0x80 else 2 + (protected[at + 1] & 0x7F)
    sealed = protected[at:]
    salt, hidden, check = sealed[:20], sealed[20:-20], sealed[-20:]
    secret = password.encode("utf-16-be")
    stream = bytearray()
    block = salt
    while len(stream) < len(hidden):
        block = hashlib.sha1(secret + block).digest()  # noqa: S324 - the format's own
        stream += block
    key = bytes(a ^ b for a, b in zip(hidden, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), check):  # noqa: S324
        raise FileError(f"{path}: the key cannot be opened: ssl.key.password is wrong")
    return key
