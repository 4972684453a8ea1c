"""The configuration of the authorizer: its class, super users, and its decision where there is no ACL."""

from __future__ import annotations

from controller.config.plugins import plugin_of
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.values.node_values import NodeValues

KEY = "authorizer.class.name"
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def authorizer_name(config: NodeValues) -> str | None:
    """STANDARD, or the name of one of the operator's own; None where everything is allowed. Raises ConfigError."""
    name = (config.text(KEY) or "").strip()
    if not name:
        return None
    if name != STANDARD and plugin_of(KEY, name) is None:
        raise ConfigError(
            f"{KEY}={name} cannot be run here; this node runs {STANDARD}, or python:module:attribute, one of your own"
        )
    return name


def super_users(config: NodeValues) -> frozenset[str]:
    """`super.users`: principals as `Type:Name`, which `;` separates. Raises ConfigError."""
    users = set()
    for part in config.originals.get("super.users", "").split(";"):
        user = part.strip()
        if not user:
            continue
        if ":" not in user:
            raise ConfigError(f"super.users: expected a string in format principalType:principalName but got {user}")
        users.add(user)
    return frozenset(users)


def allows_without_acls(config: NodeValues) -> bool:
    """`allow.everyone.if.no.acl.found`: any value but `true` is false, as in stock."""
    return config.originals.get("allow.everyone.if.no.acl.found", "").strip().lower() == "true"


def early_start_listeners(config: NodeValues) -> frozenset[str] | None:
    """The listeners that serve requests before the ACLs are loaded; None for all, the default on a controller."""
    if config.values["early.start.listeners"] is None:
        return None
    return frozenset(config.list("early.start.listeners"))
