"""Texts of an attacker: in the answers of a node, which may come before it is authenticated, and in a log."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from records.batch import build_batch
from records.codec import encode
from records.frame import encode_record
from records.headers import ResponseHeader
from records.messages.versions import ApiVersionsResponse
from records.plain_text import plain_text
from records.registry import APIS, find_class, response_class
from records.schema import is_struct, schema_of
from tests.tools.offline.stock_directories import SEGMENT, stock_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

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
            value = b"" if field.element.name == "records" else field.element.implicit
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
            feature = ApiVersionsResponse.SupportedFeatureKey(name=self._text, min_version=0, max_version=1)
            listed_apis = tuple(
                listed(api_key=number, min_version=low, max_version=high) for number, (low, high) in ranges.items()
            )
            return ApiVersionsResponse(error_code=0, api_keys=listed_apis, supported_features=(feature,))
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


# Clears the screen, sets the title, forges a line, colours by the one-byte CSI of C1, turns the direction of writing,
# and separates lines as Unicode does.
HOSTILE = "x\x1b[2J\x1b]0;t\x07\r\n\tforged: y\x9b31m\u202ez\u2028w"
SHOWN = plain_text(HOSTILE)
_TOPIC_ID = b"hostile-topic-id"
_RECORDS = (
    ("TopicRecord", {}),
    ("PartitionRecord", {"replicas": (1,), "isr": (1,), "leader": 1}),
    ("RegisterBrokerRecord", {}),
    ("RegisterControllerRecord", {"controller_id": 77}),
    ("ConfigRecord", {"resource_type": 2}),
    ("ConfigRecord", {"resource_type": 4, "resource_name": "1"}),
    ("ClientQuotaRecord", {"entity_type": "user"}),
    ("AccessControlEntryRecord", {"resource_type": 2, "pattern_type": 3, "operation": 2, "permission_type": 3}),
    ("UserScramCredentialRecord", {"mechanism": 1}),
    ("DelegationTokenRecord", {"owner": f"User:{HOSTILE}", "requester": f"User:{HOSTILE}"}),
    ("FeatureLevelRecord", {"feature_level": 1}),
)  # fmt: skip


def hostile_directory(tmp_path: Path) -> Path:
    """A log directory of stock with records at its end that have hostile names."""
    directory = stock_directory(tmp_path)
    values = []
    for name, given in _RECORDS:
        cls = find_class(name)
        version = schema_of(cls).versions[1]
        record = filled(cls, version, HOSTILE, {"topic_id": _TOPIC_ID, "broker_id": 1, **given})
        values.append(encode_record(record, version))
    with (directory / SEGMENT).open("ab") as file:
        file.write(build_batch(values, base_offset=1039, leader_epoch=2, timestamp_ms=1_795_300_000_000))
    return directory


def obeyed(text: str) -> list[str]:
    """What a terminal would obey in a text, or take for a line of ours; empty where it is harmless."""
    controls = sorted({each for each in text if not each.isprintable() and each not in "\n\t"})
    return [*map(ascii, controls), *(line for line in text.split("\n") if line.lstrip().startswith("forged"))]
