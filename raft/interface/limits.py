"""The largest values that the core works with."""

from __future__ import annotations

NEVER = 1 << 62
"""A deadline that is never reached, in ms."""

EPOCH_MAX = (1 << 31) - 2
"""The highest epoch that a replica accepts or raises its own to, so that it fits an int32."""

OVERRIDE_PEER = -1_000_000
"""The override of a voter is the peer with this number, minus the id of the voter; bootstrap servers are -2, -3 …"""
