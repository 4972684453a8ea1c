"""Requests that no controller of Kafka 4.x serves: a stock controller and one of ours treat each of them alike.

Every request that the codec knows, in every version that the stock controller does not announce, is sent to both, alone
on a connection: what comes back, and whether the connection is closed, must be equal. So must the answers to a Fetch of
a topic other than the metadata log, which a controller does serve.
"""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from records.codec import encode
from records.headers import RequestHeader, request_header_version
from records.messages.fetch import FetchRequest
from records.messages.versions import ApiVersionsRequest
from records.registry import APIS, request_class
from records.schema import default_of, replace, schema_of
from tests.interop.ask import ask
from tests.interop.cluster import OURS, STOCK, cluster
from tests.records.golden import wire_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.stock import Stock

API_VERSIONS = 18
FETCH = 1
VERSION_BEYOND = 32_000
UNKNOWN_KEYS = (-1, 95, 1000, 32_767)
# A closed connection is noticed at once; this is the wait for a response that does not come.
WAIT_S = 5.0


class Ports(NamedTuple):
    """Where the two controllers listen."""

    stock: int
    ours: int


class Seen(NamedTuple):
    """The view of a client. received: every byte; closed: whether the node closed the connection."""

    received: bytes
    closed: bool


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Ports]:
    root: Path = tmp_path_factory.mktemp("unserved")
    (root / STOCK).mkdir()
    (root / OURS).mkdir()
    with cluster(root / STOCK, stock, [STOCK], 0) as theirs, cluster(root / OURS, stock, [OURS], 0) as ours:
        yield Ports(theirs.controllers[1].port, ours.controllers[1].port)


def announced(port: int) -> dict[int, tuple[int, int]]:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    return {api.api_key: (api.min_version, api.max_version) for api in ask(port, request, 4).api_keys}


def framed(api_key: int, version: int, body: bytes, *, flexible: bool, correlation_id: int = 7) -> bytes:
    header = RequestHeader(
        request_api_key=api_key, request_api_version=version, correlation_id=correlation_id, client_id="test"
    )
    data = encode(header, 2 if flexible else 1) + body
    return struct.pack(">i", len(data)) + data


def frame(api_key: int, version: int) -> bytes:
    """A request as stock wrote it once, else the one whose fields have their defaults."""
    cls = request_class(api_key)
    written = [data for name, known, _, data in wire_rows("wire.tsv") if (name, known) == (cls.__name__, version)]
    body = written[0] if written else encode(default_of(cls), version)
    return framed(api_key, version, body, flexible=request_header_version(cls, version) == 2)


def seen(port: int, data: bytes, wait_s: float = WAIT_S) -> Seen:
    """Send bytes on a connection of their own, and read until the node closes it or has answered all."""
    received = bytearray()
    with socket.create_connection(("127.0.0.1", port), timeout=wait_s) as connection:
        connection.sendall(data)
        try:
            while not _is_whole(received):
                part = connection.recv(65_536)
                if not part:
                    return Seen(bytes(received), closed=True)
                received += part
        except ConnectionResetError:
            return Seen(bytes(received), closed=True)
        except TimeoutError:
            pass
    return Seen(bytes(received), closed=False)


def _is_whole(received: bytes | bytearray) -> bool:
    return len(received) >= 4 and len(received) >= 4 + int.from_bytes(received[:4], "big")


def unserved(known: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    """API key and version of every request that the codec knows and the node does not announce."""
    return [
        (api_key, version)
        for api_key in APIS
        for version in range(schema_of(request_class(api_key)).versions[1] + 1)
        if not known.get(api_key, (1, 0))[0] <= version <= known.get(api_key, (1, 0))[1]
        if version >= schema_of(request_class(api_key)).versions[0]
    ]


CLOSED = Seen(b"", closed=True)


def test_each_request_that_stock_does_not_serve_closes_the_connection_of_both(ports: Ports) -> None:
    requests = [one for one in unserved(announced(ports.stock)) if one[0] != API_VERSIONS]

    results = {one: (seen(ports.stock, frame(*one)), seen(ports.ours, frame(*one))) for one in requests}

    named = {APIS[api_key][0] for api_key, _ in requests}
    assert named >= {
        "Produce", "ListOffsets", "Metadata", "LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown",
        "OffsetCommit", "OffsetFetch", "FindCoordinator", "JoinGroup", "Heartbeat", "LeaveGroup", "SyncGroup",
        "DescribeGroups", "ListGroups", "InitProducerId", "ConsumerGroupHeartbeat", "ShareFetch",
        "StreamsGroupHeartbeat",
    }  # fmt: skip
    assert {one: both for one, both in results.items() if both != (CLOSED, CLOSED)} == {}


@pytest.mark.parametrize("api_key", UNKNOWN_KEYS)
def test_an_unknown_api_closes_the_connection_of_both(ports: Ports, api_key: int) -> None:
    data = framed(api_key, 0, b"", flexible=False)

    assert (seen(ports.stock, data), seen(ports.ours, data)) == (CLOSED, CLOSED)


def test_a_version_beyond_all_closes_the_connection_of_both(ports: Ports) -> None:
    for api_key in sorted(set(announced(ports.stock)) & set(announced(ports.ours)) - {API_VERSIONS}):
        for version in (VERSION_BEYOND, -1):
            data = framed(api_key, version, b"", flexible=True)

            assert (seen(ports.stock, data), seen(ports.ours, data)) == (CLOSED, CLOSED), (api_key, version)


@pytest.mark.parametrize("version", [None, VERSION_BEYOND, -1], ids=str)
def test_api_versions_of_an_unknown_version_is_answered_alike_in_version_0(ports: Ports, version: int | None) -> None:
    if version is None:  # the one after the last
        version = announced(ports.stock)[API_VERSIONS][1] + 1
    data = framed(API_VERSIONS, version, b"\x05test\x021\0", flexible=True)

    stock = seen(ports.stock, data)

    assert stock.received[:10] == struct.pack(">iih", len(stock.received) - 4, 7, 35)
    assert seen(ports.ours, data) == stock


def test_requests_before_an_unserved_one_are_answered_alike(ports: Ports) -> None:
    first = framed(API_VERSIONS, VERSION_BEYOND, b"\x05test\x021\0", flexible=True, correlation_id=1)
    data = first + frame(0, 9)

    def both(port: int) -> Seen:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
            connection.sendall(data)
            received = bytearray()
            while part := _received(connection):
                received += part
            return Seen(bytes(received), closed=True)

    assert both(ports.ours) == both(ports.stock)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionResetError:
        return b""


def fetches() -> list[tuple[str, Any]]:
    """Fetch requests of other things than the metadata log: by name and id, of two topics, of no topic …"""
    partition = default_of(FetchRequest.FetchTopic.FetchPartition)
    partition = replace(partition, partition=0, partition_max_bytes=1_048_576)
    topic = replace(
        default_of(FetchRequest.FetchTopic), topic="data", topic_id=bytes(15) + b"\7", partitions=(partition,)
    )
    log = replace(topic, topic="__cluster_metadata", topic_id=bytes(15) + b"\1")
    request = replace(default_of(FetchRequest), max_wait_ms=100, min_bytes=1, max_bytes=1_048_576)
    return [
        ("a data topic", replace(request, topics=(topic,))),
        ("the metadata log and a data topic", replace(request, topics=(log, topic))),
        ("partition 1 of the metadata log", replace(request, topics=(
            replace(log, partitions=(replace(partition, partition=1),)),))),
        ("two partitions of the metadata log", replace(request, topics=(
            replace(log, partitions=(partition, replace(partition, partition=1))),))),
        ("no topic", replace(request, topics=())),
        ("the name of the metadata log with another id", replace(request, topics=(
            replace(log, topic_id=bytes(15) + b"\7"),))),
        ("a session", replace(request, topics=(topic,), session_id=5, session_epoch=2)),
    ]  # fmt: skip


@pytest.mark.parametrize("version", range(4, 19))
def test_a_fetch_of_a_data_topic_is_answered_alike(ports: Ports, version: int) -> None:
    for what, request in fetches():
        data = framed(FETCH, version, encode(request, version), flexible=version >= 12)

        stock, ours = seen(ports.stock, data), seen(ports.ours, data)

        assert ours == stock, what
