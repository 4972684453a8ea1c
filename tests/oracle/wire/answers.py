"""The comparison of the answers of the two nodes.

Equal bytes are equal. Where they are not, both are decoded in the version of the request, and compared field by field
after these rules:

1. Topic ids, which are random, are placeholders (`names.py`).
2. The node's own port is a word, as a number and in texts.
3. Of `TIMES` only the sign is compared: they are of the moment.
4. `SECRETS` are random; their lengths are compared.
5. The features' epoch of ApiVersions: stock returns the offset of the last change of a feature that it has published,
   ours that of the last committed record.
6. Arrays whose order in Kafka is that of a hash map: `UNORDERED` in `tests/oracle/compare.py`.
7. Of the batches in a Fetch offsets, epochs and attributes are compared: times and incarnations differ. The bytes of
   records are compared at the controller's level.
8. Of the text of a refused permission, which names a connection by its ports, the end is compared: the permission.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any, NamedTuple

from records.codec import decode_lenient, decode_prefix
from records.features.levels import CURRENT
from records.headers import RequestHeader, ResponseHeader, request_header_version, response_header_version
from records.messages.envelope import EnvelopeRequest, EnvelopeResponse
from records.printing.json_form import to_json
from records.registry import APIS, request_class, response_class
from records.schema import schema_of
from records.wire import DecodeError
from tests.oracle.compare import UNORDERED, sort_array
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from tests.oracle.wire.nodes import WireNode

API_VERSIONS, DESCRIBE_CONFIGS = 18, 32
TIMES = {
    "lastFetchTimestamp", "lastCaughtUpTimestamp", "issueTimestampMs", "expiryTimestampMs", "maxTimestampMs",
    "issueTimestamp", "expiryTimestamp", "maxTimestamp",
}  # fmt: skip
# Base offset, length of what follows, leader epoch, magic, CRC, attributes, delta of the last offset.
HEADER = Layout(">qiibIhi")
PREFIX_BYTES = 12
SECRETS = {"hmac", "tokenId"}


class Asked(NamedTuple):
    """A request in a frame. message: None where it cannot be decoded."""

    api_key: int
    version: int
    message: Any

    def __str__(self) -> str:
        name = APIS[self.api_key][0] if self.api_key in APIS else str(self.api_key)
        return f"{name} v{self.version}"


def asked(data: bytes) -> Asked:
    """The request in a frame without its length, as far as it can be read."""
    if len(data) < 4:
        return Asked(-1, -1, None)
    api_key = int.from_bytes(data[:2], "big", signed=True)
    version = int.from_bytes(data[2:4], "big", signed=True)
    if api_key not in APIS:
        return Asked(api_key, version, None)
    cls = request_class(api_key)
    low, high = schema_of(cls).versions
    if not low <= version <= high:
        return Asked(api_key, version, None)
    try:
        _, position = decode_lenient(RequestHeader, request_header_version(cls, version), data, 0)
        message, _ = decode_lenient(cls, version, data, position)
    except DecodeError:
        return Asked(api_key, version, None)
    return Asked(api_key, version, message)


def answer_of(request: Asked, data: bytes) -> tuple[int, Any, int]:
    """Correlation id, message and version of an answer; raises DecodeError where it is none to this request."""
    cls, version = response_class(request.api_key), request.version
    served = schema_of(cls).versions
    if request.api_key == API_VERSIONS and not served[0] <= version <= served[1]:
        version = 0
    header, position = decode_prefix(ResponseHeader, response_header_version(cls, version), data, 0)
    message, end = decode_prefix(cls, version, data, position)
    if end != len(data):
        raise DecodeError(cls.__name__, version, "", end, f"{len(data) - end} bytes are left")
    return header.correlation_id, message, version


def tree_of(request: Asked, data: bytes, node: WireNode) -> Any:
    """An answer as a tree of the compared fields; the bytes where they cannot be decoded."""
    if request.api_key not in APIS:
        return data.hex()
    try:
        correlation_id, message, version = answer_of(request, data)
    except (DecodeError, KeyError) as error:
        return f"{error}: {data.hex()}"
    tree = to_json(message, version)
    if request.api_key == DESCRIBE_CONFIGS and KAFKA is not CURRENT:
        # A node of ours has the documentation of the newest release.
        for config in (config for result in tree["results"] for config in result["configs"]):
            config["documentation"] = config.get("documentation") is not None
    for key, path in sorted(UNORDERED, reverse=True):
        if key == request.api_key:
            sort_array(tree, path)
    if request.api_key == DESCRIBE_CONFIGS:
        # So that the entries of one resource are compared, also where they differ.
        tree["results"].sort(key=lambda result: (result["resourceType"], result["resourceName"]))
    tree = plain(tree, str(node.port))
    if request.api_key == API_VERSIONS:
        tree.pop("finalizedFeaturesEpoch", None)
    if isinstance(message, EnvelopeResponse) and message.response_data and isinstance(request.message, EnvelopeRequest):
        inner = asked(request.message.request_data)
        tree["responseData"] = tree_of(inner, bytes(message.response_data), node)
    return {"correlation id": correlation_id, **tree}


def plain(value: Any, port: str) -> Any:
    """A tree without the fields that differ by nature."""
    if isinstance(value, dict):
        return {name: _field(name, item, port) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item, port) for item in value]
    if isinstance(value, str):
        if value.startswith("Request Request("):
            value = value.rpartition(" needs ")[2]
        # Not within a longer number, such as that of the largest double.
        return re.sub(rf"(?<!\d){port}(?!\d)", "<port>", value)
    return value


def _batches(data: bytes) -> Any:
    """The time-independent parts of each complete batch; an incomplete last batch is left out."""
    found = []
    position = 0
    while position + HEADER.size <= len(data):
        base_offset, length, epoch, _magic, _crc, attributes, last_delta = HEADER.unpack_from(data, position)
        position += PREFIX_BYTES + length
        if position <= len(data):
            found.append([base_offset, epoch, attributes, last_delta])
    return found


def _field(name: str, value: Any, port: str) -> Any:
    if name in TIMES:
        return value > 0
    if name in SECRETS:
        return len(value)
    if name == "records" and value:
        return _batches(a2b_base64(value))
    if name.lower().endswith("port") and str(value) == port:
        return "<port>"
    return plain(value, port)
