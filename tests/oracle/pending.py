"""The differences that were found and are not mended yet, so that a run finds others. It must become empty.

Each row has its sequence in `found/`, and goes when ours is mended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.commands import Request
from tests.oracle.exceptions import Deliberate

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.compare import Difference


def is_replication_factor(command: Command, difference: Difference) -> bool:
    """Part 7, row 2: partitions of one topic that have several replication factors."""
    of_request = isinstance(command, Request) and command.api_key == 37
    return of_request or difference.where.startswith("CreatePartitions.")


PENDING: tuple[Deliberate, ...] = (Deliberate("row-2-replication-factor", True, is_replication_factor),)
