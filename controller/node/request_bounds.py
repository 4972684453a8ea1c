"""Limits on the size of one request, for the sake of memory: stock Kafka knows a frame's alone.

A decoded entry takes some 100 bytes, 170 at most, so a request at these limits some 400 MiB, and its answer as much.
The entries are counted while they are decoded, so that a frame of 100 MiB with elements of a byte takes no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.core.apis import APIS, Kind
from controller.node.long_requests import may_be_long

if TYPE_CHECKING:
    from controller.interface.inputs import RequestContext

# APIs whose requests may have as many bytes as `socket.request.max.bytes` allows: they are decoded on the thread of
# long requests, or contain one that is.
LARGE_APIS = frozenset(key for key, api in APIS.items() if may_be_long(api) or api.kind is Kind.ENVELOPE)
# The bytes of a frame of the others, which are decoded on the loop.
SMALL_BYTES_MAX = 4 << 20
# The bytes of unfinished frames, beside one of the largest size.
HELD_BYTES_MAX = 32 << 20
# The entries of a request. An AlterPartition of 500,000 partitions with three members each has 2,000,000, and topics.
USER_ENTRIES_MAX = 500_000
BROKER_ENTRIES_MAX = 2_500_000


def entries_max(context: RequestContext) -> int:
    """How many entries a long request may have."""
    return BROKER_ENTRIES_MAX if context.is_broker else USER_ENTRIES_MAX
