"""The subject of a certificate, as Java prints it."""

from __future__ import annotations

import ssl

import pytest

from controller.security.names import BadCertificate, subject_of
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
