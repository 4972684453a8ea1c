"""Checks on the values of configuration keys, with the texts of stock; `str` of one is what help prints."""

from __future__ import annotations

from controller.config.values.definition import Check, Value, invalid
from records.java.config_error import ConfigError
from records.java.java_values import java_text, java_trim


class Range(Check):
    """A number within bounds, both inclusive, either of which may be open (None)."""

    __slots__ = ("high", "low")

    def __init__(self, low: float | None, high: float | None) -> None:
        self.low = low
        self.high = high

    def __call__(self, name: str, value: Value) -> None:
        if value is None:
            raise invalid(name, None, "Value must be non-null")
        assert isinstance(value, (int, float)), (name, value)
        if self.low is not None and value < self.low:
            raise invalid(name, value, f"Value must be at least {java_text(self.low)}")
        if self.high is not None and value > self.high:
            raise invalid(name, value, f"Value must be no more than {java_text(self.high)}")

    def __str__(self) -> str:
        low = "" if self.low is None else f"{java_text(self.low)},"
        high = "" if self.high is None else f",{java_text(self.high)}"
        return f"[{low}...{high}]"


def at_least(low: float) -> Range:
    """A number that is not below `low`."""
    return Range(low, None)


def between(low: float, high: float) -> Range:
    """A number from `low` to `high`, both inclusive."""
    return Range(low, high)


class OneOf(Check):
    """One of these texts."""

    __slots__ = ("texts",)

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def __call__(self, name: str, value: Value) -> None:
        if value not in self.texts:
            raise invalid(name, value, f"String must be one of: {', '.join(self.texts)}")

    def __str__(self) -> str:
        return f"[{', '.join(self.texts)}]"


class OneOfIgnoringCase(Check):
    """One of these texts, in upper or lower case; `texts` are in the order in which stock prints them."""

    __slots__ = ("texts",)

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def __call__(self, name: str, value: Value) -> None:
        if not isinstance(value, str) or value.upper() not in self.texts:
            raise invalid(name, value, f"String must be one of (case insensitive): {', '.join(self.texts)}")

    def __str__(self) -> str:
        return f"(case insensitive) [{', '.join(self.texts)}]"


class ListOf(Check):
    """A list without empty or duplicate parts; if `texts` are given, of these only (KIP-1161)."""

    __slots__ = ("empty", "null", "texts")
    drops_duplicates = True

    def __init__(self, *texts: str, empty: bool = True, null: bool = False) -> None:
        self.texts = texts
        self.empty = empty
        self.null = null

    def __call__(self, name: str, value: Value) -> None:
        if value is None:
            if self.null:
                return
            raise ConfigError(f"Configuration '{name}' values must not be null.")
        assert isinstance(value, tuple), (name, value)
        if not value and not self.empty:
            accepted = str(self) if self.texts else "any non-empty value"
            raise ConfigError(f"Configuration '{name}' must not be empty. Valid values include: {accepted}")
        for part in value:
            if not part:
                raise ConfigError(f"Configuration '{name}' values must not be empty.")
            if self.texts and part not in self.texts:
                raise invalid(name, part, f"String must be one of: {', '.join(self.texts)}")

    def __str__(self) -> str:
        return f"[{', '.join(self.texts)}]" if self.texts else ""


class NotNull(Check):
    """Anything but null."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value is None:
            raise invalid(name, "null", "entry must be non null")

    def __str__(self) -> str:
        return "non-null string"


class NotEmpty(Check):
    """A text that is not empty; null is one."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value == "":
            raise invalid(name, value, "String must be non-empty")

    def __str__(self) -> str:
        return "non-empty string"


class GzipLevel(Check):
    """1 to 9, or -1 for the library's own choice (KIP-390)."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value is None:
            raise invalid(name, None, "Value must be non-null")
        if value not in {-1, *range(1, 10)}:
            raise invalid(name, value, "Value must be between 1 and 9 or equal to -1")

    def __str__(self) -> str:
        return "[1,...,9] or -1"


class ThrottledReplicas(Check):
    """`*`, or partition:broker pairs (KIP-73)."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple), (name, value)
        parts = [java_trim(part) for part in value]
        if "".join(parts) != "*" and not all(_is_throttled_replica(part) for part in parts):
            raise invalid(
                name, value, f"{name} must be the literal '*' or a list of replicas in the following format: {self}"
            )

    def __str__(self) -> str:
        return "[partitionId]:[brokerId],[partitionId]:[brokerId],..."


def _is_throttled_replica(part: str) -> bool:
    partition, colon, broker = part.partition(":")
    return not part or (bool(colon) and _is_ascii_number(partition) and _is_ascii_number(broker))


def _is_ascii_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
