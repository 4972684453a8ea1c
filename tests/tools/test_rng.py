"""Random numbers for tools."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from tools.rng import random_bits


@pytest.mark.parametrize(("count", "value"), [(1, 1), (8, 0xFF), (12, 0xFFF), (31, (1 << 31) - 1), (64, (1 << 64) - 1)])
def test_as_many_bits_as_asked_for_come_from_the_operating_system(count: int, value: int) -> None:
    with patch("tools.rng.urandom", lambda size: b"\xff" * size):
        assert random_bits(count) == value
