"""The release of stock Kafka that is compared with, and ours as a node of the same release."""

from __future__ import annotations

import os
from typing import NamedTuple

from records.features.levels import KAFKA_4_3, KAFKA_4_4, Release
from tests.interop.stock import Stock


class Compared(NamedTuple):
    """One release of stock. ours: what a node of ours supports beside it, and its `kraft.release`.

    share: of the time that new sequences get, 1 for the first oracle.
    """

    version: str
    ours: Release
    share: float

    @property
    def stock(self) -> Stock:
        return Stock(self.version)


RELEASES = {row.version: row for row in (Compared("4.4.0", KAFKA_4_4, 0.8), Compared("4.3.1", KAFKA_4_3, 0.2))}
RELEASE = RELEASES[os.environ.get("KRAFT_ORACLE_RELEASE") or "4.4.0"]
KAFKA = RELEASE.ours
