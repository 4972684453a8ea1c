"""The documentation of configuration keys."""

from __future__ import annotations

from controller.config.documentation import _unescape, read_documentation
from controller.config.keys import client_metrics, group, server, topic
from records.resource_types import ResourceType

DEFINITIONS = {
    ResourceType.BROKER: server.KEYS,
    ResourceType.TOPIC: topic.KEYS,
    ResourceType.GROUP: group.KEYS,
    ResourceType.CLIENT_METRICS: client_metrics.KEYS,
}


def test_each_key_has_its_documentation_and_no_other_has() -> None:
    documentation = read_documentation()

    assert {kind: set(texts) for kind, texts in documentation.items()} == {
        kind: set(keys.keys) for kind, keys in DEFINITIONS.items()
    }
    assert documentation[ResourceType.CLIENT_METRICS]["interval.ms"] == "Metrics push interval in milliseconds"


def test_line_ends_in_a_text_are_escaped_in_the_file() -> None:
    assert _unescape(r"a\nb\tc\\nd\\\\e") == "a\nb\tc\\nd\\\\e"
