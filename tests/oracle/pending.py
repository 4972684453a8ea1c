"""The differences that were found and are not mended yet, so that a run finds others. It must be empty.

Each row has its sequence in `found/`, which fails as a test once ours is mended: then the row goes, and the sequence
moves to `sequences/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.exceptions import Deliberate

if TYPE_CHECKING:
    from tests.oracle.exceptions import Met

LIST_REASSIGNMENTS = 46


def is_reverted_deletion(met: Met) -> bool:
    """The reassignment of a topic whose deletion was not committed is not listed when leadership was lost."""
    return met.asks(LIST_REASSIGNMENTS) and met.where.startswith("ListPartitionReassignments.topics (|")


PENDING: tuple[Deliberate, ...] = (Deliberate("reassignments-after-revert", False, is_reverted_deletion),)
