"""Limits of production that are made smaller here, so that short runs reach them."""

from __future__ import annotations

from raft.storage import prefix_keeper, segment

COMMITTED_PREFIX_BYTES = 4000
MARK_BYTES = 1000
_PRODUCTION = prefix_keeper.INTERVAL_BYTES, prefix_keeper.FIRST_BYTES, segment._MARK_BYTES  # noqa: SLF001


def shrink() -> None:
    """Write the committed prefix file after kilobytes instead of megabytes, in this process, from now on."""
    prefix_keeper.INTERVAL_BYTES = prefix_keeper.FIRST_BYTES = COMMITTED_PREFIX_BYTES
    segment._MARK_BYTES = MARK_BYTES  # noqa: SLF001 - a number, and no test of production reads it


def restore() -> None:
    """Use the limits of production in this process, from now on."""
    prefix_keeper.INTERVAL_BYTES, prefix_keeper.FIRST_BYTES, segment._MARK_BYTES = _PRODUCTION  # noqa: SLF001
