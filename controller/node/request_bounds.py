"""Limits on the size of one request: all requests share one thread, and the quorum's Fetches must not wait for seconds.

Kafka takes as long for large requests, but on a thread of its own, so only other operations wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import CLUSTER_ACTION
from controller.interface.refusals import error_response
from records.errors import ApiError, Error
from records.schema import is_struct, schema_of

if TYPE_CHECKING:
    from controller.core.apis import Api

# A frame. The largest request that is of use is a broker's AlterPartition: 50,000 partitions are 3 MiB.
REQUEST_BYTES_MAX = 4 << 20
# Below this nothing is counted.
COUNTED_BYTES_MIN = 64 << 10
# Entries of a user's request. Kafka refuses an operation of more than 10,000 records: whatever it accepts has fewer.
USER_ENTRIES_MAX = 30_000
# Above this the request gets no error response either, since most APIs repeat every entry in it; a broker's request may
# have twice as many.
ANSWERED_ENTRIES_MAX = 100_000
# This many numbers cost as much time as one entry.
NUMBERS_OF_ENTRY = 8


class TooLarge(Exception):
    """A request that gets no response: its connection is closed."""


def refusal_of_size(api: Api, request: Any, version: int, size: int) -> Any:
    """The response to a request with too many entries, None for other requests. size: bytes of its frame.

    Raises TooLarge.
    """
    if size < COUNTED_BYTES_MIN:
        return None
    is_of_user = api.needs != CLUSTER_ACTION
    limit = ANSWERED_ENTRIES_MAX if is_of_user else 2 * ANSWERED_ENTRIES_MAX
    count = entries(request, limit)
    if count > limit:
        raise TooLarge(f"{type(request).__name__} has more than {limit} entries")
    if not is_of_user or count <= USER_ENTRIES_MAX:
        return None
    text = f"The request has {count} entries; at most {USER_ENTRIES_MAX} are taken in one."
    return error_response(request, ApiError(Error.POLICY_VIOLATION, text), version)


def entries(message: Any, limit: int) -> int:
    """The elements of all arrays in a message, nested ones too, numbers by their cost. Stops counting above `limit`."""
    count = 0
    left = [message]
    while left and count <= limit:
        one = left.pop()
        for field in schema_of(type(one)).fields:
            value = getattr(one, field.name)
            if not value:
                continue
            if is_struct(field.element):
                if field.is_array:
                    count += len(value)
                    left.extend(value[: limit + 1])
                else:
                    left.append(value)
            elif field.is_array:
                count += len(value) if isinstance(value[0], (str, bytes)) else len(value) // NUMBERS_OF_ENTRY
    return count
