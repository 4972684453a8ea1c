"""Which settings of OAUTHBEARER are served: signed tokens, and for development unsecured ones (KIP-255, KIP-768)."""

from __future__ import annotations

from records.hidden_text import hide_url_secrets
from records.java.config_error import ConfigError
from records.java.java_values import parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.security.listener_values import ListenerValues
    from raft.security.jaas import Module

OAUTHBEARER = "OAUTHBEARER"
JWKS_URL, TOKEN_URL = "sasl.oauthbearer.jwks.endpoint.url", "sasl.oauthbearer.token.endpoint.url"
CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105 - the name of a key
SCOPE = "sasl.oauthbearer.scope"
AUDIENCE, ANY_AUDIENCE = "sasl.oauthbearer.expected.audience", "sasl.oauthbearer.allow.unverified.audience"
ISSUER, ANY_ISSUER = "sasl.oauthbearer.expected.issuer", "sasl.oauthbearer.allow.unverified.issuer"
SERVER_HANDLER, LOGIN_HANDLER = "sasl.server.callback.handler.class", "sasl.login.callback.handler.class"
# The system property with the URLs that may be asked; where it is not set, those of the configuration may.
ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"

_PACKAGE = "org.apache.kafka.common.security.oauthbearer."
SIGNED_HANDLER = _PACKAGE + "OAuthBearerValidatorCallbackHandler"
UNSECURED_HANDLER = _PACKAGE + "internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
SIGNED_LOGIN = _PACKAGE + "OAuthBearerLoginCallbackHandler"
UNSECURED_LOGIN = _PACKAGE + "internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
_VALIDATORS = (_PACKAGE + "DefaultJwtValidator", _PACKAGE + "BrokerJwtValidator")
_FILE_RETRIEVER = _PACKAGE + "FileJwtRetriever"
_HTTP_RETRIEVER = _PACKAGE + "ClientCredentialsJwtRetriever"
_RETRIEVERS = (_PACKAGE + "DefaultJwtRetriever", _FILE_RETRIEVER, _HTTP_RETRIEVER)
_AUDIENCE_NEEDED = (
    f'The OAuth validator for the broker requires "{AUDIENCE}" to be configured so that the token\'s audience ("aud")'
    f' claim can be verified, but it was not set. Set "{AUDIENCE}" to the audience(s) that identify this cluster, or'
    f' set "{ANY_AUDIENCE}" to true to accept tokens regardless of their audience.'
)
_ANY_AUDIENCE_TAKEN = (
    f'The OAuth broker validator is configured with a JWKS endpoint but without "{AUDIENCE}", and "{ANY_AUDIENCE}" is'
    ' set to true, so it will accept a JWT regardless of its "aud" (audience) claim.'
)
_ISSUER_NEEDED = (
    f'The OAuth validator for the broker requires "{ISSUER}" to be configured so that the token\'s issuer ("iss") claim'
    f' can be verified, but it was not set. Set "{ISSUER}" to the issuer URL of the OAuth/OIDC provider that signs the'
    f' tokens, or set "{ANY_ISSUER}" to true to accept tokens regardless of their issuer.'
)
_ANY_ISSUER_TAKEN = (
    f'The OAuth broker validator is configured with a JWKS endpoint but without "{ISSUER}", and "{ANY_ISSUER}" is set'
    ' to true, so it will accept a JWT bearing any (or no) "iss" (issuer) claim.'
)
_ASSERTIONS = ("sasl.oauthbearer.assertion.file", "sasl.oauthbearer.assertion.claim.iss")


def check_no_handlers(values: ListenerValues, mechanism: str) -> None:
    """Raises ConfigError for a Java class that authenticates clients: clients that it refuses must not pass."""
    for key in (SERVER_HANDLER, LOGIN_HANDLER, "sasl.login.class"):
        if values.of_mechanism(mechanism, key) is not None:
            raise ConfigError(
                f"{values.mechanism_key(mechanism, key)} names a Java class, which this node cannot run; remove the key"
            )


def is_signed(values: ListenerValues) -> bool:
    """Whether the listener takes signed tokens."""
    return values.of_mechanism(OAUTHBEARER, SERVER_HANDLER) == SIGNED_HANDLER


def is_signed_login(values: ListenerValues) -> bool:
    """Whether this node authenticates with a token that it is given."""
    return values.of_mechanism(OAUTHBEARER, LOGIN_HANDLER) == SIGNED_LOGIN


def text_of(values: ListenerValues, key: str) -> str | None:
    """The text of a key, without blanks around it; None where it is not set. Raises ConfigError."""
    value = values.mechanism_value(OAUTHBEARER, key)
    return value.strip() or None if isinstance(value, str) else None


def integer_of(values: ListenerValues, key: str) -> int | None:
    """Raises ConfigError."""
    value = values.mechanism_value(OAUTHBEARER, key)
    return value if type(value) is int else None


def check_bearer_server(values: ListenerValues, module: Module) -> None:
    """Raises ConfigError."""
    _check_class(values, SERVER_HANDLER, (SIGNED_HANDLER, UNSECURED_HANDLER))
    _check_class(values, LOGIN_HANDLER, (SIGNED_LOGIN, UNSECURED_LOGIN))
    _check_class(values, "sasl.login.class", ())
    handler = values.mechanism_key(OAUTHBEARER, SERVER_HANDLER)
    if not is_signed(values):
        if text_of(values, JWKS_URL) is not None:
            raise ConfigError(
                f"listener {values.name} has {JWKS_URL} and does not use it: set {handler} to {SIGNED_HANDLER}"
            )
        skew = module.options.get("unsecuredValidatorAllowableClockSkewMs", "").strip()
        if skew and not 0 <= (-1 if parse_integer(skew) is None else int(skew)) < 1 << 31:
            raise ConfigError(
                f"listener {values.name}: option unsecuredValidatorAllowableClockSkewMs is no number of ms from 0 on"
            )
        values.config.warnings.append(
            f"listener {values.name} takes unsecured tokens of SASL/OAUTHBEARER, with which anyone may be anybody; set "
            f"{handler} to {SIGNED_HANDLER}"
        )
        return
    url_of(values, JWKS_URL)
    _check_named(values, "sasl.oauthbearer.jwt.validator.class", _VALIDATORS)
    for key in ("sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name"):
        if text_of(values, key) is None:
            raise ConfigError(f"{key} must not be empty")
    for key in ("sasl.oauthbearer.clock.skew.seconds", "sasl.oauthbearer.jwks.endpoint.refresh.ms",
                "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
                "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"):  # fmt: skip
        if (integer_of(values, key) or 0) < 0:
            raise ConfigError(f"The OAuth configuration option {key} value must be at least 0")
    if values.config.release.verifies_bearers:
        _check_verified(values, AUDIENCE, ANY_AUDIENCE, _AUDIENCE_NEEDED, _ANY_AUDIENCE_TAKEN)
        _check_verified(values, ISSUER, ANY_ISSUER, _ISSUER_NEEDED, _ANY_ISSUER_TAKEN)


def _check_verified(values: ListenerValues, key: str, waiver: str, needed: str, taken: str) -> None:
    """A claim of tokens is compared with a value, unless another key waives that: then the node warns (4.4).

    key: of the value; waiver: the other key; needed, taken: the error and the warning. Raises ConfigError.
    """
    value = values.mechanism_value(OAUTHBEARER, key)
    if value if isinstance(value, tuple) else text_of(values, key):
        return
    if values.mechanism_value(OAUTHBEARER, waiver) is not True:
        raise ConfigError(needed)
    values.config.warnings.append(f"listener {values.name}: {taken}")


def takes_any_audience(values: ListenerValues) -> bool:
    """Whether the audience of tokens is not verified at all: then a node of 4.4 takes those that have one too."""
    return values.config.release.verifies_bearers and not values.mechanism_value(OAUTHBEARER, AUDIENCE)


def check_bearer_client(values: ListenerValues, module: Module) -> None:
    """Raises ConfigError."""
    if not is_signed_login(values):
        return
    url = url_of(values, TOKEN_URL)
    _check_named(values, "sasl.oauthbearer.jwt.retriever.class", _RETRIEVERS)
    retriever = text_of(values, "sasl.oauthbearer.jwt.retriever.class")
    if (retriever == _FILE_RETRIEVER and not is_file(url)) or (retriever == _HTTP_RETRIEVER and is_file(url)):
        raise ConfigError(
            f"sasl.oauthbearer.jwt.retriever.class={retriever} does not fit {TOKEN_URL}={hide_url_secrets(url)}"
        )
    if is_file(url):
        return
    for key in _ASSERTIONS:
        if text_of(values, key) is not None:
            raise ConfigError(f"{key} is not served here: use {CLIENT_ID} and {CLIENT_SECRET}, or a token in a file")
    for key, option in ((CLIENT_ID, "clientId"), (CLIENT_SECRET, "clientSecret")):
        if text_of(values, key) is None and not module.options.get(option, "").strip():
            raise ConfigError(f"listener {values.name} has {TOKEN_URL} without {key}, which it needs")


def is_file(url: str) -> bool:
    return url.lower().startswith("file:")


def url_of(values: ListenerValues, key: str) -> str:
    """The checked URL of a key. Raises ConfigError."""
    url = text_of(values, key)
    if url is None:
        raise ConfigError(f"The OAuth configuration option {key} value is required; listener {values.name} needs it")
    if not url.lower().startswith(("http://", "https://", "file:")):
        raise ConfigError(
            f"The OAuth configuration option {key} contains a URL ({hide_url_secrets(url)}) that contains an "
            'invalid protocol; only "http", "https", and "file" protocol are supported'
        )
    allowed = values.config.system_properties.get(ALLOWED_URLS)
    if allowed is not None and url not in {each.strip() for each in allowed.split(",")}:
        raise ConfigError(
            f"Invalid value {hide_url_secrets(url)} for configuration {key}: The URL cannot be accessed due to "
            f"restrictions. Update the system property '{ALLOWED_URLS}' to allow the URL to be accessed."
        )
    return url


def _check_class(values: ListenerValues, key: str, served: tuple[str, ...]) -> None:
    given = values.of_mechanism(OAUTHBEARER, key)
    if given is not None and given not in served:
        text = f"; it has {', '.join(served)}" if served else "; remove the key"
        raise ConfigError(
            f"{values.mechanism_key(OAUTHBEARER, key)}={given} names a Java class, which this node cannot run{text}"
        )


def _check_named(values: ListenerValues, key: str, served: tuple[str, ...]) -> None:
    given = text_of(values, key)
    if given not in served:
        raise ConfigError(f"{key}={given} names a Java class, which this node cannot run; it has {', '.join(served)}")
