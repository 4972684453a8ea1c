"""The text of metrics means to Prometheus' own parsers what it means to us."""

from __future__ import annotations

import math

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families as families

from controller.server.http.exposition import Family, Sample, number, open_metrics_text, prometheus_text
from controller.server.http.names import COUNTER
from controller.server.http.rows import KAFKA, OWN

HOSTILE = 'a "quoted" \\ back\\nslash\nand a line, {braces}, é'
FAMILIES = [
    Family("a", "gauge", HOSTILE, [Sample("a", (("k", HOSTILE), ("z", "")), 1.5), Sample("a", (), -2)]),
    Family("b_total", "counter", "A counter.", [Sample("b_total", (), 12345678901)]),
    Family("c", "gauge", "None.", []),
    Family(
        "d", "histogram", "A histogram.",
        [Sample("d_bucket", (("le", "1.0"),), 1), Sample("d_bucket", (("le", "+Inf"),), 2), Sample("d_count", (), 2),
         Sample("d_sum", (), 1e-7)],
    ),
    Family(
        "e", "summary", "A summary.",
        [Sample("e", (("quantile", "0.5"),), math.inf), Sample("e_count", (), 0), Sample("e_sum", (), 0)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "parse"), [(prometheus_text, families), (open_metrics_text, open_metrics_families)])
def test_prometheus_reads_what_was_written(text, parse) -> None:
    read = list(parse(text(FAMILIES).decode()))

    assert [(one.name, one.type, one.documentation) for one in read] == [
        (family.name.removesuffix("_total"), family.kind, family.meaning) for family in FAMILIES
    ]
    assert [[(one.name, one.labels, one.value) for one in family.samples] for family in read] == [
        [(name, dict(labels), value) for name, labels, value in family.samples] for family in FAMILIES
    ]


@pytest.mark.parametrize("value", [0, -1, 0.1, 1e300, 2**53 - 1, math.inf, -math.inf])
def test_a_number_is_the_same_when_it_is_read(value: float) -> None:
    assert float(number(value)) == value


def test_nan_is_written_as_prometheus_does() -> None:
    assert number(math.nan) == "NaN"


def test_the_name_of_each_counter_ends_as_openmetrics_asks() -> None:
    assert all(row.name.endswith("_total") == (row.kind == COUNTER) for row in (*KAFKA, *OWN))
