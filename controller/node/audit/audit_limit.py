"""How many bytes of the audit log one principal may fill with requests that change nothing."""

from __future__ import annotations

BURST_BYTES = 1 << 20
# Some 40 MiB a day: the files of the default size keep the changes of four days beside it.
BYTES_PER_S = 512
# Of all principals together.
ALL_BURST_BYTES = 4 << 20
ALL_BYTES_PER_S = 2048
PRINCIPALS_MAX = 1000


class _Budget:
    """Bytes that may be written now. left: may be below 0 after a line that was larger."""

    __slots__ = ("_burst_bytes", "_bytes_per_s", "_filled_ms", "left", "omitted")

    def __init__(self, burst_bytes: int, bytes_per_s: int, now_ms: int) -> None:
        self.left: float = burst_bytes
        self.omitted = 0
        self._burst_bytes, self._bytes_per_s, self._filled_ms = burst_bytes, bytes_per_s, now_ms

    def has_some(self, now_ms: int) -> bool:
        passed_ms = max(now_ms - self._filled_ms, 0)
        self._filled_ms = now_ms
        self.left = min(self.left + passed_ms * self._bytes_per_s / 1000, self._burst_bytes)
        return self.left > 0


class AuditLimit:
    """Budgets by principal. A client without any right must not replace the lines of others with its refusals."""

    def __init__(self) -> None:
        self._all: _Budget | None = None
        self._of: dict[str, _Budget] = {}  # the one that is used last is last

    def may_write(self, principal: str, now_ms: int) -> bool:
        """Whether one more line of a principal may be written; if not, it is counted."""
        if self._all is None:
            self._all = _Budget(ALL_BURST_BYTES, ALL_BYTES_PER_S, now_ms)
        budget = self._of.pop(principal, None)
        if budget is None:
            if len(self._of) >= PRINCIPALS_MAX:
                del self._of[next(iter(self._of))]
            budget = _Budget(BURST_BYTES, BYTES_PER_S, now_ms)
        self._of[principal] = budget
        may = budget.has_some(now_ms) and self._all.has_some(now_ms)
        budget.omitted += not may
        return may

    def take_omitted(self, principal: str) -> int:
        """How many lines of a principal were left out since the last that has the count."""
        budget = self._of.get(principal)
        if budget is None:
            return 0
        omitted, budget.omitted = budget.omitted, 0
        return omitted

    def spend(self, principal: str, size: int) -> None:
        """A line that `may_write` let pass has so many bytes."""
        assert self._all is not None, "may_write comes first"
        self._all.left -= size
        self._of[principal].left -= size
