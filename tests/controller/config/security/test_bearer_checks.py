"""Which settings of OAUTHBEARER are refused when a node starts."""

from __future__ import annotations

import pytest

from controller.config.node import NodeConfig
from controller.config.security.bearer_checks import SIGNED_HANDLER, SIGNED_LOGIN, UNSECURED_HANDLER
from controller.config.served import check_served
from records.java.config_error import ConfigError
from tests.controller.config.security.test_security_checks import given

PREFIX = "listener.name.controller.oauthbearer."
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
OAUTH = "sasl.oauthbearer."
UNSECURED = {
    "sasl.enabled.mechanisms": "OAUTHBEARER",
    "sasl.mechanism.controller.protocol": "OAUTHBEARER",
    PREFIX + "sasl.jaas.config": f'{MODULE} required unsecuredLoginStringClaim_sub="node";',
}
SERVER = {
    **UNSECURED,
    PREFIX + "sasl.server.callback.handler.class": SIGNED_HANDLER,
    OAUTH + "jwks.endpoint.url": "file:/etc/kraft/jwks.json",
    OAUTH + "expected.audience": "kafka",
    OAUTH + "expected.issuer": "https://idp",
}
WITHOUT_CLAIMS = {key: value for key, value in SERVER.items() if ".expected." not in key}
SIGNED = {
    **SERVER,
    PREFIX + "sasl.login.callback.handler.class": SIGNED_LOGIN,
    OAUTH + "token.endpoint.url": "https://idp/token",
    PREFIX + "sasl.jaas.config": f'{MODULE} required clientId="a" clientSecret="hush";',
}
MODERN = {
    **SIGNED,
    PREFIX + "sasl.jaas.config": f"{MODULE} required;",
    OAUTH + "client.credentials.client.id": "a",
    OAUTH + "client.credentials.client.secret": "hush",
}


def checked(settings: dict[str, str], environment: dict[str, str] | None = None) -> NodeConfig:
    config = NodeConfig(given("SASL_PLAINTEXT", **settings), environment or {})
    check_served(config)
    return config


TOKEN_FILE = {OAUTH + "token.endpoint.url": "file:/token", PREFIX + "sasl.jaas.config": f"{MODULE} required;"}


@pytest.mark.parametrize("settings", [SIGNED, MODERN, SIGNED | TOKEN_FILE])
def test_signed_tokens_are_served(settings):
    assert checked(settings).warnings == []


@pytest.mark.parametrize("handler", [{}, {PREFIX + "sasl.server.callback.handler.class": UNSECURED_HANDLER}])
def test_a_listener_of_unsecured_tokens_warns(handler):
    (warning,) = checked(UNSECURED | handler).warnings

    assert warning.startswith("listener CONTROLLER takes unsecured tokens of SASL/OAUTHBEARER")
    assert SIGNED_HANDLER in warning


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (UNSECURED | {OAUTH + "jwks.endpoint.url": "file:/a"}, "has sasl.oauthbearer.jwks.endpoint.url and does not"),
        (UNSECURED | {PREFIX + "sasl.server.callback.handler.class": "a.B"}, "=a.B names a Java class"),
        (UNSECURED | {PREFIX + "sasl.login.class": "a.B"}, "=a.B names a Java class"),
        (UNSECURED | {PREFIX + "sasl.jaas.config": "a.B required;"}, "must have one login module, org.apache"),
        (
            UNSECURED | {PREFIX + "sasl.jaas.config": f"{MODULE} required unsecuredValidatorAllowableClockSkewMs=x;"},
            "option unsecuredValidatorAllowableClockSkewMs is no number",
        ),
        (SERVER | {OAUTH + "jwks.endpoint.url": " "}, "option sasl.oauthbearer.jwks.endpoint.url value is required"),
        (SERVER | {OAUTH + "jwks.endpoint.url": "ftp://a"}, "contains an invalid protocol"),
        (SERVER | {OAUTH + "jwt.validator.class": "a.B"}, "jwt.validator.class=a.B names a Java class"),
        (
            SERVER | {OAUTH + "jwt.validator.class": "org.apache.kafka.common.security.oauthbearer.ClientJwtValidator"},
            "ClientJwtValidator names a Java class",
        ),
        (SERVER | {OAUTH + "sub.claim.name": ""}, "sasl.oauthbearer.sub.claim.name must not be empty"),
        (SERVER | {PREFIX + OAUTH + "clock.skew.seconds": "-1"}, "clock.skew.seconds value must be at least 0"),
        (SERVER | {PREFIX + OAUTH + "clock.skew.seconds": "x"}, f"configuration {PREFIX}{OAUTH}clock.skew.seconds"),
        (SIGNED | {OAUTH + "token.endpoint.url": ""}, "option sasl.oauthbearer.token.endpoint.url value is required"),
        (SIGNED | {OAUTH + "jwt.retriever.class": "a.B"}, "jwt.retriever.class=a.B names a Java class"),
        (
            SIGNED | {OAUTH + "jwt.retriever.class": "org.apache.kafka.common.security.oauthbearer.FileJwtRetriever"},
            "does not fit sasl.oauthbearer.token.endpoint.url",
        ),
        (SIGNED | {OAUTH + "assertion.file": "/a"}, "sasl.oauthbearer.assertion.file is not served here"),
        (
            MODERN | {OAUTH + "client.credentials.client.secret": ""},
            "without sasl.oauthbearer.client.credentials.client.secret",
        ),
    ],
)  # fmt: skip
def test_what_is_not_served_is_refused_in_one_line(settings, said):
    with pytest.raises(ConfigError) as error:
        checked(settings)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("waived", "needed", "instead"),
    [("issuer", "audience", "audience(s) that identify this"), ("audience", "issuer", "issuer URL of the OAuth/OIDC")],
)
def test_signed_tokens_need_an_expected_audience_and_issuer_unless_that_is_waived(waived, needed, instead):
    settings = WITHOUT_CLAIMS | {f"{PREFIX}{OAUTH}allow.unverified.{waived}": "true"}

    with pytest.raises(ConfigError) as error:
        checked(settings)
    (first, second) = checked(settings | {f"{OAUTH}allow.unverified.{needed}": "true"}).warnings

    text = f'The OAuth validator for the broker requires "sasl.oauthbearer.expected.{needed}" to be configured so that'
    assert str(error.value).startswith(text)
    assert f'Set "sasl.oauthbearer.expected.{needed}" to the {instead}' in str(error.value)
    assert str(error.value).endswith(f"to true to accept tokens regardless of their {needed}.")
    assert 'so it will accept a JWT regardless of its "aud" (audience) claim.' in first
    assert 'so it will accept a JWT bearing any (or no) "iss" (issuer) claim.' in second


def test_a_node_of_4_3_needs_no_expected_audience_and_issuer():
    assert checked(WITHOUT_CLAIMS | {"kraft.release": "4.3"}).warnings == []


def test_the_urls_that_may_be_asked_are_those_of_the_system_property():
    allowed = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://idp/token,file:/etc/kraft/jwks.json"

    assert checked(SIGNED, {"KAFKA_OPTS": allowed}).warnings == []
    with pytest.raises(ConfigError, match="cannot be accessed due to restrictions"):
        checked(SIGNED, {"KAFKA_OPTS": allowed.replace("token", "other")})


def test_a_handler_of_another_mechanism_is_refused():
    settings = {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": (
            'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";'
        ),
        "listener.name.controller.plain.sasl.server.callback.handler.class": "my.LdapHandler",
    }

    with pytest.raises(ConfigError, match=r"plain\.sasl\.server\.callback\.handler\.class names a Java class"):
        checked(settings)
