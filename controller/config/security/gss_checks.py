"""Which settings of GSSAPI (Kerberos) this node serves."""

from __future__ import annotations

from controller.config.security.kerberos_rules import KerberosRules
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.security.listener_values import ListenerValues
    from raft.security.jaas import Module

GSSAPI = "GSSAPI"
SERVICE_NAME = "sasl.kerberos.service.name"
RULES = "sasl.kerberos.principal.to.local.rules"
# The system property with the path of krb5.conf.
CONFIG_PROPERTY = "java.security.krb5.conf"


def is_set(module: Module, option: str) -> bool:
    """Whether an option is `true`."""
    return module.options.get(option, "").lower() == "true"


def keytab_of(module: Module) -> str | None:
    """The path of the keytab; None for the system's."""
    path = module.options.get("keyTab")
    return None if path is None else path.removeprefix("file://").removeprefix("file:")


def check_gss_server(values: ListenerValues, module: Module) -> None:
    """Raises ConfigError."""
    wanted = None
    if not is_set(module, "useKeyTab"):
        wanted = "useKeyTab: set it to true"
    elif not module.options.get("principal"):
        wanted = "principal: set it to that of this node, such as kafka/host@REALM"
    if wanted is not None:
        raise ConfigError(
            f"the login module of GSSAPI for listener {values.name} has no {wanted}; this node accepts clients by a "
            "keytab"
        )
    rules_of(values, "")


def check_gss_client(values: ListenerValues, module: Module) -> None:
    """Raises ConfigError."""
    service_name(values, module)
    if not is_set(module, "useKeyTab") and not is_set(module, "useTicketCache"):
        raise ConfigError(
            f"the login module of GSSAPI for listener {values.name} has neither useKeyTab nor useTicketCache, and this "
            "node asks nobody for a password"
        )


def service_name(values: ListenerValues, module: Module) -> str:
    """The name of the service of the other controllers. Raises ConfigError."""
    of_module = module.options.get("serviceName") or None
    value = values.mechanism_value(GSSAPI, SERVICE_NAME)
    of_config = value if isinstance(value, str) and value else None
    if of_module is not None and of_config is not None and of_module != of_config:
        raise ConfigError(
            f"Conflicting serviceName values found in JAAS and Kafka configs value in JAAS file {of_module}, value in "
            f"Kafka config {of_config}"
        )
    name = of_module or of_config
    if name is None:
        raise ConfigError(f"No serviceName defined in either JAAS or Kafka config: set {SERVICE_NAME}")
    return name


def rules_of(values: ListenerValues, default_realm: str) -> KerberosRules:
    """Raises ConfigError."""
    texts = values.mechanism_value(GSSAPI, RULES)
    return KerberosRules(texts if isinstance(texts, tuple) else (), default_realm)
