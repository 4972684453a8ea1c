"""The series of a scrape in a form that can be compared, and those of a stock controller in tests/data/strimzi."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).parents[2] / "data" / "strimzi" / "stock-metrics.tsv"
# Labels whose values a dashboard names: those of others are ids and addresses of one cluster.
_FIXED = {"quantile", "config", "class", "role", "featureName"}


class Series(NamedTuple):
    """One sample. kind: of its family; labels: their names in order, with the values that are fixed."""

    kind: str
    name: str
    labels: str


def series_in(text: str) -> set[Series]:
    """All of a scrape in the text format of Prometheus."""
    return {
        Series(family.type, sample.name, _labels(sample.labels))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f"{name}={labels[name]}" if name in _FIXED else name for name in sorted(labels))


def stored_series(naming: str) -> list[Series]:
    """Those of a stock controller, by "exporter" or by "reporter"."""
    rows = [line.split("\t") for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return [Series(*row[1:]) for row in rows if row[0] == naming]
