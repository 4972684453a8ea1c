"""The largest values that the core works with."""

from __future__ import annotations

NEVER = 1 << 62
"""A deadline that is never reached, in ms."""

EPOCH_MAX = (1 << 31) - 2
"""The highest epoch that a replica accepts or raises its own to, so that it fits an int32."""
