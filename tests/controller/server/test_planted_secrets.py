"""A node with each kind of secret, used rightly and wrongly for a while: none is in any of its output.

The output is its log at the most verbose level, its audit log, its command line, its answers to clients and over HTTP,
and what the tools print of its directory.
"""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from base64 import b64encode
from hashlib import pbkdf2_hmac
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from controller.config.security.bearer_checks import SIGNED_HANDLER
from raft.network.bearer import BearerClient
from raft.network.mechanisms import PlainClient, ScramClient, new_nonce
from records.messages.configs import DescribeConfigsRequest
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.scram import AlterUserScramCredentialsRequest
from records.messages.tokens import CreateDelegationTokenRequest, ExpireDelegationTokenRequest
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.security.signing import key_set, public_jwk, signed
from tests.controller.server.alterations import BROKER, alteration
from tests.controller.server.processes import (
    format_directory,
    running,
    write_properties,
)
from tests.interop.ask import ask_on
from tests.raft.network.certificates import authority, certificate, needs_openssl, run

if TYPE_CHECKING:
    import pytest

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
DUMP = "import sys; from tools.kafka.{} import main; sys.exit(main())"


class Planted:
    """Secrets by what they are for, each one of its own."""

    def __init__(self) -> None:
        self.all: dict[str, str] = {}

    def __call__(self, what: str) -> str:
        return self.all.setdefault(what, f"planted-{what}-{len(self.all)}")

    def found_in(self, text: str) -> list[str]:
        """Those that are in a text, as they are or in base64."""
        forms = {what: (secret, b64encode(secret.encode()).decode().rstrip("=")) for what, secret in self.all.items()}
        return [what for what, either in forms.items() if any(form in text for form in either)]


class Client:
    """A client of the listener; everything that it is answered is kept."""

    def __init__(self, port: int, context: ssl.SSLContext, answers: list[str]) -> None:
        raw = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket = context.wrap_socket(raw, server_hostname="localhost")
        self.answers = answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, request: Any, version: int) -> Any:
        answer = ask_on(self.socket, request, version)
        self.answers.append(repr(answer))
        return answer

    def log_in(self, mechanism: str, exchange: Any) -> int:
        """The error code of the last answer."""
        self.ask(SaslHandshakeRequest(mechanism=mechanism), 1)
        token = exchange.first()
        while token is not None:
            answer = self.ask(SaslAuthenticateRequest(auth_bytes=token), 2)
            if answer.error_code:
                return int(answer.error_code)
            token = exchange.answer(answer.auth_bytes)
        return 0


def prepared(root: Path, secret: Planted, port: int) -> dict[str, str]:
    """The settings of the node, by keys with `_` for `.`, and the files that they name."""
    pem = certificate("/O=Test/CN=node")
    run("pkcs12", "-export", "-in", str(pem), "-out", str(root / "node.p12"), "-passout", f"pass:{secret('keystore')}")
    (root / "jwks.json").write_bytes(key_set(public_jwk("RSA")))
    (root / "scram").write_text(f"SCRAM-SHA-512=[name=local,password={secret('scram-file')}]\n")
    (root / "secrets.properties").write_text(f"admin={secret('plain-admin')}\n")
    (root / "http.token").write_text(secret("http-token") + "-long-enough-for-a-bearer-token")
    (root / "jaas.conf").write_text(
        f'KafkaServer {{ {SCRAM} required username="x" password="{secret("jaas-file")}"; }};'
    )
    prefix = "listener.name.controller."
    provider = "org.apache.kafka.common.config.provider."
    found = {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
        "ssl.keystore.type": "PKCS12", "ssl.keystore.location": str(root / "node.p12"),
        "ssl.keystore.password": secret("keystore"),
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority() / "ca.pem"),
        "sasl.mechanism.controller.protocol": "PLAIN",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
        f"{prefix}plain.sasl.jaas.config": (
            f'{PLAIN} required username="admin" password="${{file:{root}/secrets.properties:admin}}" '
            f'user_admin="${{file:{root}/secrets.properties:admin}}" user_bob="{secret("plain-bob")}";'
        ),
        f"{prefix}oauthbearer.sasl.jaas.config": f'{OAUTH} required clientSecret="{secret("client-option")}";',
        f"{prefix}oauthbearer.sasl.server.callback.handler.class": SIGNED_HANDLER,
        "sasl.oauthbearer.jwks.endpoint.url": f"file:{root}/jwks.json",
        "sasl.oauthbearer.allow.unverified.audience": "true",
        "sasl.oauthbearer.allow.unverified.issuer": "true",
        "sasl.oauthbearer.client.credentials.client.secret": secret("client-secret"),
        "kraft.scram.credentials.path": str(root / "scram"), "kraft.jaas.config.path": str(root / "jaas.conf"),
        "delegation.token.secret.key": "${env:TOKEN_SECRET}",
        "config.providers": "env,file",
        "config.providers.env.class": provider + "EnvVarConfigProvider",
        "config.providers.file.class": provider + "FileConfigProvider",
        "super.users": "User:admin",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kraft.http.listener": f"127.0.0.1:{port + 1}", "kraft.http.token.path": str(root / "http.token"),
        "kraft.log.level": "TRACE",
        "kraft.audit.log": str(root / "audit.log"), "kraft.audit.log.requests": "refused,reads",
        "my.plugin.password": secret("unknown-key"),
    }  # fmt: skip
    return {key.replace(".", "_"): value for key, value in found.items()}


@needs_openssl
def test_no_planted_secret_is_in_any_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Planted()
    answers: list[str] = []
    port = free_ports_in_a_row(2)
    monkeypatch.setenv("TOKEN_SECRET", secret("token-key"))
    settings = prepared(tmp_path, secret, port)
    properties = write_properties(tmp_path, port, **settings)
    scram = f"SCRAM-SHA-512=[name=alice,password={secret('scram-format')}]"
    done = [format_directory(properties, "--add-scram", scram)]
    context = ssl.create_default_context(cafile=str(authority() / "ca.pem"))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # of Python 3.13; the authority has no key usage

    def client() -> Client:
        return Client(port, context, answers)

    with running(tmp_path, port, **settings) as process:
        with client() as admin:
            assert admin.log_in("PLAIN", PlainClient("admin", secret("plain-admin"))) == 0
            change_everything(admin, secret)
            token = admin.ask(
                CreateDelegationTokenRequest(
                    owner_principal_type=None, owner_principal_name=None, renewers=(), max_lifetime_ms=-1
                ),
                3,
            )
            assert token.error_code == 0
            secret.all["hmac"] = b64encode(token.hmac).decode()
            answers.pop()  # the one place where the secret of a token belongs
            wrong = ExpireDelegationTokenRequest(hmac=secret("wrong-hmac").encode(), expiry_time_period_ms=-1)
            assert admin.ask(wrong, 2).error_code == 62
        right_and_wrong(client, secret, token.token_id)
        abuse(port, secret)
        (tmp_path / "scram").write_text(secret("bad-line"))
        (tmp_path / "node.p12").write_text(secret("bad-store"))
        (tmp_path / "jwks.json").write_text(secret("bad-keys"))
        time.sleep(1.1)
        with client() as bob:
            assert (
                bob.log_in(
                    "SCRAM-SHA-512", ScramClient("SCRAM-SHA-512", "local", secret("scram-file"), {}, new_nonce())
                )
                == 0
            )
        with client() as bob:
            assert bob.log_in("OAUTHBEARER", BearerClient(lambda: "a.b.c", {})) == 58
        answers += [http(port + 1, path, secret) for path in ("/quorum", "/metrics", "/", "/no-such", "/readyz")]
        answers.append(Path(f"/proc/{process.pid}/cmdline").read_text())
        bundles = [
            bundle(tmp_path, *options) for options in (("-c", str(properties)), ("--directory", str(tmp_path / "data")))
        ]
    log = (tmp_path / "node.log").read_text()
    audit = (tmp_path / "audit.log").read_text()

    log_file = str(next((tmp_path / "data").rglob("00000000000000000000.log")))
    done += [
        subprocess.run(
            [sys.executable, "-c", DUMP.format(tool), *arguments], capture_output=True, text=True, check=False
        )
        for tool, arguments in (
            ("dump_log.dump_log", ("--cluster-metadata-decoder", "--files", log_file)),
            ("shell.metadata_shell", ("--directory", str(tmp_path / "data" / "__cluster_metadata-0"), "find", "/")),
        )
    ]
    for what in ("authentication_failed", "handshake_failed", "keystore_refused", "security_file_refused"):
        assert what in log, what
    formatted, dump, tree = (each.stdout + each.stderr for each in done)
    assert '"alice"' in dump
    assert "alice" in tree
    assert len(secret.all) > 20
    for api in (
        "IncrementalAlterConfigs",
        "AlterUserScramCredentials",
        "CreateDelegationToken",
        "ExpireDelegationToken",
    ):
        assert f'"api":"{api}"' in audit, api
    assert sorted(bundles[0])[:2] == ["config.json", "directory/files.json"]
    assert "listener.name.external.ssl.key.password" in bundles[1]["records.jsonl"]
    assert '"UserScramCredentialRecord"' in bundles[1]["records.jsonl"]
    assert "authentication_failed" in bundles[0]["logs/0.log"]
    assert "AlterUserScramCredentials" in bundles[0]["logs/1-audit.log"]
    in_bundles = [text for files in bundles for text in files.values()]
    for text in (log, "".join(answers), formatted, tree, audit, *in_bundles):
        assert secret.found_in(text) == []
        assert "PRIVATE KEY" not in text
    # As stock's, the dump has the values of configs as they are in the log, of sensitive keys too.
    assert secret.found_in(dump) == ["config"]


def bundle(root: Path, *options: str) -> dict[str, str]:
    """The files of an archive of `kraftctl debug bundle`, by their names in it."""
    target = root / f"bundle{options[0]}.tar.gz"
    more = ("--log", str(root / "node.log"), "--out", str(target), "--seconds", "0.2", "--every", "0.1")
    command = [sys.executable, "-m", "tools.kraftctl.main", "debug", "bundle", *options, *more]
    assert subprocess.run(command, check=False, timeout=60).returncode in (0, 2)
    with tarfile.open(target) as archive:
        entries = {entry.name.partition("/")[2]: archive.extractfile(entry) for entry in archive.getmembers()}
        return {name: file.read().decode() for name, file in entries.items() if file is not None}


def change_everything(admin: Client, secret: Planted) -> None:
    """Secrets in requests, of which some are refused."""
    deadline = time.monotonic() + 20
    request = alteration(BROKER, "", "listener.name.external.ssl.key.password", secret("config"))
    while admin.ask(request, 1).responses[0].error_code != 0:
        assert time.monotonic() < deadline, "the node does not lead"
    admin.ask(alteration(BROKER, "5", "no.such.key", secret("unknown-config")), 1)
    wanted = DescribeConfigsRequest.DescribeConfigsResource
    for name in ("", "1"):
        resource = wanted(resource_type=BROKER, resource_name=name, configuration_keys=None)
        admin.ask(DescribeConfigsRequest(resources=(resource,), include_synonyms=True, include_documentation=True), 4)
    salted = pbkdf2_hmac("sha512", secret("scram-request").encode(), b"salt", 8192)
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    for mechanism in (2, 9):
        change = upsertion(name="carol", mechanism=mechanism, iterations=8192, salt=b"salt", salted_password=salted)
        admin.ask(AlterUserScramCredentialsRequest(deletions=(), upsertions=(change,)), 0)
    secret.all["salted"] = b64encode(salted).decode()


def right_and_wrong(client: Any, secret: Planted, token_id: str) -> None:
    """Each mechanism with a right secret and with a wrong one."""

    def scram(user: str, password: str, *, is_token: bool = False) -> ScramClient:
        return ScramClient("SCRAM-SHA-512", user, password, {}, new_nonce(), is_token=is_token)

    now = int(time.time())
    tokens = [signed(sub="dora", iat=now, exp=now + 600), signed(number=1, sub="dora", iat=now, exp=now + 600)]
    secret.all |= {f"jwt-{number}": token.rpartition(".")[2] for number, token in enumerate(tokens)}
    for mechanism, exchange, code in (
        ("PLAIN", PlainClient("bob", secret("plain-bob")), 0),
        ("PLAIN", PlainClient("bob", secret("wrong-plain")), 58),
        ("SCRAM-SHA-512", scram("alice", secret("scram-format")), 0),
        ("SCRAM-SHA-512", scram("alice", secret("wrong-scram")), 58),
        ("SCRAM-SHA-512", scram("local", secret("scram-file")), 0),
        ("SCRAM-SHA-512", scram(token_id, secret.all["hmac"], is_token=True), 0),
        ("SCRAM-SHA-512", scram(token_id, secret("wrong-token"), is_token=True), 58),
        ("OAUTHBEARER", BearerClient(lambda: tokens[0], {}), 0),
        ("OAUTHBEARER", BearerClient(lambda: tokens[1], {}), 58),
        ("OAUTHBEARER", BearerClient(lambda: f"{secret('no-token')}.b.c", {}), 58),
    ):
        with client() as one:
            assert one.log_in(mechanism, exchange) == code, (mechanism, code)


def abuse(port: int, secret: Planted) -> None:
    """Secrets where none belong. The second is a whole TLS record of 512 bytes: of a part, the node awaits the rest."""
    for data in (secret("plaintext").encode() * 20, b"\x16\x03\x01\x02\x00" + secret("in-tls").encode() * 60):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            raw.sendall(data)
            raw.recv(100)


def http(port: int, path: str, secret: Planted) -> str:
    token = secret("http-token") + "-long-enough-for-a-bearer-token"
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return str(answer.headers) + answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return str(error.headers) + error.read().decode()
