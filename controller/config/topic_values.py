"""The configuration of topics: the defaults that a node gives, and the checks between keys."""

from __future__ import annotations

from controller.config.keys import topic
from controller.config.values.definition import invalid
from records.java.config_error import ConfigError
from records.java.java_order import hash_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.values.definition import Definition, Value

INVALID_CONFIGURATION = "org.apache.kafka.common.errors.InvalidConfigurationException"
DERIVED = -2
UNLIMITED = -1


def topic_defaults(node: Mapping[str, Value]) -> dict[str, Value]:
    """Topic key -> its default, for the keys that have a key of the node. node: all its parsed values."""
    defaults: dict[str, Value] = {}
    for key, synonyms in topic.SYNONYMS.items():
        for name, unit_ms in synonyms:
            value = node[name]
            if value is not None:
                defaults[key] = value * unit_ms if isinstance(value, int) and unit_ms != 1 else value
                break
    # Any negative retention means unlimited.
    retention_ms = defaults["retention.ms"]
    assert isinstance(retention_ms, int), retention_ms
    defaults["retention.ms"] = max(retention_ms, UNLIMITED)
    return defaults


def check_topic(
    given: Mapping[str, str],
    existing: Mapping[str, str],
    defaults: Mapping[str, Value],
    remote_storage: bool,
    keys: Definition = topic.KEYS,
) -> None:
    """Check the configuration that a topic would have after a change.

    given: all keys of the topic after the change; existing: before it; defaults: from `topic_defaults`.
    remote_storage: whether the node has `remote.log.storage.system.enable`. Raises ConfigError.
    """
    values = parse_topic(given, defaults, keys)
    if values["remote.storage.enable"]:
        if not remote_storage:
            raise ConfigError(
                "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log "
                "storage."
            )
        _check_remote(values)
    elif existing.get("remote.storage.enable", "").lower() == "true" and not values["remote.log.delete.on.disable"]:
        raise ConfigError(
            "It is invalid to disable remote storage without deleting remote data. If you want to keep the remote data "
            "and turn to read only, please set `remote.storage.enable=true,remote.log.copy.disable=true`. If you want "
            "to disable remote storage and delete all remote data, please set "
            "`remote.storage.enable=false,remote.log.delete.on.disable=true`.",
            INVALID_CONFIGURATION,
        )


def parse_topic(
    given: Mapping[str, str], defaults: Mapping[str, Value], keys: Definition = topic.KEYS
) -> dict[str, Value]:
    """The values of all keys of a topic, checked as far as no node is needed for it; kafka-topics checks as much.

    Raises ConfigError.
    """
    for name in hash_order(given):
        if name not in keys:
            raise ConfigError(f"Unknown topic config name: {name}", INVALID_CONFIGURATION)
    values = keys.parse({**defaults, **given})
    least, most = _number(values, "min.compaction.lag.ms"), _number(values, "max.compaction.lag.ms")
    if least > most:
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})",
            INVALID_CONFIGURATION,
        )
    return values


def _check_remote(values: Mapping[str, Value]) -> None:
    """Tiered storage (KIP-405, KIP-950, KIP-1241)."""
    if values["cleanup.policy"] not in {(), ("delete",)}:
        raise ConfigError(
            "Remote log storage only supports topics with cleanup.policy=delete or cleanup.policy being an empty list."
        )
    for unit in ("bytes", "ms"):
        total, local = _number(values, f"retention.{unit}"), _number(values, f"local.retention.{unit}")
        is_bounded = total > UNLIMITED if unit == "bytes" else total != UNLIMITED
        if not is_bounded or local == DERIVED:
            continue
        if local == UNLIMITED:
            reason = f"Value must not be -1 as retention.{unit} value is set as {total}."
            raise invalid(f"local.retention.{unit}", local, reason)
        if local > total:
            reason = f"Value must not be more than retention.{unit} property value: {total}"
            raise invalid(f"local.retention.{unit}", local, reason)
    for unit in ("bytes", "ms"):
        lag, local = values.get(f"remote.copy.lag.{unit}", 0), _number(values, f"local.retention.{unit}")
        assert isinstance(lag, int), lag
        local = _number(values, f"retention.{unit}") if local == DERIVED else local
        if 0 < lag > local >= 0:
            reason = f"Value must not exceed local.retention.{unit} (effective value: {local})"
            raise invalid(f"remote.copy.lag.{unit}", lag, reason)
    if not values["remote.log.copy.disable"]:
        return
    for unit in ("bytes", "ms"):
        local = _number(values, f"local.retention.{unit}")
        if local not in {DERIVED, _number(values, f"retention.{unit}")}:
            raise ConfigError(
                f"When `remote.log.copy.disable` is set to true, the `local.retention.{unit}` and `retention.{unit}` "
                "must be set to the identical value because there will be no more logs copied to the remote storage.",
                INVALID_CONFIGURATION,
            )


def _number(values: Mapping[str, Value], key: str) -> int:
    value = values[key]
    assert isinstance(value, int), (key, value)
    return value
