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
from controller.server.http.process import Process
from controller.server.http.rows import KAFKA, OWN, quantiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.server.http.reading import Reading
    from controller.server.http.rows import Row

# More frequent requests get the same text again.
KEPT_MS = 500
OPEN_METRICS = "application/openmetrics-text"


class Metrics:
    """Collects all metrics on request. take: reads the node."""

    def __init__(self, take: Callable[[], Reading]) -> None:
        self._take = take
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
        for row in (*KAFKA, *OWN):
            yield self._family(row, reading)
        yield from self._process.families()

    def _family(self, row: Row, reading: Reading) -> Family:
        name = row.name
        value = row.read(reading)
        if isinstance(value, Durations):
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
        else:
            samples = [Sample(name, (), value)]
        return Family(name, row.kind, row.meaning, samples)
