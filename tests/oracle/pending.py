"""The differences that were found and are not mended yet, so that a run finds others. It must be empty.

Each row has its sequence in `found/`, which fails as a test once ours is mended: then the row goes, and the sequence
moves to `sequences/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.oracle.exceptions import Deliberate

PENDING: tuple[Deliberate, ...] = ()
