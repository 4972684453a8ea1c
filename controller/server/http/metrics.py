"""The text for Prometheus, from the table of metrics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prometheus_client import ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder

from controller.core.metrics import Durations
from controller.server.http.counted import Histogram
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
        self._process = ProcessCollector(registry=None)
        self._kept: dict[str, tuple[int, bytes]] = {}

    def text(self, accept: str, now_ms: int) -> tuple[str, bytes]:
        """The content type, and all metrics in that format: OpenMetrics if the `Accept` header asks for it."""
        # The rest of the header is ignored: there are two formats.
        is_open = OPEN_METRICS in accept
        encode, content_type = choose_encoder(OPEN_METRICS if is_open else "")
        kept = self._kept.get(content_type)
        if kept is not None and now_ms - kept[0] < KEPT_MS:
            return content_type, kept[1]
        text = encode(self)
        self._kept[content_type] = (now_ms, text)
        return content_type, text

    def collect(self) -> Iterator[Metric]:
        """All metrics; the encoders call this."""
        reading = self._take()
        for row in (*KAFKA, *OWN):
            yield self._family(row, reading)
        yield from self._process.collect()

    def _family(self, row: Row, reading: Reading) -> Metric:
        name = row.name
        # The encoder adds `_total` to the name of a counter.
        family = Metric(name.removesuffix("_total"), row.meaning, row.kind)
        value = row.read(reading)
        if isinstance(value, Durations):
            for quantile, ms in quantiles(value):
                family.add_sample(name, {"quantile": str(quantile)}, ms)
            family.add_sample(f"{name}_count", {}, value.count)
            family.add_sample(f"{name}_sum", {}, value.sum_ms)
        elif isinstance(value, Histogram):
            for bound, count in value.cumulated():
                family.add_sample(f"{name}_bucket", {"le": "+Inf" if bound == math.inf else str(bound)}, count)
            family.add_sample(f"{name}_count", {}, value.count)
            family.add_sample(f"{name}_sum", {}, value.sum)
        elif isinstance(value, list):
            for labels, number in value:
                family.add_sample(name, dict(labels), number)
        else:
            family.add_sample(name, {}, value)
        return family
