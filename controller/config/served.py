"""Checks that this node can serve a valid configuration: it is a controller only, and does not implement some of
stock's keys.
"""

from __future__ import annotations

from controller.config.authorizer import authorizer_name, super_users
from controller.config.edges import check_edges
from controller.config.node import NodeConfig
from controller.config.plugins import (
    ALTER_CONFIG_POLICY,
    CREATE_TOPIC_POLICY,
    QUOTA_CALLBACK,
    has_static_quotas,
    policy,
)
from controller.config.security.security_checks import check_security
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PRINCIPAL_BUILDER = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"


def served_config(given: Mapping[str, str]) -> NodeConfig:
    """The configuration of one of our nodes. Raises ConfigError.

    The roles are checked first: a node with the broker role is refused for that, not for an error in its broker keys.
    """
    roles = [role.strip() for role in given.get("process.roles", "").split(",")]
    if "broker" in roles:
        _check_roles(roles)
    config = NodeConfig(given)
    check_served(config)
    return config


def check_served(config: NodeConfig) -> None:
    """Raises ConfigError, with one line that says what to do, for a setting that this node would have to ignore."""
    _check_roles(config.process_roles)
    check_security(config)
    authorizer_name(config)
    super_users(config)
    for key in (CREATE_TOPIC_POLICY, ALTER_CONFIG_POLICY):
        policy(config, key)
    # Without it this node would accept requests that stock refuses.
    callback = config.text(QUOTA_CALLBACK)
    if callback is not None and not has_static_quotas(config):
        raise ConfigError(f"{QUOTA_CALLBACK}={callback} names a Java class, which this node cannot run; remove the key")
    if config.text("principal.builder.class") != PRINCIPAL_BUILDER:
        raise ConfigError(
            f"principal.builder.class={config.text('principal.builder.class')} names a Java class, which this node "
            f"cannot run; only {PRINCIPAL_BUILDER} is served"
        )
    check_edges(config)


def _check_roles(roles: Iterable[str]) -> None:
    if set(roles) != {"controller"}:
        raise ConfigError(
            f"process.roles={','.join(roles)}: this node is a KRaft controller and nothing else; set "
            "process.roles=controller here, and run brokers with Apache Kafka"
        )
