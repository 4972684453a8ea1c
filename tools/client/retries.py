"""When a request that failed is sent again: the one policy of the tools' clients."""

from __future__ import annotations

import time

NEVER_ENDS = (1 << 31) - 1
# The greatest power of two by which a backoff is multiplied.
DOUBLED_MAX = 16


class Retries:
    """The attempts at one thing: a pause after each that fails, until the time or the attempts are used up.

    seconds: the time of all attempts. backoff_s: the first pause, which doubles up to backoff_max_s; without that, all
    pauses are equal. count_max: attempts after the first. A backoff has no random part.
    end: when the time is over, by the monotonic clock. failures: the attempts that have failed.
    """

    def __init__(
        self, seconds: float, backoff_s: float, backoff_max_s: float = 0.0, count_max: int = NEVER_ENDS
    ) -> None:
        self.end = time.monotonic() + seconds
        self.failures = 0
        self._backoff_s = backoff_s
        self._backoff_max_s = max(backoff_s, backoff_max_s)
        self._count_max = count_max

    @property
    def left_s(self) -> float:
        """The time that is left, in s; 0 when it is over."""
        return max(0.0, self.end - time.monotonic())

    def pause(self) -> bool:
        """Note that an attempt has failed, and wait until the next one; False at once if there is none."""
        self.failures += 1
        left_s = self.left_s
        if self.failures > self._count_max or not left_s:
            return False
        backoff_s = self._backoff_s * 2.0 ** min(self.failures - 1, DOUBLED_MAX)
        time.sleep(min(backoff_s, self._backoff_max_s, left_s))
        return True
