"""Keystores and truststores that the JDK's keytool made: a handshake by each kind."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from controller.config.listener_values import ListenerValues
from controller.config.node import NodeConfig
from controller.security.contexts import Contexts
from controller.security.files import FileError
from tests.controller.config.test_security_checks import given

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("keytool") is None, reason="no keytool here")


def keytool(*arguments: str) -> None:
    subprocess.run(["keytool", *arguments], check=True, capture_output=True)


class Stores:
    """An authority, a key that it signed, and a truststore with the authority, in one format."""

    def __init__(self, root: Path, kind: str, algorithm: str = "EC") -> None:
        self.kind = kind
        self.key, self.trust = root / f"node.{kind}", root / f"trust.{kind}"
        authority, request, chain, signed = (str(root / name) for name in ("ca", "csr", "ca.pem", "node.pem"))
        own = ("-storetype", "PKCS12", "-keystore", authority, "-storepass", "authority", "-alias", "ca")
        keytool("-genkeypair", *own, "-keyalg", "EC", "-dname", "CN=ca", "-ext", "bc:c", "-validity", "30")
        keytool("-exportcert", *own, "-rfc", "-file", chain)
        key = ("-storetype", kind, "-keystore", str(self.key), "-storepass", "store-pass")
        # A JKS store may protect its keys by another password; PKCS12 has one.
        key += ("-keypass", self.key_password)
        keytool("-genkeypair", *key, "-alias", "node", "-keyalg", algorithm, "-dname", "CN=node,O=Test")
        keytool("-certreq", *key, "-alias", "node", "-file", request)
        keytool("-gencert", *own, "-infile", request, "-outfile", signed, "-rfc", "-ext", "san=dns:localhost")
        keytool("-importcert", *key[:6], "-noprompt", "-alias", "ca", "-file", chain)
        keytool("-importcert", *key, "-noprompt", "-alias", "node", "-file", signed)
        trust = ("-storetype", kind, "-keystore", str(self.trust), "-storepass", "trust-pass")
        keytool("-importcert", *trust, "-noprompt", "-alias", "ca", "-file", chain)

    @property
    def key_password(self) -> str:
        return "keys-pass" if self.kind == "JKS" else "store-pass"

    def settings(self, **changes: str) -> dict[str, str]:
        return given(
            "SSL",
            **{
                "ssl.keystore.type": self.kind, "ssl.keystore.location": str(self.key),
                "ssl.keystore.password": "store-pass", "ssl.key.password": self.key_password,
                "ssl.truststore.type": self.kind, "ssl.truststore.location": str(self.trust),
                "ssl.truststore.password": "trust-pass", "ssl.client.auth": "required",
            } | {key: value for key, value in changes.items() if value},
        )  # fmt: skip

    def contexts(self, **changes: str) -> Contexts:
        values = ListenerValues(NodeConfig(self.settings(**changes)), "CONTROLLER")
        return Contexts(values, lambda: 0.0, lambda *_: None)


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> ssl.SSLObject:
    """A handshake in memory; the client's session."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    waiting = list(sides)
    for _ in range(10):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting
    sides[1].write(b"x")
    assert sides[0].read(1) == b"x"
    return sides[0]


@pytest.mark.parametrize("algorithm", ["EC", "RSA"])
@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_a_handshake_by_stores_of_keytool(tmp_path, kind, algorithm):
    contexts = Stores(tmp_path, kind, algorithm).contexts()

    session = shake_hands(contexts.server(), contexts.client())
    assert session.getpeercert()["subject"] == ((("organizationName", "Test"),), (("commonName", "node"),))


def test_a_store_is_of_the_format_that_is_in_it_as_in_java(tmp_path):
    contexts = Stores(tmp_path, "PKCS12").contexts(**{"ssl.keystore.type": "JKS", "ssl.truststore.type": "JKS"})

    shake_hands(contexts.server(), contexts.client())


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
@pytest.mark.parametrize("key", ["ssl.keystore.password", "ssl.truststore.password"])
def test_a_wrong_password_is_named_and_not_shown(tmp_path, kind, key):
    with pytest.raises(FileError, match="the password is wrong or the file is damaged") as error:
        Stores(tmp_path, kind).contexts(**{key: "wrong-pass"})
    assert "pass" not in str(error.value).replace("password", "")


def test_a_wrong_password_of_the_key_is_named_and_not_shown(tmp_path):
    with pytest.raises(FileError, match="password") as error:
        Stores(tmp_path, "JKS").contexts(**{"ssl.key.password": "wrong-pass"})
    assert "wrong-pass" not in str(error.value)


def test_without_the_package_a_pkcs12_store_is_refused_and_jks_is_not(tmp_path, monkeypatch):
    for directory in ("a", "b"):
        (tmp_path / directory).mkdir()
    found = {"JKS": Stores(tmp_path / "a", "JKS"), "PKCS12": Stores(tmp_path / "b", "PKCS12")}
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)

    found["JKS"].contexts()
    with pytest.raises(FileError, match=r"needs a package: pip install 'kraft-quorum\[security\]'; or use PEM"):
        found["PKCS12"].contexts()
