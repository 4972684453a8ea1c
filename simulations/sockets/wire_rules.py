"""Rules of the wire between two nodes, under any fault.

W01: a request on the wire is one that a core sent, to that peer, in the highest common version, after ApiVersions was
answered, one at a time. W02: a server handles the frames of a connection as they were written, in order, each once,
each when the one before it is answered, and only valid requests. W03: answers leave in the order of the requests, one
for each, with its correlation id and the node's response. W04: the answer that a channel delivers for a request belongs
to that request. W05 and W06 are in `bounds`, W07 is in `envelopes`, W11 is in `closes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS
from records.codec import encode
from records.errors import Error
from records.messages.envelope import EnvelopeRequest
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.schema import schema_of
from records.wire import EncodeError
from simulations.sockets.closes import check_close
from simulations.sockets.envelopes import check_answer, check_large
from simulations.sockets.frames import API_VERSIONS, Answer, Asked, is_nonsense, is_unsupported
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from raft.interface.effects import Send
    from raft.interface.inputs import Answered
    from raft.network.requests import Incoming
    from simulations.sockets.channels import SocketChannels
    from simulations.sockets.network import SocketNetwork
    from simulations.sockets.tcp import TcpConnection
    from simulations.world.process import Process

_FIRST, _LAST = APIS[API_VERSIONS].versions
_KNOWN = ApiVersionsResponse.ApiVersion(api_key=API_VERSIONS, min_version=_FIRST, max_version=_LAST)
# The bytes after the correlation id in the answer to an ApiVersions of an unsupported version (KIP-511).
REFUSED = encode(ApiVersionsResponse(error_code=int(Error.UNSUPPORTED_VERSION), api_keys=(_KNOWN,)), 0)


class WireRules:
    """Called with each frame when it is written, handled, and delivered."""

    def __init__(self, network: SocketNetwork) -> None:
        self._network = network

    # When they are written

    def request_leaves(self, connection: TcpConnection, data: bytes) -> Asked | None:
        """A client has written a frame."""
        connection.written += 1
        frame = Asked(connection, data, connection.written)
        frame.sent_at = self._network.world.now
        channels = connection.opening.channels
        if channels is not None:
            self._is_meant(connection, channels, frame)
        connection.requests[frame.place] = frame
        self._network.messages += 1
        self._network.seen(connection, frame, False)
        return frame

    def _is_meant(self, connection: TcpConnection, channels: SocketChannels, frame: Asked) -> None:
        """W01."""
        node = f"node {channels.process.node.id}"
        if frame.message is None:
            raise Violation("W01", f"{node} writes {len(frame.data)} bytes that are no request")
        if connection.requests:
            waits = next(iter(connection.requests.values()))
            raise Violation("W01", f"{node} writes a {frame.name} where its {waits.name} is not answered yet")
        if type(frame.message) is ApiVersionsRequest and frame.version >= 0 and not connection.versions:
            return
        if self._is_of_channel(connection, frame):
            return
        if not connection.versions:
            raise Violation("W01", f"{node} writes a {frame.name} before it knows the peer's versions")
        effect = channels.asked.get(connection.opening.peer)
        if effect is None or not is_written_as(effect, frame.version, frame.payload):
            raise Violation(
                "W01", f"{node} writes a {frame.name} to {connection.opening.host} that no state machine asked for"
            )
        frame.number = effect.number
        channels.left[effect.peer] = frame
        known = connection.versions.get(type(frame.message))
        if frame.version != known:
            raise Violation("W01", f"{node} speaks {frame.name} v{frame.version}; both have v{known}")

    def _is_of_channel(self, connection: TcpConnection, frame: Asked) -> bool:  # noqa: ARG002 - of secured worlds
        """Whether a request is one that the channel makes itself."""
        return False

    def _is_of_gate(self, connection: TcpConnection, asked: Asked) -> bool:  # noqa: ARG002 - of secured worlds
        """Whether a request is answered before it reaches the node."""
        return False

    def answer_leaves(self, connection: TcpConnection, data: bytes) -> Answer | None:
        """A server has written a frame (W03)."""
        server = connection.server
        assert server is not None, "it was accepted"
        node = f"node {server.node.id}"
        asked = next(iter(connection.requests.values()), None)
        is_refused = asked is not None and is_unsupported(asked)
        if asked is not None and self._is_of_gate(connection, asked):
            asked.said = b""
            asked.taken_at = self._network.world.now
            is_refused = False
        if asked is None or not (asked.taken_at >= 0 or is_refused):
            raise Violation("W03", f"{node} writes {len(data)} bytes that answer no request")
        if int.from_bytes(data[:4], "big", signed=True) != asked.correlation_id:
            raise Violation("W03", f"{node} answers {asked.name} {asked.correlation_id} as {data[:4].hex()}")
        if asked.said is None and not is_refused:
            raise Violation("W03", f"{node} writes an answer to {asked.name} before its node has given one")
        if asked.said is not None and not data.endswith(asked.said):
            raise Violation(
                "W03", f"{node} writes {len(data)} bytes to {asked.name}; the node's answer has other bytes"
            )
        if is_refused and data[4:] != REFUSED:
            raise Violation(
                "W03", f"{node} is asked for its versions in {asked.version}, and does not list its own versions"
            )
        del connection.requests[asked.place]
        answer = asked.answer = Answer(data, asked)
        answer.sent_at = self._network.world.now
        self._look_at_oldest(connection)
        self._network.messages += 1
        self._network.seen(connection, answer, True)
        return answer

    def is_nonsense(self, connection: TcpConnection, frame: Asked) -> bool:  # noqa: ARG002 - the secured level uses it
        """Whether the server must close the connection because of a frame."""
        return is_nonsense(frame)

    # When they are handled

    def takes(self, process: Process, incoming: Incoming) -> Asked:
        """A server passes a request to its node (W02)."""
        connection: Any = process.connections.get(incoming.source.connection)
        node = f"node {process.node.id}"
        if connection is None:
            raise Violation("W02", f"{node} takes a request of connection {incoming.source.connection}, which is gone")
        place = incoming.source.correlation
        frame: Asked | None = connection.requests.get(place)
        if frame is None or frame.data != incoming.frame or is_nonsense(frame) or is_unsupported(frame):
            raise Violation("W02", f"{node} takes a frame that was not written as number {place} of its connection")
        if connection.taken >= place:
            raise Violation("W02", f"{node} takes frame {place} of a connection after frame {connection.taken}")
        waiting = next((one for one in connection.requests.values() if one.taken_at >= 0 and one.said is None), None)
        if waiting is not None:
            raise Violation("W02", f"{node} takes a {frame.name} before it has answered the {waiting.name} before it")
        connection.taken = place
        frame.taken_at = self._network.world.now
        self._look_at_oldest(connection)
        return frame

    def answers(self, process: Process, connection: TcpConnection, place: int, response: Any) -> None:
        """A node gives its answer to a request (W03)."""
        frame = connection.requests.get(place)
        if frame is None or frame.response is not None:
            text = f"node {process.node.id} sends a {type(response).__name__} for a request that does not wait"
            raise Violation("W03", text)
        frame.response = response
        frame.said = encode(response, frame.version)
        node = f"node {process.node.id}"
        if type(frame.message) is EnvelopeRequest:
            check_answer(node, frame.message, response)
        expected = getattr(connection.opening, "expects", {}).get(place)
        if expected is not None:
            check_large(node, expected, response)

    def closes(self, process: Process, connection: TcpConnection, silent_s: float) -> None:
        """A server closes a connection on which nothing has come for this long (W11)."""
        check_close(process, connection, silent_s)

    def _look_at_oldest(self, connection: TcpConnection) -> None:
        """Note the oldest request without an answer, for the checks of late answers."""
        oldest = next(iter(connection.requests.values()), None)
        connection.asked = oldest if oldest is not None and oldest.taken_at >= 0 else None
        if connection.asked is not None:
            connection.asked_at = oldest.taken_at  # type: ignore[union-attr]

    # When they are delivered

    def is_answer_to(self, channels: SocketChannels, event: Answered, asked: Send | None) -> None:
        """A channel delivers an answer (W04)."""
        node = f"node {channels.process.node.id}"
        frame = channels.left.get(event.peer)
        if asked is None or frame is None or asked.number != event.number:
            text = f"{node} delivers a response to request {event.number} to peer {event.peer}"
            raise Violation("W04", f"{text}; the open request is {None if asked is None else asked.number}")
        if frame.answer is None or frame.said != encode(event.response, frame.version):
            raise Violation(
                "W04", f"{node} delivers a response to its {frame.name} to peer {event.peer} that no node sent"
            )


def is_written_as(effect: Send, version: int, body: bytes) -> bool:
    """Whether a request of this version has these bytes."""
    try:
        return encode(effect.request, version) == body
    except EncodeError:
        return False


def agree_versions(answer: ApiVersionsResponse) -> dict[type, int]:
    """The highest common version, by request class."""
    from records.registry import request_class

    versions = {}
    for entry in answer.api_keys:
        cls = request_class(entry.api_key)
        served = schema_of(cls).served
        if served is not None and max(served[0], entry.min_version) <= min(served[1], entry.max_version):
            versions[cls] = min(served[1], entry.max_version)
    return versions


def answers_versions(asked: Asked) -> bool:
    """Whether its answer lists the served versions."""
    said = asked.response
    return isinstance(said, ApiVersionsResponse) and said.error_code == Error.NONE and asked.name == "ApiVersions"
