"""A cluster whose listeners all have TLS: controllers, a stock broker, and ACLs."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.interop.cluster import OURS, Cluster
from tests.raft.network.certificates import authority, certificate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.cluster import NodeProcess
    from tests.interop.stock import Stock

SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
MECHANISM = "SCRAM-SHA-512"

# Passwords by user. The controllers' login is PLAIN; all others have SCRAM credentials in the metadata log.
CONTROLLER, BROKER, ADMIN, ANN = "controller", "broker", "admin", "ann"
PASSWORDS = {name: f"{name}s-secret" for name in (CONTROLLER, BROKER, ADMIN, ANN)}
REAUTH_MS = 3000


def stores(root: Path, name: str) -> dict[str, str]:
    """The settings of a keystore and a truststore in PEM."""
    path = root / f"{name}.pem"
    if not path.exists():
        shutil.copy(certificate(f"/O=Test/CN={name}"), path)
    return {
        "ssl.keystore.type": "PEM", "ssl.keystore.location": str(path),
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority() / "ca.pem"),
    }  # fmt: skip


def login(module: str, user: str, *users: str) -> str:
    """A login module. users: those that it knows the passwords of, as a server of PLAIN."""
    known = "".join(f' user_{name}="{PASSWORDS[name]}"' for name in users)
    return f'{module} required username="{user}" password="{PASSWORDS[user]}"{known};'


def client_file(root: Path, settings: dict[str, str]) -> str:
    """A client's properties file."""
    path = root / f"client-{abs(hash(tuple(settings.items())))}.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return str(path)


@dataclass
class Secured(Cluster):
    """Controllers and brokers with StandardAuthorizer; they and ADMIN are super users.

    protocol: SSL or SASL_SSL, of all listeners; SSL demands a client certificate.
    """

    protocol: str = "SASL_SSL"

    def _write(self, node: NodeProcess) -> None:
        super()._write(node)
        listener = "CONTROLLER" if node.role == "controller" else "CLIENT"
        settings = {
            "listeners": f"{listener}://127.0.0.1:{node.port}",
            "listener.security.protocol.map": f"CONTROLLER:{self.protocol},CLIENT:{self.protocol}",
            "authorizer.class.name": AUTHORIZER,
            "super.users": ";".join(self.principal(name) for name in (CONTROLLER, BROKER, ADMIN)),
            "connections.max.reauth.ms": str(REAUTH_MS),
            **stores(self.root, node.role),
        }
        if node.role == "broker":
            settings["inter.broker.listener.name"] = "CLIENT"
        if self.protocol == "SSL":
            settings["ssl.client.auth"] = "required"
        else:
            settings |= self._sasl(node.role)
        text = node.properties.read_text()
        kept = [line for line in text.splitlines() if line.partition("=")[0] not in settings]
        lines = [f"{key}={value}" for key, value in settings.items()]
        node.properties.write_text("\n".join([*kept, *lines, ""]))

    def _sasl(self, role: str) -> dict[str, str]:
        prefix = "listener.name.controller."
        if role == "controller":
            return {
                "sasl.mechanism.controller.protocol": "PLAIN",
                f"{prefix}sasl.enabled.mechanisms": f"PLAIN,{MECHANISM}",
                f"{prefix}plain.sasl.jaas.config": login(PLAIN_MODULE, CONTROLLER, CONTROLLER),
                f"{prefix}{MECHANISM.lower()}.sasl.jaas.config": f"{SCRAM_MODULE} required;",
            }
        return {
            "sasl.mechanism.controller.protocol": MECHANISM,
            "sasl.mechanism.inter.broker.protocol": MECHANISM,
            "sasl.enabled.mechanisms": MECHANISM,
            f"{prefix}{MECHANISM.lower()}.sasl.jaas.config": login(SCRAM_MODULE, BROKER),
            f"listener.name.client.{MECHANISM.lower()}.sasl.jaas.config": login(SCRAM_MODULE, BROKER),
        }

    def credentials(self) -> list[str]:
        """The options of `kafka-storage format` for the first SCRAM credentials."""
        if self.protocol == "SSL":
            return []
        return [
            part
            for name in (BROKER, ADMIN, ANN)
            for part in ("--add-scram", f"{MECHANISM}=[name={name},password={PASSWORDS[name]}]")
        ]

    def client(self, user: str) -> dict[str, str]:
        """The properties of a client that is this user."""
        if self.protocol == "SSL":
            return {"security.protocol": "SSL", **stores(self.root, user)}
        trust = {key: value for key, value in stores(self.root, user).items() if "truststore" in key}
        return {
            "security.protocol": "SASL_SSL", "sasl.mechanism": MECHANISM,
            "sasl.jaas.config": login(SCRAM_MODULE, user), **trust,
        }  # fmt: skip

    def principal(self, user: str) -> str:
        return f"User:CN={user},O=Test" if self.protocol == "SSL" else f"User:{user}"

    def asked(self, user: str) -> str:
        return client_file(self.root, self.client(user))

    def renew(self, role: str, serial: int) -> None:
        """Exchange the certificate of the controllers or of the brokers, in one step, for another of the same name."""
        new = self.root / f"{role}.new"
        shutil.copy(certificate(f"/O=Test/CN={role}", serial=serial), new)
        new.replace(self.root / f"{role}.pem")


@contextlib.contextmanager
def secured(
    root: Path, stock: Stock, kinds: list[str], *, protocol: str = "SASL_SSL", brokers: int = 1,
    settings: dict[str, str] | None = None, controllers_by: str = OURS,
) -> Iterator[Secured]:  # fmt: skip
    """A started cluster, whose processes end with the block. No secret may be in the logs of the controllers."""
    found = Secured(root, stock, settings=settings or {}, protocol=protocol)
    try:
        found.plan(kinds, brokers)
        found.format(*found.credentials(), controllers_by=controllers_by)
        found.start()
        yield found
        everything = "".join(node.said() for node in found.controllers.values() if node.kind == OURS)
        assert not [secret for secret in (*PASSWORDS.values(), "PRIVATE KEY") if secret in everything]
    finally:
        found.end()
