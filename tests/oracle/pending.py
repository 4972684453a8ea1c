"""The differences that were found and are not mended yet, so that a run finds others. It must become empty.

Each row has its sequence in `found/`, and goes when ours is mended.
"""

from __future__ import annotations

from tests.oracle.compare import Difference
from tests.oracle.exceptions import Deliberate

EMPTY_MESSAGE = {"UnregisterBroker.errorMessage", "ControllerRegistration.errorMessage",
                 "AlterPartitionReassignments.errorMessage"}  # fmt: skip


def is_empty_message(difference: Difference) -> bool:
    """Part 7, row 10: success has the message "" in stock, null in ours."""
    return difference.where in EMPTY_MESSAGE and difference.ours is None and difference.stock == ""


PENDING: tuple[Deliberate, ...] = (Deliberate("row-10-empty-message", False, lambda _, d: is_empty_message(d)),)
