"""Tests whose processes have a wall clock of their own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from simulations.chaos.clocks import environment, library, move, remove_leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def clock_of_its_own(clock: Path) -> Iterator[None]:
    """Give each process that is started in this block the wall clock that `move` sets in this file.

    Skips the test if libfaketime is not installed.
    """
    path = library()
    if path is None:
        pytest.skip("libfaketime is not installed: apt-get install faketime")
    move(clock, 0)
    remove_leftovers()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(path, clock).items():
            patch.setenv(name, value)
        yield
    remove_leftovers()
