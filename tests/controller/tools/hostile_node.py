"""A node whose answers hold texts of an attacker: what a tool may meet before it has authenticated anybody."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from records.codec import encode
from records.headers import ResponseHeader
from records.messages.versions import ApiVersionsResponse
from records.registry import APIS, response_class
from records.schema import is_struct, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

API_VERSIONS = 18
NODE_ID = 1


def filled(cls: type, version: int, text: str, values: Mapping[str, Any]) -> Any:
    """A message with one element in each array and the text in each string. values: of fields by name, in its place."""
    made = {}
    for field in schema_of(cls).fields:
        if field.name in values:
            value = values[field.name]
        elif not field.at(version):
            value = field.default_of()
        elif is_struct(field.element):
            value = filled(field.element, version, text, values)
        elif field.element.name == "string":
            value = text
        elif field.element.name == "bool":
            value = False
        else:
            value = field.element.implicit
        is_whole = field.name in values or not field.at(version)
        made[field.name] = (value,) if field.is_array and not is_whole else value
    return cls(**made)


class HostileNode:
    """Answers each request, on a thread per connection. values: of fields of the answers by name.

    answers: functions that make the response to an API key in a version, in place of a filled one.
    """

    def __init__(self, text: str, values: Mapping[str, Any], answers: Mapping[int, Callable[[int], Any]]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._text = text
        self._values = {
            "host": "127.0.0.1", "port": self.port, "node_id": NODE_ID, "broker_id": NODE_ID, "controller_id": NODE_ID,
            "leader_id": NODE_ID, "replica_id": NODE_ID, "throttle_time_ms": 0, **values,
        }  # fmt: skip
        self._answers = answers
        self._errors: dict[int, int] = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def set_error(self, api_key: int, code: int) -> None:
        """Answer an API with an error, whose message is the text."""
        self._errors[api_key] = code

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as incoming:
            while len(size := incoming.read(4)) == 4:
                data = incoming.read(int.from_bytes(size, "big"))
                key, version = (int.from_bytes(data[at : at + 2], "big") for at in (0, 2))
                response = self._response(key, version)
                flexible = schema_of(type(response)).is_flexible(version) and key != API_VERSIONS
                header = ResponseHeader(correlation_id=int.from_bytes(data[4:8], "big"))
                body = encode(header, 1 if flexible else 0) + encode(response, version)
                connection.sendall(len(body).to_bytes(4, "big") + body)

    def _response(self, key: int, version: int) -> Any:
        if key in self._answers:
            return self._answers[key](version)
        if key == API_VERSIONS:
            ranges = {
                number: schema_of(response_class(number)).served
                for number in APIS
                if schema_of(response_class(number)).served
            }
            listed = ApiVersionsResponse.ApiVersion
            return ApiVersionsResponse(
                error_code=0,
                api_keys=tuple(
                    listed(api_key=number, min_version=low, max_version=high) for number, (low, high) in ranges.items()
                ),
            )
        values = {**self._values, "error_code": self._errors.get(key, self._values.get("error_code", 0))}
        return filled(response_class(key), version, self._text, values)


@contextmanager
def hostile_node(
    text: str, values: Mapping[str, Any] | None = None, answers: Mapping[int, Callable[[int], Any]] | None = None
) -> Iterator[HostileNode]:
    """A node that runs within the context."""
    node = HostileNode(text, values or {}, answers or {})
    try:
        yield node
    finally:
        node.close()
