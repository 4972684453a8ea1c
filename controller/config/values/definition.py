"""Configuration definitions: keys with type, default and check, and how text becomes a value (Kafka's ConfigDef)."""

from __future__ import annotations

from enum import IntEnum

from records.java.config_error import ConfigError
from records.java.java_values import java_text, java_trim, parse_double, parse_integer, split_list, split_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Value = bool | int | float | str | tuple[str, ...] | None

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
NUMBER_FORMAT = "java.lang.NumberFormatException"
KAFKA_EXCEPTION = "org.apache.kafka.common.KafkaException"

_BOUNDS = {"SHORT": 1 << 15, "INT": 1 << 31, "LONG": 1 << 63}


def invalid(name: str, value: object, reason: str = "") -> ConfigError:
    """The error for an invalid value of a key."""
    shown = f"Invalid value {java_text(value)} for configuration {name}"
    return ConfigError(f"{shown}: {reason}" if reason else shown)


class Type(IntEnum):
    """The type of a key; the numbers are those of DescribeConfigs responses (KIP-569)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Importance(IntEnum):
    """How important a key is to operators."""

    HIGH = 0
    MEDIUM = 1
    LOW = 2


class Required:
    """The default of a key that must be set."""

    def __repr__(self) -> str:
        return "(required)"


REQUIRED = Required()


class Check:
    """A check: called with the name of a key and its parsed value, it raises ConfigError or does nothing.

    drops_duplicates: the value is a list, from which duplicates are dropped before it is checked.
    """

    __slots__ = ()
    drops_duplicates = False

    def __call__(self, name: str, value: Value) -> None:
        raise NotImplementedError


class Key:
    """One key. check: None where each value of the type is valid; internal: not shown unless set.

    since: the release of Kafka that has it first, such as `4.4`; empty for one that all supported releases have.
    """

    __slots__ = ("check", "default", "importance", "internal", "name", "since", "type")

    def __init__(
        self, name: str, kind: Type, default: Value | Required, check: Check | None, importance: Importance,
        *, internal: bool = False, since: str = "",
    ) -> None:  # fmt: skip
        self.name = name
        self.type = kind
        self.default = default
        self.check = check
        self.importance = importance
        self.internal = internal
        self.since = since

    @property
    def sensitive(self) -> bool:
        return self.type is Type.PASSWORD

    @property
    def initial(self) -> Value:
        """The default of a key that has one."""
        assert not isinstance(self.default, Required), self
        return self.default

    def parse(self, value: Value, warnings: list[str] | None = None) -> Value:
        """The checked value of this key. Raises ConfigError; duplicates in a list are dropped with a warning."""
        parsed = parse_value(self.name, self.type, value)
        if isinstance(parsed, tuple) and self.check is not None and self.check.drops_duplicates:
            distinct = tuple(dict.fromkeys(parsed))
            if len(distinct) != len(parsed) and warnings is not None:
                warnings.append(
                    f'Configuration key "{self.name}" contains duplicate values. Duplicates will be removed. The '
                    "original "
                    f"value is: {java_text(parsed)}, the updated value is: {java_text(distinct)}"
                )
            parsed = distinct
        if self.check is not None:
            self.check(self.name, parsed)
        return parsed

    def __repr__(self) -> str:
        return f"Key({self.name}, {self.type.name})"


class Definition:
    """Keys in the order in which stock defines them, which is the order of its checks."""

    def __init__(self, *keys: Key) -> None:
        self.keys = {key.name: key for key in keys}
        assert len(self.keys) == len(keys), "a key stands twice"
        self._of: dict[str, Definition] = {}

    def of(self, release: str) -> Definition:
        """The keys that a release of Kafka has, such as `4.3`."""
        definition = self._of.get(release)
        if definition is None:
            definition = self._of[release] = Definition(
                *(key for key in self if _version(key.since) <= _version(release))
            )
        return definition

    def __contains__(self, name: object) -> bool:
        return name in self.keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys.values())

    def get(self, name: str) -> Key | None:
        return self.keys.get(name)

    def type_of(self, name: str) -> Type | None:
        key = self.keys.get(name)
        return None if key is None else key.type

    def parse(self, values: Mapping[str, Value], warnings: list[str] | None = None) -> dict[str, Value]:
        """All keys with their values: the given value, parsed and checked, else the default.

        values: texts, or values of the key's type; keys that are not defined here are left out.
        Raises ConfigError for the first key, in the order of definition, that is wrong or missing.
        """
        parsed: dict[str, Value] = {}
        for key in self.keys.values():
            if key.name in values:
                parsed[key.name] = key.parse(values[key.name], warnings)
            elif isinstance(key.default, Required):
                raise ConfigError(f'Missing required configuration "{key.name}" which has no default value.')
            else:
                parsed[key.name] = key.default
        return parsed


def _version(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split("."))) if release else ()


def parse_value(name: str, kind: Type, value: Value) -> Value:
    """A value of the type from its text; an argument that is not text is returned as it is. Raises ConfigError."""
    if not isinstance(value, str):
        return value
    trimmed = java_trim(value)
    match kind:
        case Type.BOOLEAN:
            lowered = trimmed.lower()
            if lowered not in {"true", "false"}:
                raise invalid(name, value, "Expected value to be either true or false")
            return lowered == "true"
        case Type.INT | Type.SHORT | Type.LONG:
            number = parse_integer(trimmed)
            bound = _BOUNDS[kind.name]
            if number is None or not -bound <= number < bound:
                raise invalid(name, value, f"Not a number of type {kind.name}")
            return number
        case Type.DOUBLE:
            fraction = parse_double(trimmed)
            if fraction is None:
                raise invalid(name, value, f"Not a number of type {kind.name}")
            return fraction
        case Type.LIST:
            return split_list(trimmed)
    return trimmed


def parse_map(name: str, text: str) -> dict[str, str]:
    """The value of a key as a map: what stands before and after the last colon of each entry.

    Raises ConfigError, with stock's text, for an entry without a colon.
    """
    entries = {}
    for entry in split_map(text) if text else ():
        key, colon, value = entry.rpartition(":")
        if not colon:
            reason = f"begin 0, end -1, length {len(entry)}"
            raise ConfigError(f"Error parsing configuration property '{name}': {reason}", ILLEGAL_ARGUMENT)
        entries[java_trim(key)] = java_trim(value)
    return entries


def value_text(value: Value) -> str | None:
    """The text of a value in answers and records, as stock writes it; None stays None."""
    if value is None:
        return None
    return ",".join(value) if isinstance(value, tuple) else java_text(value)
