"""The subject of a certificate, as Java prints it, and when it expires."""

from __future__ import annotations

import ssl
import subprocess

import pytest

from raft.security.names import BadCertificate, chain_expires_s, expires_s, subject_of
from tests.raft.network.certificates import certificate, needs_openssl


def der(subject: str) -> bytes:
    text = certificate(subject).read_text()
    return ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE") :])


@needs_openssl
@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("/C=DE/O=Test/CN=node", "CN=node,O=Test,C=DE"),
        (r"/DC=org/OU=a, b/CN=x\+y", r"CN=x\+y,OU=a\, b,DC=org"),
        ("/CN= both ", "CN=\\ both\\ "),
        ("/CN=a/emailAddress=a@b", "1.2.840.113549.1.9.1=#1603614062,CN=a"),
        ("/ST=Berlin/L=Mitte/UID=u", "UID=u,L=Mitte,ST=Berlin"),
    ],
)
def test_the_subject_is_written_as_java_does(subject, name):
    assert subject_of(der(subject)) == name


@needs_openssl
def test_a_nul_in_a_name_does_not_end_it():
    assert subject_of(der("/CN=admin-evil").replace(b"admin-evil", b"admin\0evil")) == "CN=admin\\00evil"


@needs_openssl
def test_bytes_that_are_no_certificate_are_refused():
    whole = der("/CN=node")
    for size in (0, 1, 10, 40, len(whole) // 4):
        with pytest.raises(BadCertificate):
            subject_of(whole[:size])


@needs_openssl
@pytest.mark.parametrize("days", [1, 30, 20_000])  # the last is after 2049: GeneralizedTime
def test_the_end_of_a_certificate_is_that_of_openssl(days: int) -> None:
    path = certificate("/CN=ends", days=days)
    said = subprocess.run(
        ["openssl", "x509", "-noout", "-enddate", "-in", path], capture_output=True, text=True, check=True
    )
    end_s = ssl.cert_time_to_seconds(said.stdout.strip().removeprefix("notAfter="))

    text = path.read_text()

    assert expires_s(ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE") :])) == end_s
    assert chain_expires_s(path.read_bytes() + certificate("/CN=later", days=25_000).read_bytes()) == end_s


def test_a_pem_without_a_certificate_has_no_end() -> None:
    assert chain_expires_s(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") is None
