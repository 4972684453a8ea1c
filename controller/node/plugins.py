"""An operator's own classes, loaded when the node starts: policies; the authorizer is in `controller.node.authorizers`.

They run within the node, on its event loop: one that waits makes the whole node wait.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from controller.config.plugins import ALTER_CONFIG_POLICY, CREATE_TOPIC_POLICY, policy
from controller.interface.policies import Policies, PolicyViolation
from records.errors import ApiError, Error
from records.java.config_error import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.config.node import NodeConfig
    from controller.config.plugins import Plugin

# Characters of an error message: its answer has to hold it.
MESSAGE_LENGTH_MAX = 4096


def policies_of(config: NodeConfig, log: Callable[..., None]) -> Policies:
    """The policies that a configuration names. log: takes what happens to them. Raises ConfigError."""
    made = []
    for key in (CREATE_TOPIC_POLICY, ALTER_CONFIG_POLICY):
        plugin = policy(config, key)
        made.append(
            None if plugin is None else OwnPolicy(plugin, load_plugin(plugin, config, "validate(request)"), log)
        )
    return Policies(*made)


def load_plugin(plugin: Plugin, config: NodeConfig, function: str) -> Any:
    """What the operator's code makes of the configuration; it must have the function. Raises ConfigError."""
    try:
        made = getattr(import_module(plugin.module), plugin.attribute)(config.originals)
    except Exception as error:  # whatever the operator's code raises, the node does not start
        text = " ".join(str(error).split())
        raise ConfigError(f"{plugin} cannot be loaded: {type(error).__name__}: {text}") from error
    if not callable(getattr(made, function.partition("(")[0], None)):
        raise ConfigError(f"{plugin} cannot be used: what it made has no function {function}")
    return made


class LastError:
    """Of an operator's class. Clients repeat their requests, so an error is logged again only after another one."""

    def __init__(self) -> None:
        self._text = ""

    def text_if_new(self, error: Exception) -> str | None:
        """The text to log, None if the last error had the same."""
        text = f"{type(error).__name__}: {error}"
        is_same, self._text = text == self._text, text
        return None if is_same else text


class OwnPolicy:
    """A policy of the operator's own. A failure of its code refuses the request and does not stop the node."""

    def __init__(self, plugin: Plugin, own: Any, log: Callable[..., None]) -> None:
        self._plugin = plugin
        self._own = own
        self._log = log
        self._last = LastError()

    def __call__(self, request: Any) -> None:
        """Raises ApiError: POLICY_VIOLATION with the policy's text, or UNKNOWN_SERVER_ERROR where its code fails."""
        try:
            self._own.validate(request)
        except PolicyViolation as refused:
            if not refused.args:
                raise ApiError(Error.POLICY_VIOLATION) from None
            raise ApiError(Error.POLICY_VIOLATION, str(refused)[:MESSAGE_LENGTH_MAX]) from None
        except ApiError:
            raise
        except Exception as error:  # the operator's code may raise anything; the request is refused then
            if (text := self._last.text_if_new(error)) is not None:
                self._log("policy_failed", policy=str(self._plugin), error=text)
            raise ApiError(Error.UNKNOWN_SERVER_ERROR) from error
