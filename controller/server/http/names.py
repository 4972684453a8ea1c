"""The name of a metric here, from its name in Kafka's JMX, by one rule: dashboards made for Kafka go on working.

The rule is that of the configuration of Prometheus's JMX exporter which Strimzi ships: domain, type and name in lower
case, joined by `_`; dots of the domain and hyphens of the name become `_`, those of the type go. A meter's `PerSec`
becomes `_total`, since it is counted. A tag becomes a label.
"""

from __future__ import annotations

from functools import cache


@cache
def exported_name(jmx: str) -> str:
    """The name for `domain:type=T,name=N`, or for `domain:type=T,attribute=A` where a bean has several values."""
    domain, _, keys = jmx.partition(":")
    tags = dict(part.split("=", 1) for part in keys.split(","))
    name = tags.get("name", tags.get("attribute", ""))
    if name.endswith("PerSec"):
        name = name.removesuffix("PerSec") + "_total"
    parts = (domain.replace(".", "_"), tags["type"].replace("-", ""), name.replace("-", "_"))
    return "_".join(parts).lower()
