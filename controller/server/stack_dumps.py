"""The stacks of all threads at SIGQUIT, as `kill -3` of a JVM has them: also of a node whose event loop hangs.

The handler is C code of faulthandler: it needs neither the loop nor the interpreter's lock. It writes the names of
files and functions, and no values, to a file in memory (memfd) that `kraftctl debug bundle` reads through `/proc`. No
client reaches it: only the node's own user and root can send a signal to a process, and open its files.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

NAME = "kraft-quorum-stacks"
# Some 30 dumps of a node. The file cannot grow; the loop begins anew at its start when half of it is used.
BYTES = 256 << 10
INTERVAL_S = 10.0


class StackDumps:
    """Dumps to a file of its own until `close`. handle: of the file; -1 where the system has no such files."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.handle = _open()
        self._timer: asyncio.TimerHandle | None = None
        if self.handle >= 0:
            faulthandler.register(signal.SIGQUIT, self.handle, all_threads=True)
            self._rewind()

    def close(self) -> None:
        """SIGQUIT ends the process again, as it does by default."""
        if self._timer is not None:
            self._timer.cancel()
        if self.handle >= 0:
            faulthandler.unregister(signal.SIGQUIT)
            os.close(self.handle)
            self.handle = -1

    def _rewind(self) -> None:
        if os.lseek(self.handle, 0, os.SEEK_CUR) > BYTES // 2:
            os.lseek(self.handle, 0, os.SEEK_SET)
        self._timer = self._loop.call_later(INTERVAL_S, self._rewind)


def _open() -> int:
    """A file of a fixed size in memory, of which no page is used yet; -1 without one: a node runs without dumps."""
    if sys.platform != "linux":
        return -1
    import fcntl

    try:
        handle = os.memfd_create(NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        return -1
    os.truncate(handle, BYTES)
    fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return handle
