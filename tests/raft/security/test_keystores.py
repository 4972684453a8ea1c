"""Keystores: JKS files as the JDK writes them, and stores that are refused."""

from __future__ import annotations

import hashlib

import pytest

from raft.security.files import FileError, read_bounded
from raft.security.keystores import KeyPair, decrypt_key, key_pair, pem, read_jks, read_pkcs12, trusted_certificates

OID = bytes.fromhex("060a2b060104012a02110101")


def protected(key: bytes, password: str) -> bytes:
    """A key as JKS protects it: salt, key xor a stream of SHA-1, check."""
    secret = password.encode("utf-16-be")
    salt = bytes(range(20))
    stream, block = b"", salt
    while len(stream) < len(key):
        block = hashlib.sha1(secret + block).digest()
        stream += block
    sealed = salt + bytes(a ^ b for a, b in zip(key, stream, strict=False)) + hashlib.sha1(secret + key).digest()
    algorithm = OID + b"\x05\x00"
    head = b"\x30" + bytes([len(algorithm)]) + algorithm
    body = head + b"\x04\x81" + bytes([len(sealed)]) + sealed
    return b"\x30\x81" + bytes([len(body)]) + body


def jks(entries: list[bytes], password: str) -> bytes:
    data = b"\xfe\xed\xfe\xed" + (2).to_bytes(4, "big") + len(entries).to_bytes(4, "big") + b"".join(entries)
    return data + hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + data).digest()


def sized(data: bytes, size: int = 4) -> bytes:
    return len(data).to_bytes(size, "big") + data


def certificate(data: bytes) -> bytes:
    return sized(b"X.509", 2) + sized(data)


KEY = b"\x30" + bytes(range(100))
KEY_ENTRY = (1).to_bytes(4, "big") + sized(b"node", 2) + bytes(8) + sized(protected(KEY, "hush")) + (
    (2).to_bytes(4, "big") + certificate(b"leaf") + certificate(b"ca")
)  # fmt: skip
TRUST_ENTRY = (2).to_bytes(4, "big") + sized(b"ca", 2) + bytes(8) + certificate(b"trusted")


def test_a_jks_store_gives_its_key_and_its_certificates():
    data = jks([KEY_ENTRY, TRUST_ENTRY], "hush")

    assert read_jks(data, "a.jks", "hush", "hush") == ([(KEY, [b"leaf", b"ca"])], [b"trusted"])
    assert trusted_certificates(data, "a.jks", "hush") == [b"trusted", b"leaf"]
    assert trusted_certificates(data, "a.jks", None) == [b"trusted", b"leaf"]
    pair = key_pair(data, "a.jks", "JKS", "hush", None)
    assert pair.pem == pem("PRIVATE KEY", KEY) + pem("CERTIFICATE", b"leaf") + pem("CERTIFICATE", b"ca")
    assert "hidden" in repr(pair)


@pytest.mark.parametrize(
    ("data", "password", "key_password", "said"),
    [
        (jks([KEY_ENTRY], "hush"), "other", "hush", "the password is wrong or the file is damaged"),
        (jks([KEY_ENTRY], "hush"), "hush", "other", "ssl.key.password is wrong"),
        (jks([TRUST_ENTRY], "hush"), "hush", None, "holds no private key"),
        (jks([KEY_ENTRY[:40]], "hush"), "hush", None, "is cut off"),
        (jks([b"\0\0\0\x09" + bytes(20)], "hush"), "hush", None, "is damaged"),
    ],
)
def test_a_jks_store_that_cannot_be_used_is_named(data, password, key_password, said):
    with pytest.raises(FileError) as error:
        key_pair(data, "a.jks", "JKS", password, key_password)

    assert str(error.value).startswith("a.jks")
    assert said in str(error.value)
    assert "hush" not in str(error.value)


def test_a_key_that_is_protected_in_another_way_is_refused():
    with pytest.raises(FileError, match="not known"):
        decrypt_key(bytes(50), "hush", "a.jks")


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"\xce\xce\xce\xce", "JCEKS"), (b"-----BEGIN", "for PEM set its type"), (b"", "neither")],
)
def test_what_is_neither_jks_nor_pkcs12_is_refused(data, said):
    with pytest.raises(FileError, match=said):
        read_pkcs12(data, "a.p12", "hush")


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(FileError, match="No such file"):
        read_bounded(str(tmp_path / "none"))


def test_pem_keeps_the_password_of_its_key():
    assert key_pair(b"pem", "a.pem", "PEM", "", "hush") == KeyPair(b"pem", "hush")
