"""The types of resources that have a configuration (KIP-133), and what a request does to one of its keys (KIP-339).

Tools import this without the keys of the resources.
"""

from __future__ import annotations

from enum import IntEnum


class ResourceType(IntEnum):
    """The types of resources, by Kafka's codes."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigOperation(IntEnum):
    """What IncrementalAlterConfigs does to a key, by Kafka's codes."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3
