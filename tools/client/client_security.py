"""The security of a tool's connections: from a client's properties (`tools.client.client_config`), or a node's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from controller.config.keys import server
from controller.config.security.bearer_checks import check_bearer_client
from controller.config.security.gss_checks import check_gss_client
from controller.config.security.jaas_file import PROPERTY, jaas_sections
from controller.config.security.listener_values import ListenerValues
from controller.config.security.security_checks import (
    GSSAPI,
    MODULES,
    OAUTHBEARER,
    SASL_PROTOCOLS,
    TLS_PROTOCOLS,
    check_tls,
    client_login,
)
from controller.config.system_properties import system_properties
from controller.config.values.definition import Definition
from controller.security.listeners import client_exchange
from raft.network.security import ClientSecurity
from raft.security import config_providers
from raft.security.jaas import parse_jaas
from records.java.config_error import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.node import NodeConfig
    from controller.config.values.definition import Value
    from raft.security.jaas import Module

PROTOCOL, MECHANISM, JAAS = "security.protocol", "sasl.mechanism", "sasl.jaas.config"
PROTOCOLS = ("PLAINTEXT", *TLS_PROTOCOLS, "SASL_PLAINTEXT")
# Those that a client has too have the same defaults there.
KEYS = Definition(*(key for key in server.KEYS if key.name.startswith(("ssl.", "sasl."))))
# The section of a JAAS file for clients.
SECTION = "KafkaClient"


class ClientProperties:
    """The properties of a client, in the form in which `ListenerValues` reads those of a node.

    originals: key -> text, with what config providers have; values: of the keys that a node has too.
    """

    def __init__(self, given: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Raises ConfigError, which shows no secret. Other keys are ignored, as in stock."""
        self.warnings: list[str] = []
        self.system_properties = system_properties(environment)
        allowed = self.system_properties.get(config_providers.ALLOWED_CLASSES)
        resolved = given
        if given.get(config_providers.KEY):
            resolved = config_providers.resolve(given, environment, allowed, self.warnings)
        self.originals = {key: text for key, text in resolved.items() if not key.startswith("listener.name.")}
        self.values: dict[str, Value] = KEYS.parse(self.originals, self.warnings)

    def protocol(self) -> str:
        """The security protocol. Raises ConfigError."""
        given = self.originals.get(PROTOCOL, "PLAINTEXT").strip()
        if given.upper() not in PROTOCOLS:
            raise ConfigError(f"{PROTOCOL}={given}: only {', '.join(PROTOCOLS)} are known")
        return given.upper()

    def login(self, values: ListenerValues) -> tuple[str, Module]:
        """Mechanism and login module. Raises ConfigError."""
        mechanism = self.originals.get(MECHANISM, GSSAPI).strip()
        if mechanism not in MODULES:
            raise ConfigError(f"{MECHANISM}={mechanism}: only {', '.join(MODULES)} are served here")
        modules, where = self._modules()
        if len(modules) != 1 or modules[0].name != MODULES[mechanism]:
            raise ConfigError(f"{where} must have one login module, {MODULES[mechanism]}, for {MECHANISM}={mechanism}")
        module = modules[0]
        if mechanism == OAUTHBEARER:
            check_bearer_client(values, module)
        elif mechanism == GSSAPI:
            check_gss_client(values, module)
        else:
            for option in ("username", "password"):
                if option not in module.options:
                    raise ConfigError(f"the login module of {mechanism} in {where} has no {option}")
        return mechanism, module

    def _modules(self) -> tuple[list[Module], str]:
        text = self.originals.get(JAAS)
        if text is not None:
            return parse_jaas(text, JAAS), JAAS
        path = self.system_properties.get(PROPERTY, "").removeprefix("=").removeprefix("file://").removeprefix("file:")
        if not path:
            raise ConfigError(f"{MECHANISM} needs credentials: set {JAAS}, or -D{PROPERTY} in KAFKA_OPTS")
        return jaas_sections(path, self.system_properties).get(SECTION, []), f"section {SECTION} of {path}"


def client_security(properties: ClientProperties) -> ClientSecurity | None:
    """From a client's properties; None for PLAINTEXT. Raises ConfigError."""
    # A node's configuration has more than what is used here.
    values = ListenerValues(properties, "client")  # type: ignore[arg-type]
    protocol = properties.protocol()
    login = properties.login(values) if protocol in SASL_PROTOCOLS else None
    return _security(values, protocol, login)


def client_of_node(config: NodeConfig) -> ClientSecurity | None:
    """From the configuration of a node: that of its own connections to the controllers; None for PLAINTEXT. Raises
    ConfigError.
    """
    name = config.controller_listener_names[0].upper()
    protocol = config.security_protocols[name]
    login = client_login(config) if protocol in SASL_PROTOCOLS else None
    return _security(ListenerValues(config, name), protocol, login)


def _security(values: ListenerValues, protocol: str, login: tuple[str, Module] | None) -> ClientSecurity | None:
    """Raises ConfigError."""
    if protocol == "PLAINTEXT":
        return None
    context = check = None
    try:
        if protocol in TLS_PROTOCOLS:
            from controller.security.contexts import Contexts

            check_tls(values, is_client=True)
            contexts = Contexts(values, time.monotonic, _ignore, is_client=True)
            context, check = contexts.client, contexts.check_session
        exchange = None
        if login is not None:
            exchange = login[0], client_exchange(values, *login, _surroundings)
        return ClientSecurity(context, check, exchange)
    except ValueError as error:  # FileError, MissingLibrary and such, with one line
        raise ConfigError(str(error)) from None


def _surroundings() -> Any:
    from controller.security.bearer import Surroundings

    return Surroundings(time.monotonic, lambda: int(time.time() * 1000), _ignore, [])


def _ignore(_name: str, _fields: dict[str, Any]) -> None:
    """Events for the log of a node."""
