"""Subscriptions of client metrics: what their keys may hold (KIP-714)."""

from __future__ import annotations

from controller.config.keys import client_metrics
from controller.config.topic_values import INVALID_CONFIGURATION
from records.java.config_error import ConfigError
from records.java.java_order import hash_order
from records.java.java_pattern import is_java_pattern
from records.java.java_values import java_trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

INVALID_REQUEST = "org.apache.kafka.common.errors.InvalidRequestException"

_MATCHED = {
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
}
INTERVAL_MS_MIN = 100
INTERVAL_MS_MAX = 3600000


def check_subscription(given: Mapping[str, str]) -> None:
    """Check the keys that a subscription would have after a change. Raises ConfigError."""
    for name in hash_order(given):
        if name not in client_metrics.KEYS:
            raise ConfigError(f"Unknown client metrics configuration: {name}", INVALID_REQUEST)
    values = client_metrics.KEYS.parse(given)
    interval_ms = values["interval.ms"]
    assert isinstance(interval_ms, int), interval_ms
    if not INTERVAL_MS_MIN <= interval_ms <= INTERVAL_MS_MAX:
        raise ConfigError(
            f"Invalid value {interval_ms} for interval.ms, interval must be between 100 and 3600000 (1 hour)",
            INVALID_REQUEST,
        )
    patterns = values["match"]
    assert isinstance(patterns, tuple), patterns
    for pattern in patterns:
        if not _is_match(pattern):
            raise ConfigError(f"Illegal client matching pattern: {pattern}", INVALID_CONFIGURATION)


def _is_match(pattern: str) -> bool:
    # Java's split drops empty parts at the end.
    parts = pattern.rstrip("=").split("=")
    return len(parts) == 2 and java_trim(parts[0]) in _MATCHED and is_java_pattern(java_trim(parts[1]))
