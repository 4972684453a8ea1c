"""Resources that have a configuration: their types, valid names and valid configs (KIP-133)."""

from __future__ import annotations

from controller.config.client_metrics import INVALID_REQUEST, check_subscription
from controller.config.group_checks import ASSIGNOR, TAGS, check_group, check_tags, first_assignor
from controller.config.keys import client_metrics, group, server, topic
from controller.config.topic_values import INVALID_CONFIGURATION, check_topic, topic_defaults
from controller.config.values.definition import Required
from records.errors import ApiError, Error
from records.features.levels import CURRENT, Release
from records.java.config_error import ConfigError
from records.java.java_order import hash_order
from records.java.java_values import parse_integer
from records.resource_types import ResourceType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.values.definition import Definition, Value

INVALID_TOPIC_CHARACTERS = "'{}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
TOPIC_NAME_LENGTH_MAX = 249
_TOPIC_CHARACTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-")


DEFINITIONS: dict[ResourceType, Definition] = {
    ResourceType.BROKER: server.KEYS,
    ResourceType.TOPIC: topic.KEYS,
    ResourceType.GROUP: group.KEYS,
    ResourceType.CLIENT_METRICS: client_metrics.KEYS,
}

_TYPES = {int(kind): kind for kind in ResourceType}

# The values of a node whose file sets none of these keys.
STOCK_VALUES: dict[str, Value] = {key.name: key.default for key in server.KEYS if not isinstance(key.default, Required)}

_ERRORS = {INVALID_REQUEST: Error.INVALID_REQUEST, INVALID_CONFIGURATION: Error.INVALID_CONFIG}


def resource_type(code: int) -> ResourceType:
    """The type of this code; UNKNOWN if there is none."""
    return _TYPES.get(code, ResourceType.UNKNOWN)


def knows_config(code: int, key: str, release: Release = CURRENT) -> bool:
    """Whether resources of this type have this key; replay ignores unknown keys (4.3)."""
    kind = resource_type(code)
    # A key of a node may belong to a listener or a plug-in, with any name.
    return kind is ResourceType.BROKER or (kind in DEFINITIONS and key in DEFINITIONS[kind].of(release.name))


def check_topic_name(name: str) -> None:
    """Raises ApiError(INVALID_TOPIC_EXCEPTION), with stock's text, for an invalid topic name."""
    if not name:
        reason = "the empty string is not allowed"
    elif name in {".", ".."}:
        reason = f"'{name}' is not allowed"
    elif len(name) > TOPIC_NAME_LENGTH_MAX:
        reason = f"the length of '{name}' is longer than the max allowed length {TOPIC_NAME_LENGTH_MAX}"
    elif not set(name) <= _TOPIC_CHARACTERS:
        reason = INVALID_TOPIC_CHARACTERS.format(name)
    else:
        return
    raise ApiError(Error.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def check_broker_name(name: str) -> None:
    """Raises ApiError(INVALID_REQUEST) unless the name is a node id, or empty, which means all brokers."""
    if not name:
        return
    node_id = parse_integer(name)
    if node_id is None or not -(1 << 31) <= node_id < 1 << 31:
        raise ApiError(Error.INVALID_REQUEST, "Unable to parse broker name as a base 10 number.")
    if node_id < 0:
        raise ApiError(Error.INVALID_REQUEST, "Invalid negative broker ID.")


def check_resource(
    kind: ResourceType,
    name: str,
    given: Mapping[str, str],
    existing: Mapping[str, str],
    node: Mapping[str, Value],
    release: Release = CURRENT,
) -> None:
    """Check the whole configuration that a resource would have after a change.

    existing: the configuration before it; node: all parsed values of this node, for bounds and defaults. Values of
    BROKER resources are not checked: the broker that forwards them has checked them. Raises ApiError.
    """
    try:
        match kind:
            case ResourceType.TOPIC:
                if not name:
                    raise ApiError(Error.INVALID_REQUEST, "Default topic resources are not allowed.")
                check_topic_name(name)
                remote_storage = node["remote.log.storage.system.enable"] is True
                check_topic(given, existing, topic_defaults(node), remote_storage, topic.KEYS.of(release.name))
            case ResourceType.BROKER:
                check_broker_name(name)
            case ResourceType.CLIENT_METRICS:
                if not name:
                    raise ApiError(Error.INVALID_REQUEST, "Subscription name can't be empty")
                check_subscription(given)
            case ResourceType.GROUP:
                if not name:
                    raise ApiError(Error.INVALID_REQUEST, "Default group resources are not allowed.")
                _check_group(given, node, release)
            case _:
                raise ApiError(Error.INVALID_REQUEST, f"Unknown resource type {kind.name}")
    except ConfigError as error:
        raise ApiError(_ERRORS.get(error.exception, Error.INVALID_CONFIG), error.text) from error


def _check_group(given: Mapping[str, str], node: Mapping[str, Value], release: Release) -> None:
    keys = group.KEYS.of(release.name)
    if any(name not in keys for name in given):
        # Before 4.4 the node's keys stand in the same hash table, whose size decides the order.
        for name in hash_order({**group_defaults(node, keys), **given} if release.names_bounds else given):
            if name not in keys:
                raise ConfigError(f"Unknown group config name: {name}")
    check_tags(TAGS, given.get(TAGS))
    # A node's own values are valid for a group too: their bounds are as narrow or narrower.
    whole = {**{key.name: key.initial for key in keys}, **group_defaults(node, keys)}
    for key in keys:
        if key.name in given:
            whole[key.name] = key.parse(given[key.name])
    check_group(whole, given, node, names_bounds=release.names_bounds)


def group_defaults(node: Mapping[str, Value], keys: Definition = group.KEYS) -> dict[str, Value]:
    """Group key -> its default, for those of the keys that have a key of the node. node: all its parsed values."""
    defaults = {key: node[name] for key, name in group.SYNONYMS.items() if key in keys}
    if ASSIGNOR in keys:
        defaults[ASSIGNOR] = first_assignor(defaults[ASSIGNOR])
    return defaults
