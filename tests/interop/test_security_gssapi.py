"""GSSAPI against stock's own, with a key distribution centre on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.controller.security.kerberos import REALM, Realm, needs_kerberos
from tests.controller.security.test_gss import KRB5
from tests.interop.cluster import OURS, STOCK
from tests.interop.secured import client_file
from tests.interop.test_live_shell import ours
from tests.interop.test_security import create, quorum, stop_the_leader
from tests.interop.test_security_mechanisms import PREFIX, running, said

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.interop.stock import Stock


@needs_kerberos
def test_kerberos_between_our_controllers_a_stock_one_a_stock_broker_and_tools(
    tmp_path: Path, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kdc").mkdir()
    with Realm(tmp_path / "kdc") as realm:
        option = f"-Djava.security.krb5.conf={realm.config}"
        monkeypatch.setenv("KAFKA_OPTS", option)
        monkeypatch.setenv("JDK_JAVA_OPTIONS", option)
        monkeypatch.setenv("KRB5RCACHENAME", realm.environment["KRB5RCACHENAME"])
        monkeypatch.delenv("KRB5_CONFIG", raising=False)
        jaas = f'{KRB5} required useKeyTab=true storeKey=true keyTab="%s" principal="%s@{REALM}";'
        settings = {
            "sasl.mechanism.controller.protocol": "GSSAPI",
            f"{PREFIX}sasl.enabled.mechanisms": "GSSAPI",
            "sasl.kerberos.service.name": "kafka",
            f"{PREFIX}gssapi.sasl.jaas.config": jaas % (realm.keytab("kafka/localhost"), "kafka/localhost"),
        }
        admin = {"security.protocol": "SASL_PLAINTEXT", "sasl.kerberos.service.name": "kafka"} | {
            "sasl.jaas.config": jaas % (realm.keytab("admin"), "admin")
        }
        with running(tmp_path, stock, [OURS, OURS, STOCK], settings, option) as found:
            assert "LeaderId" in quorum(found, client_file(tmp_path, admin))
            where = ["--controllers", found.bootstrap_controller, "--config", client_file(tmp_path, admin)]
            assert "acls" in ours(*where, "ls", "/image")
            stop_the_leader(found)
            create(found, "after")
            assert "authentication_failed" not in said(found)
