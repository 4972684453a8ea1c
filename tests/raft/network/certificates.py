"""Certificates for tests of TLS: an authority, and what it signs, made with the `openssl` command."""

from __future__ import annotations

import atexit
import re
import shutil
import ssl
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl command here")


def run(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def authority(name: str = "ca") -> Path:
    """A directory with `ca.pem` and `ca.key`, removed when the process ends."""
    return _authority(name)


@cache
def _authority(name: str) -> Path:
    root = Path(mkdtemp(prefix="kraft-tls-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
        f"/O=Test/CN={name}", "-keyout", str(root / "ca.key"), "-out", str(root / "ca.pem"))  # fmt: skip
    return root


@cache
def certificate(
    subject: str, *, ca: str = "ca", names: str = "DNS:localhost,IP:127.0.0.1", days: int = 30, serial: int = 1
) -> Path:
    """A PEM file with a key and its certificate. serial: two of the same subject are two certificates."""
    root = authority(ca)
    path = root / f"{abs(hash((subject, names, days, serial)))}.pem"
    key, request, extensions, signed = (path.with_suffix(f".{end}") for end in ("key", "csr", "ext", "crt"))
    extensions.write_text(f"subjectAltName={names}\n")
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject, "-keyout", str(key),
        "-out", str(request))  # fmt: skip
    run("x509", "-req", "-in", str(request), "-CA", str(root / "ca.pem"), "-CAkey", str(root / "ca.key"),
        "-set_serial", str(serial + 100), "-days", str(days), "-extfile", str(extensions),
        "-out", str(signed))  # fmt: skip
    path.write_text(key.read_text() + signed.read_text())
    return path


@cache
def chain(
    subject: str, *, ca: str = "ca", names: str = "DNS:localhost,IP:127.0.0.1", serial: int = 1
) -> tuple[bytes, bytes]:
    """A key in PKCS#8, and its certificate with that of an intermediate authority, which the authority signed."""
    root = authority(ca)
    path = root / f"{abs(hash((subject, names, serial)))}-chain"
    middle, middle_key = path.with_suffix(".ca.pem"), path.with_suffix(".ca.key")
    extensions, request, key = (path.with_suffix(f".{end}") for end in ("ext", "csr", "key"))
    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    sign = ("x509", "-req", "-in", str(request), "-days", "30", "-extfile", str(extensions))
    extensions.write_text("basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n")
    run(*new, "-subj", "/O=Test/CN=intermediate", "-keyout", str(middle_key), "-out", str(request))
    run(*sign, "-CA", str(root / "ca.pem"), "-CAkey", str(root / "ca.key"), "-set_serial", str(serial + 200),
        "-out", str(middle))  # fmt: skip
    extensions.write_text(f"subjectAltName={names}\n")
    run(*new, "-subj", subject, "-keyout", str(key), "-out", str(request))
    run(*sign, "-CA", str(middle), "-CAkey", str(middle_key), "-set_serial", str(serial), "-out", str(path))
    assert b"BEGIN PRIVATE KEY" in key.read_bytes()
    return key.read_bytes(), path.read_bytes() + middle.read_bytes()


def server_context(pem: Path, *, trusts: str = "ca", asks: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    context.load_verify_locations(authority(trusts) / "ca.pem")
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(pem: Path | None = None, *, trusts: str = "ca") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if pem is not None:
        context.load_cert_chain(pem)
    context.load_verify_locations(authority(trusts) / "ca.pem")
    return context


@cache
def certificate_with_nul(subject: str, *, names: str = "DNS:localhost,IP:127.0.0.1") -> Path:
    """A certificate of the authority as `certificate`, with a NUL for each `!` in its names."""
    path = certificate(subject, names=names)
    key, _, pem = path.read_text().partition("-----BEGIN CERTIFICATE-----")
    whole = ssl.PEM_cert_to_DER_cert("-----BEGIN CERTIFICATE-----" + pem)
    _, signed, rest = _element(_element(whole)[1])
    _, _, after = _element(rest)  # the algorithm
    algorithm = rest[: len(rest) - len(after)]
    # Not in the key, whose bytes are random.
    body = re.sub(rb"([a-z]{5})!(\.?[a-z]{4})", lambda found: found[1] + b"\0" + found[2], _wrapped(0x30, signed))
    part, signature = path.with_suffix(".tbs"), path.with_suffix(".sig")
    part.write_bytes(body)
    run("dgst", "-sha256", "-sign", str(authority() / "ca.key"), "-out", str(signature), str(part))
    made = _wrapped(0x30, body + algorithm + _wrapped(3, b"\0" + signature.read_bytes()))
    path.with_suffix(".nul.pem").write_text(key + ssl.DER_cert_to_PEM_cert(made))
    return path.with_suffix(".nul.pem")


def _element(data: bytes) -> tuple[int, bytes, bytes]:
    """Tag and content of the first element, and what follows it."""
    size, at = data[1], 2
    if size & 0x80:
        at = 2 + (size & 0x7F)
        size = int.from_bytes(data[2:at], "big")
    return data[0], data[at : at + size], data[at + size :]


def _wrapped(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 0x80 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + content
