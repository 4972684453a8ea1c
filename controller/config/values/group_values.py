"""The value of `share.auto.offset.reset`: where a share group begins to read (KIP-932, KIP-1106)."""

from __future__ import annotations

import re

from controller.config.values.definition import Check, Value, invalid

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?[0-9]+)D)?"
    r"(?:T(?:(?P<hours>[-+]?[0-9]+)H)?(?:(?P<minutes>[-+]?[0-9]+)M)?"
    r"(?:(?P<seconds>[-+]?[0-9]+)(?:[.,](?P<fraction>[0-9]{0,9}))?S)?)?",
    re.IGNORECASE,
)
_UNIT_SECONDS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_SECONDS_MAX = (1 << 63) - 1


class OffsetReset(Check):
    """latest, earliest, or `by_duration:` and an ISO 8601 duration that is not negative."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value in {"latest", "earliest"}:
            return
        if (
            isinstance(value, str)
            and value.startswith("by_duration:")
            and _is_duration(value.removeprefix("by_duration:"))
        ):
            return
        raise invalid(
            name,
            value,
            f"Invalid value `{value}` for configuration {name}. The value must be either 'earliest', 'latest' or of "
            "the "
            "format 'by_duration:<PnDTnHnMn.nS>'.",
        )

    def __str__(self) -> str:
        return "[latest, earliest, by_duration:PnDTnHnMn.nS]"


def _is_duration(text: str) -> bool:
    match = _DURATION.fullmatch(text) if len(text) <= 200 else None
    if match is None or text[-1:] in {"T", "t"} or not any(match[unit] for unit in _UNIT_SECONDS):
        return False
    parts = {unit: int(match[unit] or 0) * factor for unit, factor in _UNIT_SECONDS.items()}
    total = sum(parts.values())
    if any(abs(part) > _SECONDS_MAX for part in (*parts.values(), total)):
        return False
    # A fraction takes the sign of the seconds it follows.
    fraction = int((match["fraction"] or "0").ljust(9, "0"))
    nanos = total * 10**9 + (-fraction if (match["seconds"] or "").startswith("-") else fraction)
    return (-nanos if match["sign"] == "-" else nanos) >= 0
