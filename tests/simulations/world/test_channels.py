"""The simulated channel does as that of the network does."""

from __future__ import annotations

import pytest

from raft.network import channel as real
from simulations.world import channels as simulated


@pytest.mark.parametrize("name", ["BACKOFF_MS", "BACKOFF_MS_MAX", "CONNECT_MS_MAX", "VERSIONS_MS_MAX"])
def test_it_waits_as_long(name: str) -> None:
    assert getattr(simulated, name) == getattr(real, name)
