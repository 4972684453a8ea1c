"""TLS contexts: the required contents of a store, and when files are read again."""

from __future__ import annotations

import shutil
import ssl
from time import time

import pytest

from controller.config.node import NodeConfig
from controller.config.security.listener_values import ListenerValues
from controller.security.contexts import Contexts, unfold_pem
from raft.security import sessions
from raft.security.ciphers import open_ssl_name
from raft.security.files import FileError
from raft.security.renewal import CHECK_S
from tests.controller.config.security.test_security_checks import given
from tests.raft.network.certificates import authority, certificate, needs_openssl
from tests.raft.security.test_sessions import of_client, shake_hands

pytestmark = needs_openssl
NODE = "/O=Test/CN=node"


class Made:
    """Contexts with a clock and their notes."""

    def __init__(self, tmp_path, **changes: str) -> None:
        self.now = 0.0
        self.notes: list[tuple[str, dict]] = []
        self.path = tmp_path / "node.pem"
        shutil.copy(certificate(NODE), self.path)
        settings = {
            "ssl.keystore.type": "PEM", "ssl.keystore.location": str(self.path),
            "ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority() / "ca.pem"),
        } | changes  # fmt: skip
        config = NodeConfig(given("SSL", **{key: value for key, value in settings.items() if value is not None}))
        self.contexts = Contexts(
            ListenerValues(config, "CONTROLLER"), lambda: self.now, lambda *note: self.notes.append(note)
        )


def test_new_files_are_used_without_a_restart(tmp_path):
    made = Made(tmp_path)
    first = made.contexts.server()
    made.now += CHECK_S
    assert made.contexts.server() is first

    made.path.write_text(certificate(NODE, serial=2).read_text())
    assert made.contexts.server() is first  # not looked at so soon
    made.now += CHECK_S

    assert made.contexts.server() is not first
    assert [name for name, _ in made.notes] == ["keystore_renewed"]


def test_an_authority_that_is_added_to_the_truststore_is_trusted_without_a_restart(tmp_path):
    store = tmp_path / "trusted.pem"
    shutil.copy(authority() / "ca.pem", store)
    made = Made(tmp_path, **{"ssl.truststore.location": str(store)})
    trusted = [each.cert_store_stats()["x509"] for each in (made.contexts.server(), made.contexts.client())]

    with store.open("a") as file:
        file.write((authority("new") / "ca.pem").read_text())
    made.now += CHECK_S

    assert trusted == [1, 1]
    assert [each.cert_store_stats()["x509"] for each in (made.contexts.server(), made.contexts.client())] == [2, 2]
    assert [name for name, _ in made.notes] == ["keystore_renewed"]


def test_a_server_with_many_sessions_gets_a_new_context(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "CACHED_MAX", 2)
    made = Made(tmp_path)
    first = made.contexts.server()
    # Those of open connections are in the cache in every release of Python.
    kept = [shake_hands(first, of_client(3)) for _ in range(2)]
    made.now += 1
    assert made.contexts.server() is first

    kept.append(shake_hands(first, of_client(3)))
    second = made.contexts.server()

    assert second is not first
    assert made.contexts.server() is second
    assert (second.session_stats()["number"], len(kept), made.notes) == (0, 3, [])


def test_a_half_written_pair_is_logged_once_and_the_old_one_stays(tmp_path):
    made = Made(tmp_path)
    first = made.contexts.client()
    key = certificate(NODE, serial=2).read_text()
    made.path.write_text(key[: key.index("-----BEGIN CERT")] + certificate(NODE, serial=3).read_text()[-400:])
    for _ in range(3):
        made.now += CHECK_S
        assert made.contexts.client() is first
    assert [name for name, _ in made.notes] == ["keystore_refused"]

    made.path.write_text(key)
    made.now += CHECK_S
    assert made.contexts.client() is not first


def test_files_that_are_gone_leave_the_old_ones_in_use(tmp_path):
    made = Made(tmp_path)
    first = made.contexts.server()
    made.path.unlink()
    made.now += CHECK_S

    assert made.contexts.server() is first
    assert "No such file" in made.notes[0][1]["reason"]


def test_pem_may_stand_in_the_properties_on_one_line(tmp_path):
    text = certificate(NODE).read_text()
    at = text.index("-----BEGIN CERTIFICATE")
    inline = {
        "ssl.keystore.location": None, "ssl.keystore.key": " ".join(text[:at].split("\n")),
        "ssl.keystore.certificate.chain": " ".join(text[at:].split("\n")),
        "ssl.truststore.location": None,
        "ssl.truststore.certificates": " ".join((authority() / "ca.pem").read_text().split("\n")),
    }  # fmt: skip

    assert Made(tmp_path, **inline).contexts.server().get_ca_certs()
    assert unfold_pem("-----BEGIN X----- a b -----END X-----") == "-----BEGIN X-----\na\nb\n-----END X-----\n"


def test_what_the_keys_name_is_enabled_and_no_more(tmp_path):
    context = Made(tmp_path, **{"ssl.enabled.protocols": "TLSv1.3", "ssl.client.auth": "required"}).contexts.server()
    assert context.minimum_version == ssl.TLSVersion.TLSv1_3
    assert context.verify_mode == ssl.CERT_REQUIRED

    old = Made(tmp_path, **{"ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}).contexts.client()
    assert old.maximum_version == ssl.TLSVersion.TLSv1_2
    assert [each["name"] for each in old.get_ciphers() if each["protocol"] == "TLSv1.2"] == [
        "ECDHE-ECDSA-AES256-GCM-SHA384"
    ]
    assert old.check_hostname
    assert not Made(tmp_path, **{"ssl.endpoint.identification.algorithm": ""}).contexts.client().check_hostname


def test_a_session_of_tls_1_3_is_not_resumed(tmp_path):
    server = Made(tmp_path).contexts.server()
    client = of_client(3)
    client.maximum_version = ssl.TLSVersion.TLSv1_3
    _, asking = shake_hands(server, client)
    with pytest.raises(ssl.SSLWantReadError):
        asking.read(1)  # a ticket would come behind the handshake

    again, _ = shake_hands(server, client, asking.session)

    assert (again.version(), again.session_reused) == ("TLSv1.3", False)


class Session:
    def version(self):
        return "TLSv1.3"

    def cipher(self):
        return "TLS_AES_128_GCM_SHA256", "TLSv1.3", 128


def test_a_session_with_another_cipher_suite_is_refused(tmp_path):
    made = Made(tmp_path, **{"ssl.cipher.suites": "TLS_AES_256_GCM_SHA384"})

    with pytest.raises(ValueError, match="TLS_AES_128_GCM_SHA256 is not in ssl"):
        made.contexts.check_session(Session())
    Made(tmp_path).contexts.check_session(Session())


def test_a_session_is_not_resumed_when_the_certificate_of_the_client_has_expired(tmp_path, monkeypatch):
    contexts = Made(tmp_path, **{"ssl.client.auth": "required"}).contexts
    client = of_client(3)
    first, asking = shake_hands(contexts.server(), client)
    contexts.check_session(first)
    again, _ = shake_hands(contexts.server(), client, asking.session)
    contexts.check_session(again)

    monkeypatch.setattr(sessions, "wall_s", lambda: time() + 4 * 24 * 3600)
    with pytest.raises(ValueError, match="its certificate has expired"):
        contexts.check_session(again)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ssl.keystore.location": "/none"}, "/none: No such file"),
        ({"ssl.keystore.type": "PKCS12", "ssl.keystore.password": "hush"}, "for PEM set its type to PEM"),
        ({"ssl.cipher.suites": "TLS_RSA_WITH_NONE"}, "no cipher suite that OpenSSL has"),
        ({"ssl.truststore.location": __file__}, "holds no certificates"),
    ],
)
def test_a_store_that_cannot_be_used_is_refused_in_one_line(tmp_path, changes, said):
    with pytest.raises(FileError) as error:
        Made(tmp_path, **changes)

    assert said in str(error.value)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("java", "open_ssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    ],
)
def test_cipher_suites_have_two_names(java, open_ssl):
    assert open_ssl_name(java) == open_ssl
