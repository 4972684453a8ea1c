"""The examples of docs/security.md, tried as they stand there: its commands run, and its properties start a node.

Each test begins in an empty folder. Only ports, and paths outside of the folder, are replaced.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from records.messages.configs import IncrementalAlterConfigsRequest
from records.messages.topics import CreateTopicsRequest
from simulations.chaos.ports import free_ports
from tests.benchmarks.client import Fleet
from tests.interop.ask import ask
from tests.interop.cluster import BIN, Cluster, NodeProcess, eventually
from tests.raft.network.certificates import needs_openssl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.stock import Stock

pytestmark = needs_openssl
PAGE = Path(__file__).parents[2] / "docs" / "security.md"
POLICY_VIOLATION = 44

# Sections whose examples need a server of another kind; tests of their own try what they describe.
ELSEWHERE = {"OAUTHBEARER": "an OAuth provider", "GSSAPI (Kerberos)": "a KDC"}
TRIED = {
    "TLS with client certificates",
    "SASL",
    "JAAS files",
    "Delegation tokens",
    "Secrets from files and variables",
    "ACLs",
    "An authorizer and policies of your own",
    "kraftctl and the live metadata shell",
    "The HTTP port and the watch service",
}


def sections() -> dict[str, list[str]]:
    """Heading -> its examples, without their indentation."""
    found: dict[str, list[str]] = {}
    heading, is_python = "", False
    for part in re.split(r"\n{2,}", PAGE.read_text()):
        if part.startswith("    "):
            lines = "\n".join(line.removeprefix("    ") for line in part.splitlines())
            examples = found.setdefault(heading, [])
            if is_python:  # a blank line within an example
                examples[-1] += f"\n\n{lines}"
            else:
                examples.append(lines)
                is_python = lines.startswith(("from ", "import "))
        else:
            is_python = False
            if part.startswith("#"):
                heading = part.splitlines()[0].lstrip("# ")
    return found


SECTIONS = sections()


def example(section: str, begins: str) -> str:
    """The example of a section that begins so."""
    (found,) = (text for text in SECTIONS[section] if text.startswith(begins))
    return found


class Folder:
    """An empty folder, and the node that its `controller.properties` is for."""

    def __init__(self, root: Path, stock: Stock) -> None:
        self.root = root
        self.stock = stock
        self.port, self.http = free_ports(2)
        self.environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONPATH": str(root)}
        self.process: subprocess.Popen[bytes] | None = None

    def here(self, text: str) -> str:
        text = text.replace("9093", str(self.port)).replace("0.0.0.0:9644", f"127.0.0.1:{self.http}")
        return text.replace("9644", str(self.http)).replace("/etc/kraft/secrets", str(self.root / "secrets"))

    def run(self, commands: str) -> str:
        """Run an example as a shell script; all of it must succeed."""
        done = subprocess.run(
            ["bash", "-euc", self.here(commands)], cwd=self.root, env=self.environment, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def properties(self, *parts: str, without: tuple[str, ...] = (), **changed: str) -> None:
        """Write `controller.properties`: of a key that stands twice, the last value counts."""
        text = self.here("\n".join(parts)).replace("\\\n", "\\\n")
        lines: dict[str, str] = {}
        for line in re.sub(r"\\\n\s*", "", text).splitlines():
            key, _, value = line.partition("=")
            lines[key] = value
        lines |= {key.replace("_", "."): value for key, value in changed.items()}
        kept = [f"{key}={value}\n" for key, value in lines.items() if not any(part in key for part in without)]
        (self.root / "controller.properties").write_text("".join(kept))

    def start(self) -> None:
        command = example("TLS with client certificates", "kafka-storage format").splitlines()[1]
        with (self.root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.here(command).split(), cwd=self.root, env=self.environment, stdout=log, stderr=log
            )
        eventually(lambda: "controller_active" in self.said() or self.process.poll() is not None, "a leader")  # type: ignore[union-attr]
        assert self.process.poll() is None, self.said()

    def said(self) -> str:
        return (self.root / "log").read_text()

    def client(self, name: str, *arguments: str, text: str, seconds: float = 60) -> str:
        """The output of a stock tool with a client's properties, or what it says of an error."""
        file = self.root / "client.properties"
        file.write_text(re.sub(r"=(\S+\.pem)", lambda match: f"={self.root / match[1]}", text))
        where = ("--bootstrap-controller", f"localhost:{self.port}", "--command-config", str(file))
        done = self.stock.tool(name, *where, *arguments, seconds=seconds)
        return done.stdout + done.stderr

    def describe(self, text: str) -> str:
        return self.client("metadata-quorum", "describe", "--status", text=text)

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def folder(tmp_path: Path, stock: Stock) -> Iterator[Folder]:
    found = Folder(tmp_path, stock)
    found.run(example("TLS with client certificates", "openssl req"))
    yield found
    found.end()


TLS = example("TLS with client certificates", "process.roles")
FORMAT = example("TLS with client certificates", "kafka-storage format").splitlines()[0]
WITH_PLAIN = example("SASL", "sasl.mechanism.controller.protocol=PLAIN")
FORMAT_SCRAM = example("SASL", "kafka-storage format")
SCRAM_CLIENT = example("Delegation tokens", "security.protocol=SASL_SSL")
PLAIN_CLIENT = (
    SCRAM_CLIENT.replace("SCRAM-SHA-512", "PLAIN").replace("scram.Scram", "plain.Plain")
    .replace('"broker"', '"controller"').replace("change-me-too", "change-me")
)  # fmt: skip
CERTIFICATE_CLIENT = """security.protocol=SSL
ssl.keystore.type=PEM
ssl.keystore.location=node.pem
ssl.truststore.type=PEM
ssl.truststore.location=ca.pem
"""
SASL = {"listener_security_protocol_map": "CONTROLLER:SASL_SSL"}


def test_each_section_with_examples_is_tried() -> None:
    assert set(SECTIONS) - set(ELSEWHERE) == TRIED


def test_client_certificates(folder: Folder) -> None:
    folder.properties(TLS)
    folder.run(FORMAT)
    folder.start()

    assert "LeaderId" in folder.describe(CERTIFICATE_CLIENT)


def test_plain_and_scram(folder: Folder) -> None:
    folder.properties(TLS, WITH_PLAIN, without=("client.auth",), **SASL)
    folder.run(FORMAT_SCRAM)
    folder.start()

    assert "LeaderId" in folder.describe(SCRAM_CLIENT)
    assert "LeaderId" in folder.describe(PLAIN_CLIENT)
    assert "SaslAuthenticationException" in folder.describe(PLAIN_CLIENT.replace("change-me", "wrong"))


def test_kraftctl_and_the_live_metadata_shell(folder: Folder) -> None:
    folder.properties(TLS, WITH_PLAIN, without=("client.auth",), **SASL)
    folder.run(FORMAT_SCRAM)
    folder.start()
    heading = "kraftctl and the live metadata shell"
    (folder.root / "client.properties").write_text(folder.here(example(heading, "security.protocol")))

    printed = folder.run(example(heading, "kraftctl status"))

    assert "node 1 leads epoch" in printed
    assert "\nacls\n" in printed


def test_scram_among_controllers(folder: Folder) -> None:
    folder.run(example("SASL", "echo 'SCRAM"))
    with_file = example("SASL", "sasl.mechanism.controller.protocol=SCRAM")
    folder.properties(TLS, with_file, without=("client.auth",), **SASL)
    folder.run(FORMAT)
    folder.start()

    text = SCRAM_CLIENT.replace('"broker"', '"controller"').replace("change-me-too", "change-me")
    assert "LeaderId" in folder.describe(text)


def test_a_jaas_file(folder: Folder) -> None:
    (folder.root / "jaas.conf").write_text(example("JAAS files", "KafkaServer"))
    folder.properties(TLS, WITH_PLAIN, without=("client.auth", "jaas.config"), **SASL)
    with (folder.root / "controller.properties").open("a") as file:
        file.write("kraft.jaas.config.path=jaas.conf\n")
    folder.run(FORMAT_SCRAM)
    folder.start()

    assert "LeaderId" in folder.describe(PLAIN_CLIENT)


def test_secrets_from_files_and_variables(folder: Folder) -> None:
    (folder.root / "secrets").mkdir()
    (folder.root / "secrets" / "tls.properties").write_text("key.password=of-the-key\n")
    folder.run(
        "openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:of-the-key -in node.key -out node.enc\n"
        "cat node.enc node.crt > node.pem"
    )
    folder.environment["KRAFT_PASSWORD"] = "change-me"
    providers = example("Secrets from files and variables", "config.providers=file")
    folder.properties(TLS, WITH_PLAIN, providers, without=("client.auth",), **SASL)
    folder.run(FORMAT_SCRAM)
    folder.start()

    assert "LeaderId" in folder.describe(PLAIN_CLIENT)
    assert "change-me" not in folder.said()


def test_acls(folder: Folder) -> None:
    folder.properties(TLS, WITH_PLAIN, example("ACLs", "authorizer.class"), without=("client.auth",), **SASL)
    folder.run(FORMAT_SCRAM)
    folder.start()

    assert "ClusterAuthorizationException" in folder.describe(SCRAM_CLIENT)
    rule = ("--allow-principal", "User:broker", "--operation", "Alter", "--cluster")
    assert "User:broker" in folder.client("acls", "--add", *rule, text=PLAIN_CLIENT)
    eventually(lambda: "LeaderId" in folder.describe(SCRAM_CLIENT), "the broker may describe")
    assert "authorization_denied" in folder.said()


def test_policies_of_one_s_own(folder: Folder) -> None:
    section = "An authorizer and policies of your own"
    (folder.root / "naming.py").write_text(example(section, "from kraft_quorum.plugins"))
    folder.properties(
        TLS, example(section, "create.topic.policy"), listener_security_protocol_map="CONTROLLER:PLAINTEXT"
    )
    folder.run(FORMAT)
    folder.start()
    node = NodeProcess(1, "controller", "ours", folder.port, folder.root, folder.root, folder.root, folder.stock)
    node.process = folder.process
    brokers = Fleet(Cluster(folder.root, folder.stock, {1: node}), [11])

    try:
        answers = [(each.error_code, each.error_message) for each in created(folder.port, "orders", "team-orders")]
        assert answers == [(POLICY_VIOLATION, "topics here begin with team-"), (0, None)]
        (altered,) = kept_for_ever(folder.port, "team-orders")
        text = "team-orders: retention.ms=-1 is not allowed here"
        assert (altered.error_code, altered.error_message) == (POLICY_VIOLATION, text)
    finally:
        brokers.end()


def test_an_authorizer_of_one_s_own(folder: Folder) -> None:
    section = "An authorizer and policies of your own"
    (folder.root / "naming.py").write_text(example(section, "from kraft_quorum.plugins"))
    who_may_all = "root"
    named = re.search(r"`(authorizer\.class\.name=\S+)`", PAGE.read_text())
    assert named is not None
    folder.properties(
        TLS, named[1], f"ssl.principal.mapping.rules=RULE:^CN=node.*$/{who_may_all}/,DEFAULT"
    )  # fmt: skip
    folder.run(FORMAT)
    folder.start()

    assert "LeaderId" in folder.describe(CERTIFICATE_CLIENT)
    folder.run(
        "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ann -keyout ann.key -out ann.csr\n"
        "openssl x509 -req -in ann.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 365 -out ann.crt\n"
        "cat ann.key ann.crt > ann.pem"
    )
    ann = CERTIFICATE_CLIENT.replace("node.pem", "ann.pem")
    assert "ClusterAuthorizationException" in folder.client(
        "acls", "--add", "--allow-principal", "User:x", "--operation", "All", "--topic", "*", text=ann
    )
    assert "only descriptions" in folder.said()


def test_the_http_port(folder: Folder) -> None:
    section = "The HTTP port and the watch service"
    openssl, curl = example(section, "openssl rand").splitlines()
    folder.run(openssl)
    folder.properties(TLS, example(section, "kraft.http.listener"))
    folder.run(FORMAT)
    folder.start()

    assert "kafka_" in folder.run(curl)
    with pytest.raises(AssertionError):
        folder.run(re.sub(r' -H "[^"]+(\([^)]*\))?"', "", curl).replace("curl", "curl --fail -s"))


def created(port: int, *names: str) -> Any:
    item = CreateTopicsRequest.CreatableTopic
    made = tuple(item(name=n, num_partitions=1, replication_factor=1, assignments=(), configs=()) for n in names)
    return ask(port, CreateTopicsRequest(topics=made, timeout_ms=5000, validate_only=False), 7).topics


def kept_for_ever(port: int, topic: str) -> Any:
    item = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = item.AlterableConfig(name="retention.ms", config_operation=0, value="-1")
    resource = item(resource_type=2, resource_name=topic, configs=(change,))
    return ask(port, IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), 1).responses
