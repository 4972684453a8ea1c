"""Files with the keys that the operators of Stackable and koperator render for a controller are formatted and checked,
with the options of their scripts (docs/operators.md).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import FORMAT, start_command
from tests.raft.network.certificates import authority, certificate

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
STACKABLE = """\
controlled.shutdown.enable=true
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=localhost:9093
inter.broker.listener.name=INTERNAL
listener.name.controller.ssl.client.auth=required
{stores}listener.security.protocol.map=CONTROLLER:SSL,INTERNAL:SSL,CLIENT:SSL
listeners=CONTROLLER://localhost:9093
log.dirs={directory}/kraft
node.id=2110489704
process.roles=controller
"""
KOPERATOR = """\
controller.listener.names=CONTROLLER
controller.quorum.voters=3@localhost:29093
cruise.control.metrics.reporter.bootstrap.servers=kafka-all-broker.kafka.svc.cluster.local:29092
inter.broker.listener.name=INTERNAL
listener.security.protocol.map=INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
listeners=CONTROLLER://:29093
log.dirs={directory}/kafka
metric.reporters=com.linkedin.kafka.cruisecontrol.metricsreporter.CruiseControlMetricsReporter
node.id=3
process.roles=controller
"""


def format_and_check(file: Path, *options: str) -> str:
    """What the node says to its configuration."""
    command = [sys.executable, "-c", FORMAT, "format", *options]
    formatted = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert formatted.returncode == 0, formatted.stderr
    checked = subprocess.run([*start_command(file), "--check"], capture_output=True, text=True, timeout=60, check=False)
    assert (checked.returncode, checked.stdout.count("can run with this configuration")) == (0, 1), checked.stderr
    return checked.stderr


@pytest.mark.skipif(
    shutil.which("openssl") is None or shutil.which("keytool") is None, reason="there is no openssl, or no JDK"
)
def test_a_file_of_stackables_operator(tmp_path: Path) -> None:
    password, pem = "changeit", str(certificate("/CN=localhost"))
    key, trust = str(tmp_path / "keystore.p12"), str(tmp_path / "truststore.p12")
    imported = ["-importcert", "-noprompt", "-alias", "ca", "-file", str(authority() / "ca.pem"), "-keystore", trust]
    for command in (
        ["openssl", "pkcs12", "-export", "-in", pem, "-out", key, "-passout", f"pass:{password}"],
        ["keytool", *imported, "-storetype", "PKCS12", "-storepass", password],
    ):
        subprocess.run(command, check=True, capture_output=True)
    stores = "".join(
        f"listener.name.{listener}.ssl.{kind}.{name}={value}\n"
        for listener in ("controller", "internal")
        for kind, path in (("keystore", key), ("truststore", trust))
        for name, value in (("location", path), ("password", password), ("type", "PKCS12"))
    )
    file = tmp_path / "controller.properties"
    file.write_text(STACKABLE.format(stores=stores, directory=tmp_path))
    voter = "2110489704@localhost:9093:0000000000-02110489704"

    options = ("--cluster-id", CLUSTER_ID, "--config", str(file), "--ignore-formatted", "--initial-controllers", voter)

    assert format_and_check(file, *options) == ""


def test_a_file_of_koperator(tmp_path: Path) -> None:
    file = tmp_path / "broker-config"
    file.write_text(KOPERATOR.format(directory=tmp_path))

    said = format_and_check(file, f"--cluster-id={CLUSTER_ID}", "--ignore-formatted", "-c", str(file))

    assert [line.removeprefix(f"{file}: ").split(" ", 1)[0] for line in said.splitlines()] == [
        "cruise.control.metrics.reporter.bootstrap.servers", "metric.reporters",
    ]  # fmt: skip
