"""Keystores and truststores that the JDK's keytool made: a handshake by each kind."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
from functools import cache, partial
from typing import TYPE_CHECKING

import pytest

from controller.config.node import NodeConfig
from controller.config.security.listener_values import ListenerValues
from controller.security.contexts import Contexts
from raft.security.files import FileError
from tests.controller.config.security.test_security_checks import given

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("keytool") is None, reason="no keytool here")


# A process of few milliseconds of work needs no second compiler and no threads to collect garbage.
FLAGS = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-Xshare:auto")


def keytool(*arguments: str) -> None:
    subprocess.run(["keytool", *FLAGS, *arguments], check=True, capture_output=True)


class Stores:
    """A key that an authority signed, and a truststore with the authority, in one format; made once, only read."""

    def __init__(self, root: Path, kind: str, algorithm: str) -> None:
        self.kind = kind
        self.key, self.trust = root / f"{algorithm}.{kind}", root / f"trust.{kind}"
        request, signed = (str(root / f"{algorithm}.{kind}.{name}") for name in ("csr", "pem"))
        own = ("-storetype", "PKCS12", "-keystore", str(root / "ca"), "-storepass", "authority", "-alias", "ca")
        chain = str(root / "ca.pem")
        if not (root / "ca").exists():
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
        if not self.trust.exists():
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


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The stores of a format and a kind of key."""
    made = cache(partial(Stores, tmp_path_factory.mktemp("stores")))
    return lambda kind, algorithm="EC": made(kind, algorithm)


@pytest.mark.parametrize("algorithm", ["EC", "RSA"])
@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_a_handshake_by_stores_of_keytool(stores, kind, algorithm):
    contexts = stores(kind, algorithm).contexts()

    session = shake_hands(contexts.server(), contexts.client())
    assert session.getpeercert()["subject"] == ((("organizationName", "Test"),), (("commonName", "node"),))


def test_a_store_is_of_the_format_that_is_in_it_as_in_java(stores):
    contexts = stores("PKCS12").contexts(**{"ssl.keystore.type": "JKS", "ssl.truststore.type": "JKS"})

    shake_hands(contexts.server(), contexts.client())


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
@pytest.mark.parametrize("key", ["ssl.keystore.password", "ssl.truststore.password"])
def test_a_wrong_password_is_named_and_not_shown(stores, kind, key):
    with pytest.raises(FileError, match="the password is wrong or the file is damaged") as error:
        stores(kind).contexts(**{key: "wrong-pass"})
    assert "pass" not in str(error.value).replace("password", "")


def test_a_wrong_password_of_the_key_is_named_and_not_shown(stores):
    with pytest.raises(FileError, match="password") as error:
        stores("JKS").contexts(**{"ssl.key.password": "wrong-pass"})
    assert "wrong-pass" not in str(error.value)


def test_without_the_package_a_pkcs12_store_is_refused_and_jks_is_not(stores, monkeypatch):
    found = {kind: stores(kind) for kind in ("JKS", "PKCS12")}
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)

    found["JKS"].contexts()
    with pytest.raises(FileError, match=r"needs a package: pip install 'cryptography>=42' 'PyJWT>=2\.12'; or use PEM"):
        found["PKCS12"].contexts()
