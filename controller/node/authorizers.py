"""The authorizer that a configuration names: stock's, or a class of the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.authorizer import (
    KEY,
    STANDARD,
    allows_without_acls,
    authorizer_name,
    early_start_listeners,
    super_users,
)
from controller.config.plugins import plugin_of
from controller.interface.access import Access, Decision
from controller.node.plugins import LastError, load_plugin
from controller.rules.authorizer import StandardAuthorizer
from records.errors import ApiError, Error
from records.features.record_versions import CIDR_ACLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.config.node import NodeConfig
    from controller.interface.access import Action, Authorizer
    from controller.state.tables.acl_index import AclIndex


def access_of(config: NodeConfig, log: Callable[..., None] | None = None) -> Access | None:
    """None where no authorizer is configured. log: has the errors of the operator's code. Raises ConfigError."""
    name = authorizer_name(config)
    if name is None:
        return None
    authorizer: Authorizer
    if name == STANDARD:
        authorizer = StandardAuthorizer(
            super_users(config),
            allows_without_acls=allows_without_acls(config),
            takes_cidr=config.release.knows(CIDR_ACLS),
        )
    else:
        plugin = plugin_of(KEY, name)
        assert plugin is not None
        authorizer = OwnAuthorizer(name, load_plugin(plugin, config, "decide(action, acls)"), log)
    return Access(authorizer, early_start_listeners(config))


class OwnAuthorizer:
    """An authorizer of the operator. If its code fails, the request is refused, and the node goes on."""

    def __init__(self, name: str, own: Any, log: Callable[..., None] | None) -> None:
        self.name = name
        self._own = own
        self._log = log
        self._last = LastError()

    def decide(self, action: Action, acls: AclIndex | None) -> Decision:
        """Raises ApiError(UNKNOWN_SERVER_ERROR) where the operator's code fails, or returns no decision."""
        try:
            allowed, rule = self._own.decide(action, acls)
        except Exception as error:  # the operator's code may raise anything; the request is then refused
            if self._log is not None and (text := self._last.text_if_new(error)) is not None:
                self._log("authorizer_failed", authorizer=self.name, error=text)
            raise ApiError(Error.UNKNOWN_SERVER_ERROR, f"{self.name} failed: {type(error).__name__}") from error
        return Decision(allowed is True, str(rule))

    def denies_all(self, _action: Action, _acls: AclIndex | None) -> bool:
        """The operator's code decides on each name."""
        return False
