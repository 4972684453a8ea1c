"""The value of a topic's key that is in effect, and its source (KIP-226, KIP-525)."""

from __future__ import annotations

from enum import IntEnum

from controller.config.keys import topic
from controller.config.values.definition import Required, value_text
from records.features.levels import CURRENT
from records.java.java_values import java_trim, parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.config.values.definition import Key
    from records.features.levels import Release


class ConfigSource(IntEnum):
    """The source of a value, by Kafka's codes."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class Effective:
    """One key of a topic with the value in effect; None if it has no value."""

    __slots__ = ("key", "source", "value")

    def __init__(self, key: Key, value: str | None, source: ConfigSource) -> None:
        self.key = key
        self.value = value
        self.source = source

    @property
    def name(self) -> str:
        return self.key.name

    @property
    def is_sensitive(self) -> bool:
        return self.key.sensitive

    @property
    def read_only(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"Effective({self.name}, {'[hidden]' if self.is_sensitive else self.value}, {self.source.name})"


class Layers:
    """The layers of values that apply to a topic, highest precedence first; each is key -> text.

    own: of the topic. node: dynamic configs of this node. cluster: those of all nodes. static: of this node's file.
    """

    __slots__ = ("cluster", "node", "own", "static")

    def __init__(
        self, own: Mapping[str, str], node: Mapping[str, str], cluster: Mapping[str, str], static: Mapping[str, str]
    ) -> None:
        self.own = own
        self.node = node
        self.cluster = cluster
        self.static = static

    def one(self, key: Key) -> Effective:
        """The value of one key in effect."""
        if key.name in self.own:
            return Effective(key, self.own[key.name], ConfigSource.TOPIC)
        synonyms = topic.SYNONYMS.get(key.name, ())
        for values, source in (
            (self.node, ConfigSource.DYNAMIC_BROKER),
            (self.cluster, ConfigSource.DYNAMIC_DEFAULT_BROKER),
            (self.static, ConfigSource.STATIC_BROKER),
        ):
            for name, unit_ms in synonyms:
                if name in values:
                    return Effective(key, _in_units(values[name], unit_ms), source)
        assert not isinstance(key.default, Required), key
        return Effective(key, value_text(key.default), ConfigSource.DEFAULT)

    def find(self, name: str) -> Effective:
        """The value of one topic key in effect, by the name of the key."""
        key = topic.KEYS.get(name)
        assert key is not None, name
        return self.one(key)

    def all(self, release: Release = CURRENT) -> Iterable[Effective]:
        """All keys of a release of Kafka, sorted by name; internal keys only if the topic sets them."""
        keys = topic.KEYS.of(release.name).keys
        for name in sorted(keys):
            key = keys[name]
            if not key.internal or name in self.own:
                yield self.one(key)


def _in_units(text: str, unit_ms: int) -> str:
    """Hours and minutes as milliseconds; text that is not a number is 0, as in stock."""
    if unit_ms == 1:
        return text
    number = parse_integer(java_trim(text))
    return str((0 if number is None or abs(number) >= 1 << 31 else number) * unit_ms)
