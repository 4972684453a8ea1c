"""An anomaly: one pattern, of one subject, from one time to another."""

from __future__ import annotations

from typing import NamedTuple


class Anomaly(NamedTuple):
    """kind: flapping broker, ISR storm or ghost voter. Times in ms of the Unix epoch. seen: a sentence with figures."""

    cluster: str
    kind: str
    subject: str
    start_ms: int
    end_ms: int
    seen: str
