"""The limit on open files of this process, and how many of them may be connections: the log needs the rest."""

from __future__ import annotations

from typing import NamedTuple

# Linux keeps at most so many by default (net.core.somaxconn). A broker whose SYN is dropped because the backlog is full
# tries again after 1, 3 and 7 s, and is fenced after 9 s. All waiting connections may become files at once.
BACKLOG_MAX = 4096
# A stock broker has up to five to the active controller: 10,000 brokers, and tools.
CONNECTIONS_MAX = 64_000
# Segments, snapshots, other listeners, connections to peers.
OTHERS = 256


class Shares(NamedTuple):
    """connections: that may be open; backlog: that may wait to be accepted."""

    connections: int
    backlog: int


def shares(files: int) -> Shares:
    """How a limit of this many files is divided; of a small one, connections still get half."""
    backlog = min(BACKLOG_MAX, max(files // 8, 1))
    return Shares(min(max(files // 2, files - backlog - OTHERS), CONNECTIONS_MAX), backlog)


def raise_file_limit() -> int:
    """Raise the limit on open files to the maximum that the system allows; returns it."""
    try:
        import resource
    except ImportError:  # not a POSIX system
        return 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # macOS says that it allows more than it does
            return soft
    return hard if hard != resource.RLIM_INFINITY else 1 << 20
