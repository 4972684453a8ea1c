"""What a node finds wrong with itself: its disk, its clock, its certificates, voters that it cannot reach.

Each is an event with a text of `controller/node/logging/problems.py`, and is shown while it lasts.
"""

from __future__ import annotations

import math
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from controller.node.logging.problems import text_of
from raft.state.roles import Follower, Leader

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

    from controller.node.logging.logs import Log
    from controller.node.node import Node

INTERVAL_S = 1.0
# A pending write that takes longer is reported. Disks that a quorum can use need milliseconds.
SLOW_S = 2.0
# Less free space than this, or than a tenth of a smaller file system, is reported.
FREE_BYTES_MIN = 256 << 20
FREE_SHARE_MIN = 10
# A wall clock that moves by more between two looks was set, and does not drift.
JUMP_MS = 1000
# How long before its end a certificate is reported.
EXPIRES_S = 14 * 24 * 3600
# Voters that cannot be reached are reported when this node has had no leader for this time.
LEADERLESS_S = 3.0
# The file system and the certificates are looked at once in this number of looks.
SELDOM = 10


class Certificate(NamedTuple):
    """A certificate that the node presents. expires_s: of the first of its chain that expires, in s since 1970."""

    listener: str
    file: str
    expires_s: int


class Space(NamedTuple):
    """Of a file system, in bytes."""

    free: int
    size: int


def space_of(directory: str) -> Space:
    """The space that this process may still use. Raises OSError."""
    status = os.statvfs(directory)
    return Space(status.f_bavail * status.f_frsize, status.f_blocks * status.f_frsize)


class SelfChecks:
    """Looks every second after `start`, and then reports what is wrong each time; the log counts the repeats."""

    def __init__(
        self,
        node: Node,
        log: Log,
        directory: str,
        *,
        wall_ms: Callable[[], int],
        certificates: Callable[[], Iterable[Certificate]],
        space: Callable[[str], Space] = space_of,
    ) -> None:
        """directory: of the metadata log; certificates: those in use now; space: raises OSError."""
        self._node = node
        self._log = log
        self._directory = directory
        self._wall_ms = wall_ms
        self._certificates = certificates
        self._space = space
        self._looks = 0
        self._offset_ms: int | None = None
        self._done = -1
        self._waits_since_s = math.inf
        self._leaderless_since_s = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self.look()
        self._timer = self._node.loop.call_later(INTERVAL_S, self.start)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def look(self) -> None:
        """Report what is wrong now, and end what is no longer."""
        now_s = self._node.loop.time()
        self._look_at_clock(now_s)
        is_slow = self._look_at_disk(now_s)
        self._look_at_voters(now_s)
        if self._looks % SELDOM == 0:
            self._look_at_certificates()
            # A disk that hangs might hold this thread as well.
            if not is_slow:
                self._look_at_space()
        self._looks += 1

    def _look_at_clock(self, now_s: float) -> None:
        offset_ms = self._wall_ms() - int(now_s * 1000)
        before_ms, self._offset_ms = self._offset_ms, offset_ms
        if before_ms is not None and abs(offset_ms - before_ms) > JUMP_MS:
            self._log("clock_jumped", by_ms=offset_ms - before_ms)

    def _look_at_disk(self, now_s: float) -> bool:
        asked, done = self._node.storage.jobs()
        if asked == done:
            self._waits_since_s = math.inf
        elif done != self._done or self._waits_since_s == math.inf:
            self._waits_since_s = now_s
        self._done = done
        is_slow = now_s - self._waits_since_s >= SLOW_S
        if is_slow:
            self._log("disk_slow", directory=self._directory, limit_s=int(SLOW_S))
        else:
            self._log.problems.end("disk_slow")
        return is_slow

    def _look_at_voters(self, now_s: float) -> None:
        replica = self._node.replica
        if isinstance(replica.role, Leader | Follower):
            self._leaderless_since_s = math.inf
        elif self._leaderless_since_s == math.inf:
            self._leaderless_since_s = now_s
        lost = sorted({voter.key.id for voter in replica.voters} & set(self._node.channels.failures()))
        needed = len(replica.voters) // 2 + 1
        reached = len(replica.voters) - len(lost)
        is_over = now_s - self._leaderless_since_s < LEADERLESS_S or reached >= needed
        if is_over or not replica.is_voter:  # an observer may know no voters yet
            self._log.problems.end("majority_missing")
            return
        names = ", ".join(map(str, lost))
        self._log("majority_missing", voters=len(replica.voters), needed=needed, reached=reached, lost=names)

    def _look_at_space(self) -> None:
        try:
            space = self._space(self._directory)
        except OSError:
            return
        limit = min(FREE_BYTES_MIN, space.size // FREE_SHARE_MIN)
        if space.free < limit:
            self._log("disk_nearly_full", directory=self._directory, limit=_size(limit))
        else:
            self._log.problems.end("disk_nearly_full")

    def _look_at_certificates(self) -> None:
        now_s = self._wall_ms() // 1000
        expired, near = [], []
        for one in self._certificates():
            fields = {"listener": one.listener, "file": one.file, "until": _text(one.expires_s)}
            if one.expires_s <= now_s:
                expired.append(fields)
            elif one.expires_s - now_s < EXPIRES_S:
                near.append(fields)
        problems = self._log.problems
        problems.end("certificate_expired", [text_of("certificate_expired", fields) for fields in expired])
        problems.end("certificate_expires", [text_of("certificate_expires", fields) for fields in near])
        for fields in expired:
            self._log("certificate_expired", **fields)
        for fields in near:
            self._log("certificate_expires", **fields)


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def _text(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
