"""The exported name of a metric, from its name in Kafka's JMX.

Names are those of Prometheus's JMX exporter with Strimzi's configuration, so dashboards for Kafka work: domain, type
and name in lower case, joined by `_`; dots of the domain and hyphens of the name become `_`, hyphens of the type are
removed. A meter's `PerSec` becomes `_total`, as it is exported as a counter. A tag becomes a label.
"""

from __future__ import annotations

from functools import cache


@cache
def exported_name(jmx: str) -> str:
    """The name for `domain:type=T,name=N`, or for `domain:type=T,attribute=A` if a bean has several values."""
    domain, _, keys = jmx.partition(":")
    tags = dict(part.split("=", 1) for part in keys.split(","))
    name = tags.get("name", tags.get("attribute", ""))
    if name.endswith("PerSec"):
        name = name.removesuffix("PerSec") + "_total"
    parts = (domain.replace(".", "_"), tags["type"].replace("-", ""), name.replace("-", "_"))
    return "_".join(parts).lower()
