"""A value that comes from elsewhere, fetched again on a thread of its own: the node never waits for it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from raft.security.http_fetch import FetchFailed

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Refreshed(Generic[T]):
    """The value that `fetch` gave last. A failure is logged once for each reason, and the last value stays in use.

    fetch: blocks, raises FetchFailed; wait_s: how long a value is kept; backoff_s: the first and the greatest time
    between attempts; note: takes an event for the log.
    """

    def __init__(
        self,
        what: str,
        fetch: Callable[[], T],
        *,
        wait_s: Callable[[T], float],
        backoff_s: tuple[float, float],
        note: Callable[[str, dict[str, Any]], None],
    ) -> None:
        """Fetches for the first time. Raises FetchFailed."""
        self.value = fetch()
        self._what = what
        self._fetch = fetch
        self._wait_s = wait_s
        self._backoff_s = backoff_s
        self._note = note
        self._refused = ""
        self._changed = threading.Condition()
        self._is_hurried = False
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name=what, daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        """Fetch soon, because the present value does not do. Does not wait."""
        with self._changed:
            self._is_hurried = True
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread; a fetch that is under way ends by itself."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        wait_s = self._wait_s(self.value)
        failures = 0
        while self._pause(wait_s):
            try:
                self.value = self._fetch()
            except FetchFailed as error:
                wait_s = min(self._backoff_s[0] * (1 << min(failures, 20)), self._backoff_s[1])
                failures += 1
                if str(error) != self._refused:
                    self._refused = str(error)
                    self._note("security_fetch_failed", {"what": self._what, "reason": self._refused})
                continue
            failures = 0
            wait_s = self._wait_s(self.value)
            if self._refused:
                self._refused = ""
                self._note("security_fetch_resumed", {"what": self._what})

    def _pause(self, wait_s: float) -> bool:
        """Whether to continue, when the time is over or `hurry` was called."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_hurried or self._is_closed, max(wait_s, 0.0))
            self._is_hurried = False
            return not self._is_closed
