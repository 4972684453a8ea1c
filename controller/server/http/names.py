"""The exported name of a metric, from its name in Kafka's JMX.

`exported_name`: names are those of Prometheus's JMX exporter with Strimzi's configuration, so dashboards for Kafka
work: domain, type and name in lower case, joined by `_`; dots of the domain and hyphens of the name become `_`, hyphens
of the type are removed. A meter's `PerSec` becomes `_total`, as it is exported as a counter. A tag becomes a label.

`as_agent` has what a running exporter makes of them: its library ends the name of each counter with `_total`.

`reporter_name`: names are those of Strimzi's own reporter, which keeps the words of a type and the `PerSec`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from records.java.java_matching import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from records.java.java_matching import Program

GAUGE = "gauge"
COUNTER = "counter"
SUMMARY = "summary"
# Of one name and pattern.
STEPS_MAX = 40_000
# Endings that have a meaning for Prometheus: the reporter takes them off, and adds them by the kind of the metric.
_RESERVED = ("_total", "_created", "_bucket", "_info")


@cache
def exported_name(jmx: str) -> str:
    """The name for `domain:type=T,name=N`, or for `domain:type=T,attribute=A` if a bean has several values."""
    domain, kind, name = _parts(jmx)
    if name.endswith("PerSec"):
        name = name.removesuffix("PerSec") + "_total"
    parts = (domain.replace(".", "_"), kind.replace("-", ""), name.replace("-", "_"))
    return "_".join(parts).lower()


@cache
def reporter_name(jmx: str) -> str:
    """As above, without the ending that the kind of the metric has."""
    domain, kind, name = _parts(jmx)
    exported = re.sub("[^a-zA-Z0-9_:]", "_", f"{domain}_{kind}_{name}")
    while exported.endswith(_RESERVED):
        exported = exported.rpartition("_")[0]
    return exported.lower()


def attribute_label(jmx: str) -> str:
    """The label in which the reporter shows a text value."""
    return re.sub("[^a-zA-Z0-9_]", "_", _parts(jmx)[2])


def feature_label(name: str) -> str:
    """The label of a feature: `metadataVersion` for metadata.version, as in Kafka's JMX (KIP-1180)."""
    first, *others = name.split(".")
    return first + "".join(map(str.capitalize, others))


class Named(NamedTuple):
    """How a metric of Kafka is exported. text_label: the label of a text value, whose name gets `_info`; None where the
    table of metrics says it.
    """

    name: str
    kind: str
    text_label: str | None = None


def as_exporter(jmx: str, kind: str) -> Named:
    """By the JMX exporter."""
    return Named(exported_name(jmx), kind)


def as_agent(jmx: str, kind: str) -> Named:
    """By a running JMX exporter: a summary is a gauge with quantiles and a counter of its own, and what Strimzi's rules
    take for a counter is called one.
    """
    if kind == SUMMARY:
        kind = GAUGE
    elif jmx.startswith("kafka.server:type=raft-metrics,") and jmx.endswith("-max"):
        return Named(f"{exported_name(jmx)}_total", COUNTER)
    return as_exporter(jmx, kind)


def as_reporter(allowed: Sequence[Program], jmx: str, kind: str) -> Named | None:
    """By Strimzi's reporter; None for one whose name no pattern matches."""
    name = reporter_name(jmx)
    if not any(pattern.match_all(name, Steps(STEPS_MAX)) for pattern in allowed):
        return None
    if kind == COUNTER:
        # Only a meter of the Yammer library counts there: what Kafka's own library has is a number like others.
        name, kind = (f"{name}_total", kind) if "attribute=" not in jmx else (name, GAUGE)
    return Named(name, kind, attribute_label(jmx))


def _parts(jmx: str) -> tuple[str, str, str]:
    domain, _, keys = jmx.partition(":")
    tags = dict(part.split("=", 1) for part in keys.split(","))
    return domain, tags["type"], tags.get("name", tags.get("attribute", ""))


if TYPE_CHECKING:
    # From the name in JMX and the kind in the table of metrics.
    Names = Callable[[str, str], Named | None]
