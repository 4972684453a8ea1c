"""Checks at start that this node serves all security settings of its configuration; a setting that it would ignore is
refused.
"""

from __future__ import annotations

from controller.config.security.bearer_checks import check_bearer_client, check_bearer_server, check_no_handlers
from controller.config.security.gss_checks import check_gss_client, check_gss_server
from controller.config.security.jaas_file import KEY as JAAS_FILE_KEY
from controller.config.security.jaas_file import jaas_file, jaas_sections
from controller.config.security.listener_values import ListenerValues
from raft.security.jaas import Module, parse_jaas
from raft.security.principal_rules import PrincipalRules
from records.java.config_error import ConfigError
from records.java.java_values import parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.values.node_values import NodeValues

TLS_PROTOCOLS = ("SSL", "SASL_SSL")
SASL_PROTOCOLS = ("SASL_PLAINTEXT", "SASL_SSL")
VERSIONS = ("TLSv1.2", "TLSv1.3")
STORES = ("PEM", "JKS", "PKCS12")

PLAIN, GSSAPI, OAUTHBEARER = "PLAIN", "GSSAPI", "OAUTHBEARER"
MODULES = {
    PLAIN: "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    OAUTHBEARER: "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    GSSAPI: "com.sun.security.auth.module.Krb5LoginModule",
}
CONTROLLER_MECHANISM = "sasl.mechanism.controller.protocol"
_CLASSES = ("ssl.engine.factory.class", "ssl.provider", "ssl.secure.random.implementation")
_SASL_CLASSES = (
    "sasl.server.callback.handler.class", "sasl.client.callback.handler.class", "sasl.login.class",
    "sasl.login.callback.handler.class",
)  # fmt: skip


def check_security(config: NodeValues) -> None:
    """Raises ConfigError, with one line that says what to do."""
    for endpoint in config.listeners:
        if endpoint.name not in {name.upper() for name in config.controller_listener_names}:
            continue
        values = ListenerValues(config, endpoint.name)
        if endpoint.protocol in TLS_PROTOCOLS:
            check_tls(values)
        if endpoint.protocol in SASL_PROTOCOLS:
            check_sasl(values)
    first = config.controller_listener_names[0].upper()
    if config.security_protocols.get(first) in SASL_PROTOCOLS:
        client_login(config)


def check_tls(values: ListenerValues, *, is_client: bool = False) -> None:
    """is_client: whether a certificate may be missing. Raises ConfigError."""
    for key in _CLASSES:
        if values.value(key) is not None:
            raise ConfigError(
                f"{values.full_key(key)} names what only Java has, and this node cannot use; remove the key"
            )
    wrong = [version for version in values.list("ssl.enabled.protocols") if version not in VERSIONS]
    if wrong or values.text("ssl.protocol") not in {*VERSIONS, "TLS"}:
        raise ConfigError(
            f"listener {values.name}: of TLS only {', '.join(VERSIONS)} are served; change "
            f"{values.full_key('ssl.enabled.protocols' if wrong else 'ssl.protocol')}"
        )
    if (values.text("ssl.endpoint.identification.algorithm") or "").lower() not in {"", "https"}:
        raise ConfigError(
            f"{values.full_key('ssl.endpoint.identification.algorithm')} must be https or empty: only these are served"
        )
    values.text("ssl.client.auth")
    values.list("ssl.cipher.suites")
    _check_keystore(values, is_client=is_client)
    _check_truststore(values)
    PrincipalRules(values.text("ssl.principal.mapping.rules") or "DEFAULT")


def _check_keystore(values: ListenerValues, *, is_client: bool) -> None:
    kind = store_type(values, "keystore")
    path, password = values.text("ssl.keystore.location"), values.value("ssl.keystore.password")
    key, chain = values.value("ssl.keystore.key"), values.value("ssl.keystore.certificate.chain")
    if key is not None:
        if kind != "PEM":
            raise ConfigError(f"SSL private key can be specified only for PEM, but key store type is {kind}.")
        _require(chain is not None, "SSL private key is specified, but certificate chain is not specified.")
        _require(path is None, "Both SSL key store location and separate private key are specified.")
        _require(
            password is None,
            "SSL key store password cannot be specified with PEM format, only key password may be specified.",
        )
        return
    _require(chain is None, "SSL certificate chain is specified, but private key is not specified")
    if path is None:
        _require(password is None, "SSL key store is not specified, but key store password is specified.")
        if is_client:
            return
        raise ConfigError(
            f"listener {values.name} has TLS and no certificate: set {values.prefix}ssl.keystore.location or "
            "ssl.keystore.location"
        )
    if kind == "PEM":
        _require(
            password is None,
            "SSL key store password cannot be specified with PEM format, only key password may be specified",
        )
    else:
        _require(password is not None, "SSL key store is specified, but key store password is not specified.")


def _check_truststore(values: ListenerValues) -> None:
    kind = store_type(values, "truststore")
    path, password = values.text("ssl.truststore.location"), values.value("ssl.truststore.password")
    if values.value("ssl.truststore.certificates") is not None:
        _require(kind == "PEM", f"SSL trust store certs can be specified only for PEM, but trust store type is {kind}.")
        _require(path is None, "Both SSL trust store location and separate trust certificates are specified.")
        _require(password is None, "SSL trust store password cannot be specified for PEM format.")
    elif kind == "PEM" and path is not None:
        _require(password is None, "SSL trust store password cannot be specified for PEM format.")
    elif path is None:
        _require(password is None, "SSL trust store is not specified, but trust store password is specified.")


def store_type(values: ListenerValues, store: str) -> str:
    """PEM, JKS or PKCS12. Raises ConfigError."""
    kind = (values.text(f"ssl.{store}.type") or "").upper()
    if kind not in STORES:
        raise ConfigError(f"{values.full_key(f'ssl.{store}.type')}={kind}: only {', '.join(STORES)} are served")
    return kind


def check_sasl(values: ListenerValues) -> None:
    """Raises ConfigError."""
    for key in _SASL_CLASSES:
        if values.value(key) is not None:
            raise ConfigError(f"{values.full_key(key)} names a Java class, which this node cannot run; remove the key")
    values.number("sasl.server.max.receive.size")
    values.number("connections.max.reauth.ms")
    mechanisms = values.list("sasl.enabled.mechanisms")
    _require(bool(mechanisms), f"listener {values.name} has SASL and no mechanism: set sasl.enabled.mechanisms")
    for mechanism in mechanisms:
        module = login_module(values, mechanism, "sasl.enabled.mechanisms")
        if mechanism == OAUTHBEARER:
            check_bearer_server(values, module)
        else:
            check_no_handlers(values, mechanism)
        if mechanism == GSSAPI:
            check_gss_server(values, module)
        own = values.of_mechanism(mechanism, "connections.max.reauth.ms")
        if own is not None and parse_integer(own) is None:
            key = values.mechanism_key(mechanism, "connections.max.reauth.ms")
            raise ConfigError(f"Invalid value {own} for configuration {key}: Not a number of type LONG")


def login_module(values: ListenerValues, mechanism: str, key: str) -> Module:
    """The login module of a mechanism. key: the one that names the mechanism. Raises ConfigError."""
    if mechanism not in MODULES:
        raise ConfigError(
            f"listener {values.name}: SASL mechanism {mechanism} is not served here, only {', '.join(MODULES)}; change "
            f"{values.full_key(key)}"
        )
    jaas_key = values.mechanism_key(mechanism, "sasl.jaas.config")
    text = values.of_mechanism(mechanism, "sasl.jaas.config")
    if text is None:
        return _module_of_file(values, mechanism, jaas_key)
    modules = parse_jaas(text, jaas_key)
    if len(modules) != 1 or modules[0].name != MODULES[mechanism]:
        raise ConfigError(f"{jaas_key} must have one login module, {MODULES[mechanism]}")
    return modules[0]


def _module_of_file(values: ListenerValues, mechanism: str, jaas_key: str) -> Module:
    """The login module in the JAAS file: of the listener's own section, or of that for all. Raises ConfigError."""
    path = jaas_file(values.config)
    if path is None:
        raise ConfigError(
            f"listener {values.name} has SASL mechanism {mechanism} without credentials: set {jaas_key}, or "
            f"{JAAS_FILE_KEY} to the path of a JAAS file"
        )
    sections = jaas_sections(path, values.config.system_properties)
    names = (f"{values.name.lower()}.KafkaServer", "KafkaServer")
    name = next((name for name in names if name in sections), None)
    if name is None:
        raise ConfigError(
            f"listener {values.name} has SASL mechanism {mechanism} without credentials: set {jaas_key}; the JAAS file "
            f"{path} has no section {' or '.join(names)} either"
        )
    options: dict[str, str] = {}
    modules = [module for module in sections[name] if module.name == MODULES[mechanism]]
    if not modules:
        raise ConfigError(
            f"section {name} of the JAAS file {path} has no login module {MODULES[mechanism]}, which SASL mechanism "
            f"{mechanism} of listener {values.name} needs"
        )
    for module in reversed(modules):  # of an option that stands in several, the first counts
        options.update(module.options)
    return Module(MODULES[mechanism], options)


def client_login(config: NodeValues) -> tuple[str, Module]:
    """Mechanism and login of this node's own connections to the controllers. Raises ConfigError."""
    values = ListenerValues(config, config.controller_listener_names[0])
    mechanism = config.text(CONTROLLER_MECHANISM) or ""
    if mechanism not in MODULES:
        raise ConfigError(
            f"{CONTROLLER_MECHANISM}={mechanism}: only {', '.join(MODULES)} are served here between controllers"
        )
    module = login_module(values, mechanism, CONTROLLER_MECHANISM)
    if mechanism == OAUTHBEARER:
        check_bearer_client(values, module)
        return mechanism, module
    if mechanism == GSSAPI:
        check_gss_client(values, module)
        return mechanism, module
    for option in ("username", "password"):
        if option not in module.options:
            raise ConfigError(
                f"the login module of {mechanism} for listener {values.name} ({values.prefix}{mechanism.lower()}."
                f"sasl.jaas.config) has no {option}, which this node needs for its connections to the other controllers"
            )
    return mechanism, module


def _require(condition: bool, text: str) -> None:
    if not condition:
        raise ConfigError(text)
