"""Requests of admin clients that reach the controllers through a broker, in envelopes (KIP-590)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS
from raft.interface.effects import Send
from raft.interface.inputs import Answered, Failed
from records.codec import decode_prefix, encode
from records.data import DefaultPrincipalData
from records.errors import Error
from records.headers import RequestHeader, ResponseHeader, request_header_version, response_header_version
from records.messages.envelope import EnvelopeRequest
from records.registry import response_class
from records.schema import schema_of
from simulations.cluster.clients import admins
from simulations.sockets.channels import SocketChannels

if TYPE_CHECKING:
    from raft.interface.inputs import Input

# Admin clients have ids from `admins.FIRST_ID` on, below these.
OTHERS = admins.FIRST_ID + 100
ADDRESSES = (bytes((10, 0, 0, 9)), bytes(10) + b"\xff\xff" + bytes((10, 0, 0, 9)), bytes(15) + b"\1")


class ForwardedChannels(SocketChannels):
    """Channels that wrap requests in envelopes, if their API allows it; answers are unwrapped."""

    def send(self, effect: Send) -> None:
        api_key = schema_of(type(effect.request)).api_key
        assert api_key is not None, "it is a request"
        if APIS[api_key].forwardable:
            request = wrap(effect.request, api_key, effect.number)
            effect = Send(effect.peer, effect.number, effect.endpoint, request, effect.least_version)
        super().send(effect)

    def _came(self, event: Input) -> None:
        asked: Any = None if not isinstance(event, Answered) else self.asked.get(event.peer)
        self._wrapped = asked.request if asked is not None and isinstance(asked.request, EnvelopeRequest) else None
        super()._came(event)

    def unwrap(self, event: Answered) -> Answered | Failed:
        """The answer that the broker would send to its client, or that it would have to retry."""
        if self._wrapped is None:
            return event
        said = event.response
        if said.error_code != Error.NONE:
            return Failed(event.peer, event.number, Error.NOT_CONTROLLER)
        api_key, version = (int.from_bytes(self._wrapped.request_data[at : at + 2], "big") for at in (0, 2))
        cls = response_class(api_key)
        head, position = decode_prefix(ResponseHeader, response_header_version(cls, version), said.response_data, 0)
        assert head.correlation_id == event.number, "the answer in an envelope is for what was in the other"
        response, end = decode_prefix(cls, version, said.response_data, position)
        assert end == len(said.response_data), "nothing is left behind the answer in an envelope"
        return Answered(event.peer, event.number, response)


def is_forwarding(client_id: int) -> bool:
    """Whether a client is one that could connect to brokers only."""
    return admins.FIRST_ID <= client_id < OTHERS


def wrap(request: Any, api_key: int, number: int) -> EnvelopeRequest:
    """The envelope around a request, as a broker makes it."""
    version = APIS[api_key].versions[1]
    header = RequestHeader(
        request_api_key=api_key, request_api_version=version, correlation_id=number, client_id="forwarded"
    )
    data = encode(header, request_header_version(type(request), version)) + encode(request, version)
    principal = DefaultPrincipalData(type="User", name="admin", token_authenticated=False)
    return EnvelopeRequest(
        request_data=data,
        request_principal=bytes(2) + encode(principal, 0),
        client_host_address=ADDRESSES[number % len(ADDRESSES)],
    )
