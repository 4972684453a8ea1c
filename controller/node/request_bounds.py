"""Limits on the size of one request, for the sake of memory and of the one thread: stock Kafka knows a frame's alone.

The entries are counted while they are decoded. An entry of a broker takes some 200 bytes then, one of a user that fills
its frame with text at most some 1,000: a request at its limits takes 200 MiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.node.request_parts import ALTER_PARTITION

if TYPE_CHECKING:
    from controller.interface.inputs import RequestContext

# The bytes of a frame.
SMALL_BYTES_MAX = 4 << 20
# The APIs whose frames may be larger: a broker that leads 80,000 partitions reports them in one AlterPartition, and one
# of 4 MiB that is refused would be sent again and again. The entries allow 250,000 partitions with three members each,
# and their topics.
LARGE_APIS = frozenset({ALTER_PARTITION})
LARGE_BYTES_MAX = 16 << 20
BROKER_ENTRIES_MAX = 1_010_000
# Stock refuses operations of more than 10,000 records.
USER_ENTRIES_MAX = 100_000
# The bytes of unfinished and waiting frames, beside one of the largest size: a buffer that grows takes an eighth more,
# and a node with 128 MiB must bear it.
HELD_BYTES_MAX = 24 << 20


def entries_max(context: RequestContext) -> int:
    """How many entries a long request may have."""
    return BROKER_ENTRIES_MAX if context.is_broker else USER_ENTRIES_MAX
