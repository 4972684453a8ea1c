"""The simulated channel behaves as that of `raft.network`."""

from __future__ import annotations

import pytest

from raft.network import channel as real
from simulations.world import channels as simulated


@pytest.mark.parametrize("name", ["BACKOFF_MS", "BACKOFF_MS_MAX", "CONNECT_MS_MAX", "VERSIONS_MS_MAX"])
def test_the_simulated_channel_has_the_same_timeouts(name: str) -> None:
    assert getattr(simulated, name) == getattr(real, name)
