"""The text for Prometheus, from the table of metrics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from controller.core.metrics import Durations
from controller.server.http.counted import Histogram
from controller.server.http.exposition import (
    OPEN_METRICS_TYPE,
    PROMETHEUS_TYPE,
    Family,
    Sample,
    open_metrics_text,
    prometheus_text,
)
from controller.server.http.names import COUNTER, GAUGE, as_exporter
from controller.server.http.process import Process
from controller.server.http.rows import KAFKA, OWN, Text, quantiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.server.http.names import Names
    from controller.server.http.reading import Reading
    from controller.server.http.rows import Row

# More frequent requests get the same text again.
KEPT_MS = 500
OPEN_METRICS = "application/openmetrics-text"


class Metrics:
    """Collects all metrics on request. take: reads the node; names: how Kafka's are called, None for one left out."""

    def __init__(self, take: Callable[[], Reading], names: Names = as_exporter) -> None:
        self._take = take
        self._names = names
        self._process = Process()
        self._kept: dict[str, tuple[int, bytes]] = {}

    def text(self, accept: str, now_ms: int) -> tuple[str, bytes]:
        """The content type, and all metrics in that format: OpenMetrics if the `Accept` header asks for it."""
        # The rest of the header is ignored: there are two formats.
        is_open = OPEN_METRICS in accept
        content_type = OPEN_METRICS_TYPE if is_open else PROMETHEUS_TYPE
        kept = self._kept.get(content_type)
        if kept is not None and now_ms - kept[0] < KEPT_MS:
            return content_type, kept[1]
        text = open_metrics_text(self.families()) if is_open else prometheus_text(self.families())
        self._kept[content_type] = (now_ms, text)
        return content_type, text

    def families(self) -> Iterator[Family]:
        """All metrics."""
        reading = self._take()
        for row in KAFKA:
            named = self._names(row.jmx, row.kind)
            if named is not None:
                yield from _families(row, *named, reading)
        for row in OWN:
            yield from _families(row, row.own, row.kind, None, reading)
        yield from self._process.families()


def _families(row: Row, name: str, kind: str, text_label: str | None, reading: Reading) -> Iterator[Family]:
    """text_label: that of a text value, which is then an information of its own; None for that of the row."""
    value = row.read(reading)
    if isinstance(value, Durations) and kind == GAUGE:
        # The exporter has percents: 50thPercentile, 999thPercentile.
        samples = [Sample(name, (("quantile", f"{quantile:0<4}"),), ms) for quantile, ms in quantiles(value)]
        yield Family(f"{name}_count_total", COUNTER, row.meaning, [Sample(f"{name}_count_total", (), value.count)])
    elif isinstance(value, Durations):
        samples = [Sample(name, (("quantile", str(quantile)),), ms) for quantile, ms in quantiles(value)]
        samples += (Sample(f"{name}_count", (), value.count), Sample(f"{name}_sum", (), value.sum_ms))
    elif isinstance(value, Histogram):
        samples = [
            Sample(f"{name}_bucket", (("le", "+Inf" if bound == math.inf else str(bound)),), count)
            for bound, count in value.cumulate()
        ]
        samples += (Sample(f"{name}_count", (), value.count), Sample(f"{name}_sum", (), value.sum))
    elif isinstance(value, list):
        samples = [Sample(name, tuple(sorted(labels)), number) for labels, number in value]
    elif isinstance(value, Text):
        name = name if text_label is None else f"{name}_info"
        samples = [Sample(name, ((text_label or value.label, value.value),), 1)]
    else:
        samples = [Sample(name, (), value)]
    yield Family(name, kind, row.meaning, samples)
