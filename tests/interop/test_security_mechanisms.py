"""SASL mechanisms against stock's own: OAUTHBEARER, SCRAM from a file, JAAS files and delegation tokens."""

from __future__ import annotations

import json
import socket
import time
from base64 import b64encode
from contextlib import contextmanager
from typing import TYPE_CHECKING

from raft.network.mechanisms import PlainClient
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.tokens import CreateDelegationTokenRequest
from tests.controller.security.signing import key_set, public_jwk, signed
from tests.interop.ask import ask_on
from tests.interop.cluster import OURS, STOCK, Cluster, eventually
from tests.interop.secured import PLAIN_MODULE, SCRAM_MODULE, client_file
from tests.interop.stock import SMALL
from tests.interop.test_security import active, await_level, create, quorum, stop_the_leader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    import pytest

    from tests.interop.stock import Stock

PREFIX = "listener.name.controller."
OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer."
ALLOWED = "org.apache.kafka.sasl.oauthbearer.allowed.urls"


@contextmanager
def running(root: Path, stock: Stock, kinds: list[str], settings: dict[str, str], options: str) -> Iterator[Cluster]:
    """Controllers, and a broker on which a topic was created; processes of Java have these options."""
    found = Cluster(
        root,
        stock,
        settings={"listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT"} | settings,
        heap=f"{SMALL} {options}",
    )
    found.plan(kinds, 1)
    try:
        found.format()
        found.start()
        eventually(lambda: active(found), "an active controller")
        create(found, "before")
        yield found
    finally:
        found.end()


def said(found: Cluster) -> str:
    return "".join(node.said() for node in found.controllers.values() if node.kind == OURS)


def bearer(url: str, **settings: str) -> dict[str, str]:
    """What a client of OAUTHBEARER has, with its token in a file."""
    return {
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.login.callback.handler.class": OAUTH + "OAuthBearerLoginCallbackHandler",
        "sasl.jaas.config": f"{OAUTH_MODULE} required;",
    } | settings


def test_signed_tokens_between_our_controllers_a_stock_one_a_stock_broker_and_tools(
    tmp_path: Path, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = int(time.time())
    times: dict[str, Any] = {"iat": now, "exp": now + 3600, "aud": "kafka", "iss": "https://idp"}
    tokens = {
        "node": signed(**times, sub="node"),
        "admin": signed("ES256", "P-256", **times | {"scope": ["a", "b"]}, sub="admin"),
        "other": signed(**times | {"aud": "other"}, sub="admin"),
        "forged": signed(number=1, **times, sub="admin"),
    }
    for name, token in tokens.items():
        (tmp_path / name).write_text(token)
    (tmp_path / "jwks.json").write_bytes(key_set(public_jwk("RSA"), public_jwk("P-256")))
    urls = [f"file:{tmp_path}/{name}" for name in (*tokens, "jwks.json")]
    allowed = f"-D{ALLOWED}={','.join(urls)}"
    monkeypatch.setenv("JDK_JAVA_OPTIONS", allowed)
    monkeypatch.setenv("KAFKA_OPTS", allowed)
    mechanism = PREFIX + "oauthbearer."
    settings = {
        "sasl.mechanism.controller.protocol": "OAUTHBEARER",
        f"{PREFIX}sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": urls[-1],
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.expected.issuer": "https://idp",
        "sasl.oauthbearer.token.endpoint.url": urls[0],
        f"{mechanism}sasl.server.callback.handler.class": OAUTH + "OAuthBearerValidatorCallbackHandler",
        f"{mechanism}sasl.login.callback.handler.class": OAUTH + "OAuthBearerLoginCallbackHandler",
        f"{mechanism}sasl.jaas.config": f"{OAUTH_MODULE} required;",
    }
    with running(tmp_path, stock, [OURS, OURS, STOCK], settings, allowed) as found:
        stop_the_leader(found)
        create(found, "after")
        login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
        assert "LeaderId" in quorum(found, client_file(tmp_path, login | bearer(urls[1])))

        reasons = {2: "its audience is not in sasl.oauthbearer.expected.audience", 3: "its signature is wrong"}
        for number, reason in reasons.items():
            ours = next(node for node in found.controllers.values() if node.kind == OURS and node.process is not None)
            refused = stock.tool(
                "metadata-quorum", "--bootstrap-controller", f"127.0.0.1:{ours.port}", "--command-config",
                client_file(tmp_path, login | bearer(urls[number])), "describe", "--status",
            )  # fmt: skip
            assert '{"status":"invalid_token"}' in refused.stdout + refused.stderr
            assert f"the token is refused: {reason}" in said(found)
        assert not [name for name, token in tokens.items() if token.split(".")[2] in said(found)]


JAAS = f"""
KafkaServer {{
  {PLAIN_MODULE} required user_admin="admins-secret" user_controller="plain-secret";
  {SCRAM_MODULE} required username="controller" password="scrams-secret";
}};
"""


def test_scram_between_controllers_by_a_file_and_delegation_tokens(
    tmp_path: Path, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jaas.conf").write_text(JAAS)
    (tmp_path / "credentials").write_text("SCRAM-SHA-512=[name=controller,password=scrams-secret]\n")
    options = f"-Djava.security.auth.login.config={tmp_path}/jaas.conf"
    monkeypatch.setenv("KAFKA_OPTS", options)
    monkeypatch.setenv("TOKEN_SECRET", "tokens-secret")
    settings = {
        "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
        f"{PREFIX}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "kraft.scram.credentials.path": f"{tmp_path}/credentials",
        "delegation.token.secret.key": "${env:TOKEN_SECRET}",
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    with running(tmp_path, stock, [OURS, OURS, OURS], settings, options) as found:
        token_id, secret = new_token(found)
        login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512"}
        jaas = f'{SCRAM_MODULE} required username="{token_id}" password="%s" tokenauth=true;'
        file = client_file(tmp_path, login | {"sasl.jaas.config": jaas % secret})
        eventually(lambda: "LeaderId" in quorum(found, file), "each controller knows the token")
        stop_the_leader(found)
        create(found, "after")
        eventually(lambda: "LeaderId" in quorum(found, file), "the token outlives the leader")
        refused = stock.tool(
            "metadata-quorum", "--bootstrap-controller", found.bootstrap_controller, "--command-config",
            client_file(tmp_path, login | {"sasl.jaas.config": jaas % "wrong"}), "describe", "--status",
        )  # fmt: skip
        assert "SaslAuthenticationException" in refused.stdout + refused.stderr
        found.controllers[active(found)].stop()
        for node in found.controllers.values():
            if node.process is None:
                node.start()
        await_level(found, file)
        secrets = ("admins-secret", "plain-secret", "scrams-secret", "tokens-secret", secret)
        assert not [each for each in secrets if each in said(found)]


def new_token(found: Cluster) -> tuple[str, str]:
    """A delegation token of User:admin: its id, and its HMAC in base64."""
    with socket.create_connection(("127.0.0.1", found.controllers[active(found)].port), timeout=10) as connection:
        ask_on(connection, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        token = PlainClient("admin", "admins-secret").first()
        assert ask_on(connection, SaslAuthenticateRequest(auth_bytes=token), 2).error_code == 0
        request = CreateDelegationTokenRequest(
            owner_principal_type=None, owner_principal_name=None, renewers=(), max_lifetime_ms=-1
        )
        answer = ask_on(connection, request, 3)
        assert (answer.error_code, answer.principal_name) == (0, "admin")
        assert json.dumps(answer.token_id)
        return answer.token_id, b64encode(answer.hmac).decode()
