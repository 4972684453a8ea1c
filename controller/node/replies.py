"""Answers on their way out of the node: to a client, into an envelope, to the node itself, or by way of the thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface.refusals import unencodable_answer
from controller.node.envelope import seal
from records.messages.envelope import EnvelopeResponse
from records.wire import EncodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from controller.interface.inputs import RequestContext
    from raft.interface.inputs import Source
    from raft.network.server import Server
    from records.headers import RequestHeader


class Replies:
    """Sends the answers of one node. envelopes: the headers of the requests in envelopes that are not answered yet."""

    def __init__(self) -> None:
        self.envelopes: dict[Source, RequestHeader] = {}
        self._server: Server
        self._answer_long: Callable[[RequestContext, Any, RequestHeader | None], None]
        self._own: Mapping[int, Callable[[Source, Any], None]] = {}

    def begin(
        self,
        server: Server,
        own: Mapping[int, Callable[[Source, Any], None]],
        answer_long: Callable[[RequestContext, Any, RequestHeader | None], None],
    ) -> None:
        """Start with the node's parts, once all are made. own: by connection number, who takes the answers to requests
        of the node to itself; answer_long: encodes and sends the answer to a long one.
        """
        self._server, self._own, self._answer_long = server, own, answer_long

    def send(self, source: Source, response: Any, context: RequestContext | None = None) -> None:
        """Answer a request. context: None for a request of the quorum."""
        if source.connection in self._own:
            self._own[source.connection](source, response)
            return
        header = self.envelopes.pop(source, None)
        if context is not None and context.is_long:
            self._answer_long(context, response, header)
            return
        error = self._write(source, header, response)
        if error is not None and context is not None:
            error = self._write(source, header, unencodable_answer(context))
        if error is not None:
            self._server.disconnect(source, f"the answer cannot be written: {error}")

    def _write(self, source: Source, header: RequestHeader | None, response: Any) -> EncodeError | None:
        """Write a response, into an envelope where there is a header; returns why it cannot be encoded."""
        try:
            self._server.reply(source, response if header is None else seal(header, response))
        except EncodeError as error:
            return error
        return None

    def refuse_envelope(self, source: Source, error_code: int) -> None:
        """Answer an envelope whose request cannot be read."""
        self.envelopes.pop(source, None)
        self._server.reply(source, EnvelopeResponse(response_data=None, error_code=error_code))

    def drop(self, closed: AbstractSet[int]) -> None:
        """Forget the envelopes of closed connections."""
        for source in [source for source in self.envelopes if source.connection in closed]:
            del self.envelopes[source]
