"""The content of an envelope, decoded as a node decodes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from controller.node.envelope import request_in, unwrap
from raft.network.requests import ENTRIES_MAX
from records.features.levels import CURRENT

if TYPE_CHECKING:
    from controller.core.apis import Api
    from controller.interface.inputs import RequestContext
    from records.features.levels import Release
    from records.headers import RequestHeader
    from records.messages.envelope import EnvelopeRequest


class Opened(NamedTuple):
    """header, api: of the client's request."""

    context: RequestContext
    header: RequestHeader
    request: Any
    api: Api


def open_envelope(envelope: EnvelopeRequest, context: RequestContext, release: Release = CURRENT) -> Opened:
    """The client's request. Raises ApiError."""
    forwarded = unwrap(envelope, context, release)
    return Opened(forwarded.context, forwarded.header, request_in(forwarded, ENTRIES_MAX), forwarded.api)
