"""The text formats of Prometheus and of OpenMetrics, for the metrics of a node."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

_ESCAPES = {"\\": r"\\", "\n": r"\n", '"': r"\""}
_LABEL_ESCAPED = re.compile(r'[\\\n"]')
_HELP_ESCAPED = re.compile(r"[\\\n]")


class Sample(NamedTuple):
    """One value. labels: (name, value), in the order of their names."""

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


class Family(NamedTuple):
    """One metric with its samples. name: that of the samples, so a counter's ends with `_total`."""

    name: str
    kind: str
    meaning: str
    samples: list[Sample]


def prometheus_text(families: Iterable[Family]) -> bytes:
    """The text format 0.0.4 of Prometheus."""
    lines: list[str] = []
    for family in families:
        meaning = _HELP_ESCAPED.sub(_escape_match, family.meaning)
        lines += (f"# HELP {family.name} {meaning}\n", f"# TYPE {family.name} {family.kind}\n")
        lines += map(_line, family.samples)
    return "".join(lines).encode()


def open_metrics_text(families: Iterable[Family]) -> bytes:
    """The text format of OpenMetrics 1.0: the name of a counter is without `_total`, and the text has an end."""
    lines: list[str] = []
    for family in families:
        name = family.name.removesuffix("_total")
        meaning = _LABEL_ESCAPED.sub(_escape_match, family.meaning)
        lines += (f"# HELP {name} {meaning}\n", f"# TYPE {name} {family.kind}\n")
        lines += map(_line, family.samples)
    return "".join([*lines, "# EOF\n"]).encode()


def number(value: float) -> str:
    """A value as Prometheus writes it."""
    if math.isfinite(value):
        return repr(float(value))
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _line(sample: Sample) -> str:
    labels = ",".join(f'{name}="{_LABEL_ESCAPED.sub(_escape_match, value)}"' for name, value in sample.labels)
    return (
        f"{sample.name}{{{labels}}} {number(sample.value)}\n" if labels else f"{sample.name} {number(sample.value)}\n"
    )


def _escape_match(match: re.Match[str]) -> str:
    return _ESCAPES[match.group()]
