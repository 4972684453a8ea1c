"""Filters on the records of a source: which clusters, ranges and rows they select."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline.source.reading import Wanted
from records.registry import METADATA_RECORDS

if TYPE_CHECKING:
    from pipeline.source.ranges import Finding, Plan, Range

_END = (1 << 63) - 1
_TYPES = {name: number for number, (name, _) in METADATA_RECORDS.items()}


@dataclass(slots=True)
class Selection:
    """All filters together. clusters, types: None for all; offsets: low inclusive, high exclusive; times in ms,
    both inclusive.
    """

    clusters: set[str] | None = None
    types: set[int] | None = None
    low: int = 0
    high: int = _END
    min_time_ms: int = -_END
    max_time_ms: int = _END

    @property
    def wants_findings(self) -> bool:
        """Whether findings that belong to no cluster may be wanted."""
        return self.clusters is None and self.types is None

    @property
    def row_filter(self) -> Wanted:
        """The filter on rows."""
        return Wanted((self.low, self.high), None if self.types is None else frozenset(self.types))

    def take(self, name: str, sign: str, values: list[Any]) -> bool:
        """Add a filter: a column, one of = < <= > >=, and the values of which the column has one.

        Returns whether the filter is applied completely here; if not, rows that do not match may be returned, but no
        matching row is lost.
        """
        if name == "cluster" and sign == "=":
            self.clusters = _both(self.clusters, {str(value) for value in values})
            return True
        if name == "type" and sign == "=":
            self.types = _both(self.types, {int(value) for value in values})
            return True
        if name == "name" and sign == "=" and all(value in _TYPES for value in values):
            self.types = _both(self.types, {_TYPES[value] for value in values})
            return False
        if name == "offset":
            self._narrow(sign, [int(value) for value in values])
            # Findings have offsets too, which a range does not know.
            return False
        if name == "time":
            self._time(sign, [int(value) for value in values])
        return False

    def _narrow(self, sign: str, values: list[int]) -> None:
        low, high = {
            "=": (min(values), max(values) + 1),
            ">": (max(values) + 1, _END),
            ">=": (max(values), _END),
            "<": (0, min(values)),
            "<=": (0, min(values) + 1),
        }[sign]
        self.low, self.high = max(self.low, low), min(self.high, high)

    def _time(self, sign: str, values: list[int]) -> None:
        if sign in ("=", ">", ">="):
            self.min_time_ms = max(self.min_time_ms, min(values))
        if sign in ("=", "<", "<="):
            self.max_time_ms = min(self.max_time_ms, max(values) + 1)

    def of(self, plan: Plan) -> tuple[list[Range], list[Finding]]:
        """The parts of a plan that may have matching rows."""
        if self.clusters is not None and plan.cluster_id not in self.clusters:
            return [], []
        ranges = [part for part in plan.ranges if self._may_hold(part)]
        return ranges, [] if self.types is not None else list(plan.findings)

    def _may_hold(self, part: Range) -> bool:
        if part.max_time_ms < self.min_time_ms or part.min_time_ms > self.max_time_ms:
            return False
        if part.checkpoint_end_offset >= 0:
            return self.low < part.checkpoint_end_offset <= self.high
        return part.base_offset < self.high and part.end_offset > self.low


def _both(known: set[Any] | None, given: set[Any]) -> set[Any]:
    return given if known is None else known & given
