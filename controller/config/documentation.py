"""The documentation of configuration keys, which DescribeConfigs returns when it is asked to (KIP-569).

The texts are Kafka's own: `keys/documentation.tsv` says where they come from.
"""

from __future__ import annotations

from functools import cache

from records.resource_types import ResourceType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_KINDS = {
    "server": ResourceType.BROKER,
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}


def documentation_file() -> Path:
    """Where the texts are."""
    from pathlib import Path  # 0.6 MiB with what it imports, and few nodes are ever asked for a text

    return Path(__file__).parent / "keys" / "documentation.tsv"


@cache
def read_documentation() -> Mapping[ResourceType, Mapping[str, str]]:
    """Type of resource -> key -> text, for every key that Kafka 4.4.0 defines, internal ones too."""
    texts: dict[ResourceType, dict[str, str]] = {kind: {} for kind in _KINDS.values()}
    for line in documentation_file().read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, name, text = line.split("\t")
            texts[_KINDS[kind]][name] = _unescape(text)
    return texts


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts = [part.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r") for part in text.split("\\\\")]
    return "\\".join(parts)
