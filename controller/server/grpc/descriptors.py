"""The descriptors of the port's services, as protobuf's `descriptor.proto` defines them (FileDescriptorProto).

They are encoded from the tables below: protobuf's library would take 5 MiB of memory. `docs/watch/metadata.proto` is
the first of them in protobuf's language, with comments.
"""

from __future__ import annotations

from typing import NamedTuple

from controller.server.grpc.protobuf import delimited_field, number

# Types and labels of FieldDescriptorProto.
TYPES = {"int32": 5, "string": 9, "bytes": 12}
MESSAGE, ENUM = 11, 14
OPTIONAL, REPEATED = 1, 3


class Message(NamedTuple):
    """fields: `TYPE NAME = NUMBER`, possibly behind `repeated`. oneof: a name, and its fields. enum: a nested type."""

    name: str
    fields: tuple[str, ...] = ()
    oneof: tuple[str, tuple[str, ...]] | None = None
    enum: tuple[str, tuple[str, ...]] | None = None


class Method(NamedTuple):
    """streams: whether the requests, and whether the responses are streams."""

    name: str
    request: str
    response: str
    streams: tuple[bool, bool] = (False, False)


class File(NamedTuple):
    """A `.proto` with one service."""

    name: str
    package: str
    service: str
    methods: tuple[Method, ...]
    messages: tuple[Message, ...]


METADATA = File(
    "kraft/v1/metadata.proto",
    "kraft.v1",
    "Metadata",
    (
        Method("Watch", "Body", "Body", (False, True)),
        Method("Snapshot", "Body", "Body", (False, True)),
        Method("Status", "Body", "Body"),
    ),
    (Message("Body", ("string json = 1", "bytes msgpack = 2")),),
)

HEALTH = File(
    "grpc/health/v1/health.proto",
    "grpc.health.v1",
    "Health",
    (
        Method("Check", "HealthCheckRequest", "HealthCheckResponse"),
        Method("Watch", "HealthCheckRequest", "HealthCheckResponse", (False, True)),
    ),
    (
        Message("HealthCheckRequest", ("string service = 1",)),
        Message(
            "HealthCheckResponse",
            ("HealthCheckResponse.ServingStatus status = 1",),
            enum=("ServingStatus", ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")),
        ),
    ),
)


def reflection(version: str) -> File:
    """The service of reflection itself. version: `v1`, or `v1alpha` for older clients; they differ in the package."""
    return File(
        f"grpc/reflection/{version}/reflection.proto",
        f"grpc.reflection.{version}",
        "ServerReflection",
        (Method("ServerReflectionInfo", "ServerReflectionRequest", "ServerReflectionResponse", (True, True)),),
        (
            Message(
                "ServerReflectionRequest",
                ("string host = 1",),
                oneof=(
                    "message_request",
                    (
                        "string file_by_filename = 3", "string file_containing_symbol = 4",
                        "ExtensionRequest file_containing_extension = 5", "string all_extension_numbers_of_type = 6",
                        "string list_services = 7",
                    ),
                ),
            ),
            Message("ExtensionRequest", ("string containing_type = 1", "int32 extension_number = 2")),
            Message(
                "ServerReflectionResponse",
                ("string valid_host = 1", "ServerReflectionRequest original_request = 2"),
                oneof=(
                    "message_response",
                    (
                        "FileDescriptorResponse file_descriptor_response = 4",
                        "ExtensionNumberResponse all_extension_numbers_response = 5",
                        "ListServiceResponse list_services_response = 6", "ErrorResponse error_response = 7",
                    ),
                ),
            ),
            Message("FileDescriptorResponse", ("repeated bytes file_descriptor_proto = 1",)),
            Message("ExtensionNumberResponse", ("string base_type_name = 1", "repeated int32 extension_number = 2")),
            Message("ListServiceResponse", ("repeated ServiceResponse service = 1",)),
            Message("ServiceResponse", ("string name = 1",)),
            Message("ErrorResponse", ("int32 error_code = 1", "string error_message = 2")),
        ),
    )  # fmt: skip


FILES = (METADATA, HEALTH, reflection("v1"), reflection("v1alpha"))


def symbols_of(file: File) -> list[str]:
    """The full names that the file declares: the service, its methods, messages and their enums."""
    service = f"{file.package}.{file.service}"
    names = [service, *(f"{service}.{method.name}" for method in file.methods)]
    for message in file.messages:
        names.append(f"{file.package}.{message.name}")
        if message.enum is not None:
            names.append(f"{names[-1]}.{message.enum[0]}")
    return names


def encode_file(file: File) -> bytes:
    """The FileDescriptorProto."""
    parts = [delimited_field(1, file.name), delimited_field(2, file.package)]
    parts += [delimited_field(4, _message(file.package, message)) for message in file.messages]
    methods = b"".join(delimited_field(2, _method(file.package, method)) for method in file.methods)
    parts += [delimited_field(6, delimited_field(1, file.service) + methods), delimited_field(12, "proto3")]
    return b"".join(parts)


def _message(package: str, message: Message) -> bytes:
    parts = [
        delimited_field(1, message.name),
        *(delimited_field(2, _field(package, line, b"")) for line in message.fields),
    ]
    if message.oneof is not None:
        name, lines = message.oneof
        parts += [delimited_field(2, _field(package, line, number(9, 0))) for line in lines]
        parts.append(delimited_field(8, delimited_field(1, name)))
    if message.enum is not None:
        name, values = message.enum
        numbered = (delimited_field(1, value) + number(2, at) for at, value in enumerate(values))
        parts.append(
            delimited_field(4, delimited_field(1, name) + b"".join(delimited_field(2, value) for value in numbered))
        )
    return b"".join(parts)


def _field(package: str, line: str, oneof: bytes) -> bytes:
    """oneof: the index of its oneof, encoded."""
    words = line.split()
    label = REPEATED if words[0] == "repeated" else OPTIONAL
    kind, name, _, at = words[-4:]
    head = delimited_field(1, name) + number(3, int(at)) + number(4, label)
    if kind in TYPES:
        return head + number(5, TYPES[kind]) + oneof
    # Of the types here, those within a message are enums.
    return head + number(5, ENUM if "." in kind else MESSAGE) + delimited_field(6, f".{package}.{kind}") + oneof


def _method(package: str, method: Method) -> bytes:
    types = delimited_field(2, f".{package}.{method.request}") + delimited_field(3, f".{package}.{method.response}")
    streams = b"".join(number(field, 1) for field, streams in zip((5, 6), method.streams, strict=True) if streams)
    return delimited_field(1, method.name) + types + streams
