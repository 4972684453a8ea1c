"""The bodies of the service `kraft.v1.Metadata`: msgpack maps, described in docs/watch.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgpack

from controller.server.grpc.bodies import BadBody, read_body
from controller.server.grpc.filters import Filter

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUEST_BYTES_MAX = 64 << 10
OFFSET_MAX = (1 << 63) - 1

_packer = msgpack.Packer(autoreset=False)


class BadRequest(ValueError):
    """The request is not valid; the text says what is accepted."""


class Asked:
    """A request. from_offset: None for the image first; cluster_id: None for any cluster; allow_stale: whether a node
    without contact to the quorum may serve it; form: of the request, and so of the responses.
    """

    __slots__ = ("allow_stale", "cluster_id", "filter", "form", "from_offset")

    def __init__(self, body: bytes, keys: Sequence[str]) -> None:
        """keys: those of this method. Raises BadRequest, BadFilter."""
        try:
            self.form, asked = read_body(body)
        except BadBody as error:
            raise BadRequest(str(error)) from None
        if not isinstance(asked, dict):
            raise BadRequest(f"the request is {_quote(asked)}; it must be a map")
        unknown = [key for key in asked if key not in keys]
        if unknown:
            raise BadRequest(f"the request has {_quote(unknown[0])}; known keys: {', '.join(keys)}")
        self.from_offset: int | None = _check(asked, "from_offset", int, f"an offset from 0 to {OFFSET_MAX}, or nil")
        if self.from_offset is not None and not 0 <= self.from_offset <= OFFSET_MAX:
            raise BadRequest(f"from_offset is {self.from_offset}; it must be an offset from 0 to {OFFSET_MAX}")
        self.cluster_id: str | None = _check(asked, "cluster_id", str, "a string, or nil")
        self.allow_stale: bool = bool(_check(asked, "allow_stale", bool, "true, false or nil"))
        self.filter = Filter(asked.get("filter"))


def _check(asked: dict[str, Any], key: str, kind: type, accepted: str) -> Any:
    value = asked.get(key)
    if value is not None and type(value) is not kind:
        raise BadRequest(f"{key} is {_quote(value)}; it must be {accepted}")
    return value


def message(fields: dict[str, Any], changes: Sequence[bytes]) -> bytes:
    """A message with packed changes. fields: the keys before them."""
    packer = _packer
    packer.pack_map_header(len(fields) + 1)
    for key, value in fields.items():
        packer.pack(key)
        packer.pack(value)
    packer.pack("changes")
    packer.pack_array_header(len(changes))
    head = packer.bytes()
    packer.reset()
    return b"".join([head, *changes])


def _quote(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
