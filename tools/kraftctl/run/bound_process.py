"""A process that ends with its parent (Linux): run by path, as `bound_process.py PARENT COMMAND…`, it becomes COMMAND.

A program of its own, because code between fork and exec is not safe in a process with threads (preexec_fn of
`subprocess`). It imports only what Python has, so that it starts in some 10 ms.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Does not return: exits with 1 if the parent has ended, or if the signal cannot be asked for."""
    parent, *command = sys.argv[1:]
    # The setting survives exec. The kernel sends the signal when the *thread* ends that started this process.
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM.value, 0, 0, 0):
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    # A parent that ended before prctl sends no signal; this process is then a child of another one.
    if os.getppid() != int(parent):
        sys.exit(f"process {parent}, which started this one, has ended")
    os.execvp(command[0], command)  # noqa: S606 - the command of `kraftctl up`


if __name__ == "__main__":
    main()
