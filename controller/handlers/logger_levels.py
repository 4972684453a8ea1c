"""Levels of this node's loggers, by the resource type BROKER_LOGGER (KIP-412)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface.effects import SetLogLevel
from controller.interface.loggers import LEVELS, ROOT
from records.errors import ApiError, Error
from records.java.java_values import parse_integer
from records.resource_types import ConfigOperation

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.loggers import Loggers


def level_changes(env: Env, resource: Any) -> list[SetLogLevel]:
    """The changes in one resource of an IncrementalAlterConfigs request, all or none. Raises ApiError."""
    check_own_node(env, resource.resource_name)
    # Of a logger that is named twice, the last level counts; all of them have to be valid.
    return [_change(env.loggers, config) for config in resource.configs]


def check_own_node(env: Env, name: str) -> None:
    """Raises ApiError(INVALID_REQUEST) unless the name is the id of this node."""
    node_id = parse_integer(name)
    if node_id is None:
        raise ApiError(Error.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if node_id != env.node_id:
        raise ApiError(Error.INVALID_REQUEST, f"Unexpected node id. Expected {env.node_id}, but received {node_id}")


def _change(loggers: Loggers | None, config: Any) -> SetLogLevel:
    name, operation = config.name, config.config_operation
    if operation in {ConfigOperation.APPEND, ConfigOperation.SUBTRACT}:
        text = f"{ConfigOperation(operation).name} operation is not allowed for the BROKER_LOGGER resource"
        raise ApiError(Error.INVALID_REQUEST, text)
    if operation not in {ConfigOperation.SET, ConfigOperation.DELETE}:
        text = f"Unknown operation type {operation} is not allowed for the BROKER_LOGGER resource"
        raise ApiError(Error.INVALID_REQUEST, text)
    if loggers is None or name not in loggers:
        raise ApiError(Error.INVALID_CONFIG, f"Logger {name} does not exist!")
    if operation == ConfigOperation.DELETE:
        if name == ROOT:
            raise ApiError(Error.INVALID_REQUEST, "Removing the log level of the root logger is not allowed")
        return SetLogLevel(name, None)
    if config.value is None:
        raise ApiError(Error.UNKNOWN_SERVER_ERROR)  # stock does not expect it
    if config.value not in LEVELS:
        raise ApiError(
            Error.INVALID_CONFIG,
            f"Cannot set the log level of {name} to {config.value} as it is not a supported log level. "
            f"Valid log levels are {', '.join(sorted(LEVELS))}",
        )
    return SetLogLevel(name, config.value)
