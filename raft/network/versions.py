"""The version of an API to use with a peer: the highest that both sides support (KIP-35)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.schema import schema_of
from records.wire import EncodeError

if TYPE_CHECKING:
    from records.messages.versions import ApiVersionsResponse


def ranges_of(response: ApiVersionsResponse) -> dict[int, tuple[int, int]]:
    """First and last version that a peer serves, of each API."""
    return {entry.api_key: (entry.min_version, entry.max_version) for entry in response.api_keys}


def common_version(cls: type, theirs: dict[int, tuple[int, int]], least: int = 0) -> int:
    """The highest version of a request class that both sides have; raises EncodeError where there is none, or it is
    below `least`.
    """
    schema = schema_of(cls)
    ours: Any = schema.served
    assert ours is not None, f"{schema.name} is not served any more"
    assert schema.api_key is not None, f"{schema.name} is no request"
    range_ = theirs.get(schema.api_key)
    if range_ is None:
        raise EncodeError(f"the peer does not serve {schema.name}")
    version = min(ours[1], range_[1])
    first = max(ours[0], least)
    if version < max(first, range_[0]):
        raise EncodeError(
            f"the peer serves {schema.name} v{range_[0]} to v{range_[1]}, ours are v{first} to v{ours[1]}"
        )
    return int(version)
