"""The values of one listener: a key under `listener.name.NAME.` stands before the same key without it (KIP-103)."""

from __future__ import annotations

from controller.config.keys import server
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.values.definition import Value
    from controller.config.values.node_values import NodeValues


class ListenerValues:
    """The values by key. config: of the node; name: of the listener, in upper case; prefix: of its own keys."""

    __slots__ = ("config", "name", "prefix")

    def __init__(self, config: NodeValues, name: str) -> None:
        self.config = config
        self.name = name.upper()
        self.prefix = f"listener.name.{name.lower()}."

    def value(self, key: str) -> Value:
        """Raises ConfigError, without the value of a secret."""
        given = self.config.originals.get(self.prefix + key)
        if given is None:
            return self.config.values[key]
        definition = server.KEYS.get(key)
        assert definition is not None, key
        try:
            return definition.parse(given)
        except ConfigError as error:
            if definition.sensitive:
                raise ConfigError(f"Invalid value for configuration {self.prefix}{key}") from None
            raise ConfigError(error.text.replace(key, self.prefix + key, 1)) from None

    def full_key(self, key: str) -> str:
        """The key under which the value stands."""
        return self.prefix + key if self.prefix + key in self.config.originals else key

    def text(self, key: str) -> str | None:
        value = self.value(key)
        assert value is None or isinstance(value, str), key
        return value

    def list(self, key: str) -> tuple[str, ...]:
        value = self.value(key)
        assert value is None or isinstance(value, tuple), key
        return value or ()

    def number(self, key: str) -> int:
        value = self.value(key)
        assert type(value) is int, key
        return value

    def mechanism_value(self, mechanism: str, key: str) -> Value:
        """The value of a key that may stand for one SASL mechanism only. Raises ConfigError."""
        given = self.of_mechanism(mechanism, key)
        if given is None:
            return self.value(key)
        definition = server.KEYS.get(key)
        assert definition is not None, key
        try:
            return definition.parse(given)
        except ConfigError as error:
            full = self.mechanism_key(mechanism, key)
            if definition.sensitive:
                raise ConfigError(f"Invalid value for configuration {full}") from None
            raise ConfigError(error.text.replace(key, full, 1)) from None

    def mechanism_key(self, mechanism: str, key: str) -> str:
        """The name of a key that stands for one SASL mechanism only."""
        return f"{self.prefix}{mechanism.lower()}.{key}"

    def of_mechanism(self, mechanism: str, key: str) -> str | None:
        """The text of a key that stands for one SASL mechanism only, None where it is not given."""
        return self.config.originals.get(self.mechanism_key(mechanism, key))
