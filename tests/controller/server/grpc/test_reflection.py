"""Server reflection, as a stock client asks for it: the bytes of the messages, and the service of a real node."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from controller.server.grpc import health, metadata, reflection
from controller.server.grpc.descriptors import FILES, encode_file, symbols_of
from controller.server.grpc.protobuf import BadMessage, delimited_field, fields, number
from tests.controller.server.processes import free_port, running

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTO = Path(__file__).parents[4] / "docs" / "watch" / "metadata.proto"


def read(message: bytes) -> dict[int, list[Any]]:
    """The values of each field of a message."""
    found: dict[int, list[Any]] = {}
    for field, value in fields(message):
        found.setdefault(field, []).append(value)
    return found


def descriptor(name: str) -> dict[int, list[Any]]:
    """The FileDescriptorProto that declares a symbol."""
    (found,) = read(read(reflection.answer(delimited_field(reflection.BY_SYMBOL, name)))[4][0])[1]
    return read(found)


def test_every_service_of_the_port_is_listed() -> None:
    request = delimited_field(1, "localhost:9646") + delimited_field(reflection.SERVICES, "*")

    answer = read(reflection.answer(request))

    listed = [read(service)[1][0].decode() for service in read(answer[6][0])[1]]
    assert (answer[1], answer[2]) == ([b"localhost:9646"], [request])
    assert sorted(listed) == sorted([metadata.NAME, health.NAME, *reflection.NAMES])


def test_the_descriptor_of_the_watch_service_is_the_proto_of_the_documents() -> None:
    text = re.sub(r"//.*", "", PROTO.read_text())
    found = descriptor(metadata.NAME)
    service = read(found[6][0])
    methods = [read(method) for method in service[2]]
    (body,) = [read(message) for message in found[4]]

    assert f"{found[2][0].decode()}.{service[1][0].decode()}" == metadata.NAME
    assert re.findall(r"rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\)", text) == [
        (
            method[1][0].decode(), method[2][0].decode().removeprefix(".kraft.v1."),
            "stream " if method.get(6) == [1] else "", method[3][0].decode().removeprefix(".kraft.v1."),
        )
        for method in methods
    ]  # fmt: skip
    kinds = {9: "string", 12: "bytes"}
    declared = [read(field) for field in body[2]]
    assert body[1] == [b"Body"]
    assert re.findall(r"(string|bytes) (\w+) = (\d+);", text) == [
        (kinds[field[5][0]], field[1][0].decode(), str(field[3][0])) for field in declared
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_file_is_found_by_its_name_and_by_each_of_its_symbols(file: Any) -> None:
    asked = [delimited_field(reflection.BY_NAME, file.name)]
    asked += [delimited_field(reflection.BY_SYMBOL, symbol) for symbol in symbols_of(file)]

    assert [read(reflection.answer(request))[4] for request in asked] == [
        [delimited_field(1, encode_file(file))]
    ] * len(asked)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_type_that_a_file_names_is_one_of_its_symbols(file: Any) -> None:
    data = encode_file(file)
    # The field type_name: its tag, its length, and a name that begins with a dot.
    found = {data[at.end() : at.end() + at[1][0] - 1] for at in re.finditer(rb"\x32([\x00-\x7f])\.", data)}

    assert {name.decode() for name in found} - set(symbols_of(file)) == set()


@pytest.mark.parametrize(
    ("request_body", "code"),
    [
        (delimited_field(reflection.BY_NAME, "google/protobuf/any.proto"), 5),
        (delimited_field(reflection.BY_SYMBOL, "kraft.v1.Secrets"), 5),
        (delimited_field(reflection.BY_SYMBOL, b"\xff\xfe"), 5),
        (delimited_field(reflection.BY_EXTENSION, delimited_field(1, "kraft.v1.Body") + number(2, 7)), 5),
        (delimited_field(reflection.EXTENSIONS_OF, "kraft.v1.Secrets"), 5),
        (b"", 3),
        (delimited_field(9, "later"), 3),
    ],
)
def test_what_is_not_there_is_an_error_that_says_so(request_body: bytes, code: int) -> None:
    answer = read(reflection.answer(request_body))

    error = read(answer[7][0])
    assert (error[1], answer[2]) == ([code], [request_body])
    assert error[2][0].startswith(b"the" if code == 3 else b"there is no")


def test_a_type_has_no_extensions() -> None:
    answer = read(reflection.answer(delimited_field(reflection.EXTENSIONS_OF, "kraft.v1.Body")))

    assert read(answer[5][0]) == {1: [b"kraft.v1.Body"]}


def test_a_number_where_a_text_belongs_is_refused() -> None:
    with pytest.raises(BadMessage):
        reflection.answer(number(reflection.SERVICES, 1))


@pytest.fixture(name="target", scope="module")
def _target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    with running(tmp_path_factory.mktemp("node"), free_port(), kraft_grpc_listener=f"127.0.0.1:{port}"):
        yield f"127.0.0.1:{port}"


@pytest.mark.parametrize("name", reflection.NAMES)
def test_a_node_answers_the_requests_of_a_stream_in_order(target: str, name: str) -> None:
    asked = [delimited_field(reflection.SERVICES, ""), delimited_field(reflection.BY_SYMBOL, f"{metadata.NAME}.Status")]
    with grpc.insecure_channel(target) as channel:
        answers = list(channel.stream_stream(f"/{name}/{reflection.METHOD}")(iter(asked), timeout=20))

    assert answers == [reflection.answer(request) for request in asked]


@pytest.mark.parametrize("body", [b"\x0a", b"\x3a\xff", delimited_field(4, "x" * reflection.REQUEST_BYTES_MAX)])
def test_a_request_that_is_none_ends_the_stream_with_the_reason(target: str, body: bytes) -> None:
    with grpc.insecure_channel(target) as channel, pytest.raises(grpc.RpcError) as raised:
        list(channel.stream_stream(f"/{reflection.NAMES[0]}/{reflection.METHOD}")(iter([body]), timeout=20))

    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
