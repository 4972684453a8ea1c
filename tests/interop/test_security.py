"""Stock brokers, tools and a stock controller with TLS and SASL against controllers of ours."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import OURS, STOCK, Cluster, eventually
from tests.interop.secured import PLAIN_MODULE, SCRAM_MODULE, client_file, stores
from tests.raft.network.certificates import certificate, needs_openssl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.stock import Stock

pytestmark = needs_openssl
SECRETS = ("controllers-secret", "brokers-secret", "wrong-secret")


@contextlib.contextmanager
def secured(
    root: Path, stock: Stock, kinds: list[str], protocol: str, settings: dict[str, str], *options: str
) -> Iterator[Cluster]:
    """Three controllers whose listener has this protocol, and one stock broker."""
    found = Cluster(
        root,
        stock,
        settings={"listener.security.protocol.map": f"CONTROLLER:{protocol},PLAINTEXT:PLAINTEXT"} | settings,
    )
    try:
        found.plan(kinds, 1)
        found.format(*options)
        found.start()
        eventually(lambda: active(found), "an active controller")
        yield found
        everything = "".join(node.said() for node in found.controllers.values() if node.kind == OURS)
        assert not [secret for secret in SECRETS if secret in everything]
        assert "PRIVATE KEY" not in everything
    finally:
        found.end()


def active(found: Cluster) -> int:
    """The leader that the running controllers of ours name in their logs; 0 while there is none."""
    latest = []
    for node in found.controllers.values():
        if node.process is not None and node.kind == OURS:
            lines = re.findall(r"role_changed .*? epoch=(\d+) leader_id=(\S+)", node.said())
            latest += [(int(epoch), int(leader)) for epoch, leader in lines if leader != "None"]
    return max(latest, default=(0, 0))[1]


def create(found: Cluster, topic: str) -> None:
    found.tool("topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", topic)


def quorum(found: Cluster, file: str) -> str:
    """What stock's tool prints; a node that has just started may refuse it, since it knows no credentials yet."""
    done = found.stock.tool(
        "metadata-quorum", "--bootstrap-controller", found.bootstrap_controller, "--command-config", file,
        "describe", "--status",
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else done.stderr


def stop_the_leader(found: Cluster) -> None:
    led = active(found)
    found.controllers[led].stop()
    await_other_leader(found, led)


def await_other_leader(found: Cluster, led: int) -> None:
    eventually(lambda: active(found) not in {0, led}, "another active controller")


def await_level(found: Cluster, file: str) -> None:
    eventually(lambda: level(quorum(found, file)), "three level voters")


def test_stock_broker_and_tools_over_mtls_through_failover_and_renewal(tmp_path: Path, stock: Stock) -> None:
    settings = stores(tmp_path, "node") | {"ssl.client.auth": "required"}
    with secured(tmp_path, stock, [OURS, OURS, OURS], "SSL", settings) as found:
        file = client_file(tmp_path, {"security.protocol": "SSL", **stores(tmp_path, "admin")})
        create(found, "before")
        assert "LeaderId" in quorum(found, file)

        (tmp_path / "node.pem").write_text(certificate("/O=Test/CN=node", serial=2).read_text())
        stop_the_leader(found)
        create(found, "after")
        assert "LeaderId" in quorum(found, file)
        assert any("keystore_renewed" in node.said() for node in found.controllers.values())

        # A client without a certificate is refused, and our end logs the reason.
        soon = {"security.protocol": "SSL", "request.timeout.ms": "4000", "default.api.timeout.ms": "5000"}
        nobody = {key: value for key, value in stores(tmp_path, "admin").items() if "keystore" not in key}
        refused = stock.tool(
            "metadata-quorum", "--bootstrap-controller", found.bootstrap_controller, "--command-config",
            client_file(tmp_path, soon | nobody),
            "describe", "--status",
        )  # fmt: skip
        assert refused.returncode != 0
        assert any(
            "it sends no certificate, and ssl.client.auth=required" in node.said()
            for node in found.controllers.values()
        )


def test_stock_broker_and_tools_over_sasl_ssl_scram(tmp_path: Path, stock: Stock) -> None:
    prefix = "listener.name.controller."
    settings = stores(tmp_path, "node") | {
        "sasl.mechanism.controller.protocol": "PLAIN",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        f"{prefix}connections.max.reauth.ms": "3000",
        f"{prefix}plain.sasl.jaas.config": (
            f'{PLAIN_MODULE} required username="controller" password="controllers-secret" '
            'user_controller="controllers-secret";'
        ),
        f"{prefix}scram-sha-512.sasl.jaas.config": (
            f'{SCRAM_MODULE} required username="broker" password="brokers-secret";'
        ),
    }
    options = ("--add-scram", "SCRAM-SHA-512=[name=broker,password=brokers-secret]")
    found = Cluster(
        tmp_path,
        stock,
        settings={"listener.security.protocol.map": "CONTROLLER:SASL_SSL,PLAINTEXT:PLAINTEXT"} | settings,
    )
    try:
        found.plan([OURS, OURS, OURS], 1)
        (broker,) = found.brokers.values()
        text = broker.properties.read_text()
        broker.properties.write_text(
            text.replace("sasl.mechanism.controller.protocol=PLAIN", "sasl.mechanism.controller.protocol=SCRAM-SHA-512")
        )
        found.format(*options)
        found.start()
        eventually(lambda: active(found), "an active controller")
        create(found, "before")
        login = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", **stores(tmp_path, "admin")}
        jaas = f'{SCRAM_MODULE} required username="broker" password="%s";'
        assert "LeaderId" in quorum(found, client_file(tmp_path, login | {"sasl.jaas.config": jaas % "brokers-secret"}))
        stop_the_leader(found)
        create(found, "after")
        refused = stock.tool(
            "metadata-quorum", "--bootstrap-controller", found.bootstrap_controller, "--command-config",
            client_file(tmp_path, login | {"sasl.jaas.config": jaas % "wrong-secret"}), "describe", "--status",
        )  # fmt: skip
        assert "SaslAuthenticationException" in refused.stdout + refused.stderr
        everything = "".join(node.said() for node in found.controllers.values())
        assert "the user or the password is wrong (user 'broker')" in everything
        assert "its session has expired" not in everything
        assert not [secret for secret in SECRETS if secret in everything]
    finally:
        found.end()


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
def test_a_stock_controller_is_one_voter_of_a_tls_quorum(tmp_path: Path, stock: Stock, protocol: str) -> None:
    settings = stores(tmp_path, "node") | {
        "ssl.client.auth": "required",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": (
            f'{PLAIN_MODULE} required username="controller" password="controllers-secret" '
            'user_controller="controllers-secret";'
        ),
    }
    with secured(tmp_path, stock, [OURS, OURS, STOCK], protocol, settings) as found:
        create(found, "before")
        for _ in range(2):
            led = active(found)
            found.controllers[led].stop()
            await_other_leader(found, led)
            create(found, f"after-{led}")
            found.controllers[led].start()
            login = {"security.protocol": protocol, "sasl.mechanism": "PLAIN", **stores(tmp_path, "admin")}
            jaas = f'{PLAIN_MODULE} required username="controller" password="controllers-secret";'
            file = client_file(tmp_path, login | {"sasl.jaas.config": jaas})
            await_level(found, file)


def level(status: str) -> bool:
    lag = re.search(r"MaxFollowerLag:\s+(-?\d+)", status)
    return lag is not None and 0 <= int(lag[1]) <= 2


def test_acls_decide_by_the_name_in_a_certificate(tmp_path: Path, stock: Stock) -> None:
    """Ann may describe the quorum while kafka-acls allows it, also after a failover: the client also needs Alter."""
    settings = stores(tmp_path, "node") | {
        "ssl.client.auth": "required",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:CN=node,O=Test;User:CN=admin,O=Test",
    }
    with secured(tmp_path, stock, [OURS, OURS, OURS], "SSL", settings) as found:
        admin = client_file(tmp_path, {"security.protocol": "SSL", **stores(tmp_path, "admin")})
        ann = client_file(tmp_path, {"security.protocol": "SSL", **stores(tmp_path, "ann")})
        where = ("--bootstrap-controller", found.bootstrap_controller, "--command-config")
        describe = (*where, ann, "describe", "--status")

        def acls(*action: str) -> str:
            return found.tool("acls", *where, admin, *action)

        denied = stock.tool("metadata-quorum", *describe)
        assert "ClusterAuthorizationException" in denied.stdout + denied.stderr

        acls("--add", "--allow-principal", "User:CN=ann,O=Test", "--operation", "Alter", "--cluster")
        assert "User:CN=ann,O=Test" in acls("--list")
        eventually(lambda: "LeaderId" in stock.tool("metadata-quorum", *describe).stdout, "ann may describe")
        stop_the_leader(found)
        eventually(lambda: "LeaderId" in stock.tool("metadata-quorum", *describe).stdout, "ann may describe again")

        acls("--remove", "--force", "--allow-principal", "User:CN=ann,O=Test", "--operation", "Alter", "--cluster")
        eventually(
            lambda: "ClusterAuthorizationException" in stock.tool("metadata-quorum", *describe).stderr, "ann is denied"
        )
        assert any("authorization_denied" in node.said() for node in found.controllers.values())
