"""The JSON files of kafka-reassign-partitions: partitions with their replicas and directories, and topics to move."""

from __future__ import annotations

import json
from typing import NamedTuple, TypeVar

from records.java.java_order import hash_order
from tools.command_line.java_texts import Uncaught, uncaught
from tools.kafka.reassign.reassignment_calls import Replica

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Partition = tuple[str, int]

T = TypeVar("T")

ANY_DIRECTORY = "any"
VERSION = 1
FILE_BYTES_MAX = 1 << 30
COMMAND_FAILED = "org.apache.kafka.tools.AdminCommandFailedException"
OPERATION_FAILED = "org.apache.kafka.tools.AdminOperationException"
_PARSE = "com.fasterxml.jackson.core.JsonParseException"
# What Java's reader makes of a file with nothing but space.
_NOTHING = object()


class Wanted(NamedTuple):
    """partitions: each with its target replicas, in the order of the file, repeated ones too. directories: of the
    replicas for which the file names one.
    """

    partitions: list[tuple[Partition, tuple[int, ...]]]
    directories: dict[Replica, str]


def text_in(path: str) -> str:
    """The text of a file. Raises Uncaught."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs 10 ms
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise Uncaught("java.io.IOException", f"Unable to read file {path}", uncaught(error)) from None
    if len(data) > FILE_BYTES_MAX:
        raise Uncaught(OPERATION_FAILED, f"{path} is larger than {FILE_BYTES_MAX} bytes")
    return data.decode("utf-8", "replace")


def assignments_in(text: str) -> Wanted:
    """What a reassignment file asks for. Raises Uncaught."""
    if not text:
        cause = Uncaught(_PARSE, "The input string shouldn't be empty\n at [Source: UNKNOWN; byte offset: #UNKNOWN]")
        raise Uncaught(OPERATION_FAILED, cause.message, cause)
    try:
        tree = _parse(text)
    except (ValueError, RecursionError) as error:
        cause = Uncaught(_PARSE, str(error))
        raise Uncaught(OPERATION_FAILED, cause.message, cause) from None
    _check_version(tree)
    wanted = Wanted([], {})
    for entry in _array(tree["partitions"]) if "partitions" in tree else ():
        _add(wanted, _object(entry))
    return wanted


def topics_in(text: str) -> list[str]:
    """The topics to move, in the order of the file. Raises Uncaught."""
    try:
        tree = _parse(text) if text else None
    except (ValueError, RecursionError):
        tree = None
    if tree is None:
        raise Uncaught(OPERATION_FAILED, "The input string is not a valid JSON")
    _check_version(tree)
    listed = _array(tree["topics"]) if "topics" in tree else ()
    topics = [_string(_field(_object(entry), "topic")) for entry in listed]
    twice = hash_order(find_repeated(topics))
    if twice:
        text = f"List of topics to reassign contains duplicate entries: [{', '.join(twice)}]"
        raise Uncaught(COMMAND_FAILED, text)
    return topics


def find_repeated(items: Iterable[T]) -> list[T]:
    """The items that came before, each time that they come again."""
    seen: set[T] = set()
    repeated = []
    for item in items:
        if item in seen:
            repeated.append(item)
        seen.add(item)
    return repeated


def json_of(replicas: Mapping[Partition, tuple[int, ...]], directories: Mapping[Replica, str]) -> str:
    """A reassignment file; "any" stands for a directory that is not known."""
    partitions = [
        {
            "topic": topic,
            "partition": index,
            "replicas": list(replicas[topic, index]),
            "log_dirs": [
                directories.get(Replica(topic, index, broker), ANY_DIRECTORY) for broker in replicas[topic, index]
            ],
        }
        for topic, index in sorted(replicas)
    ]
    return json.dumps({"version": VERSION, "partitions": partitions}, ensure_ascii=False, separators=(",", ":"))


def _add(wanted: Wanted, entry: dict[str, Any]) -> None:
    topic, index = _string(_field(entry, "topic")), _integer(_field(entry, "partition"))
    replicas = tuple(_integer(each) for each in _list(_field(entry, "replicas")))
    directories = [_string(each) for each in _list(entry["log_dirs"])] if "log_dirs" in entry else None
    if directories is None:
        directories = [ANY_DIRECTORY] * len(replicas)
    if len(replicas) != len(directories):
        sizes = f"replicas list [{', '.join(map(str, replicas))}] is different from size of log dirs list "
        text = f"Size of {sizes}[{', '.join(directories)}] for partition {topic}-{index}"
        raise Uncaught(COMMAND_FAILED, text)
    wanted.partitions.append(((topic, index), replicas))
    for broker, directory in zip(replicas, directories, strict=True):
        if directory != ANY_DIRECTORY:
            wanted.directories[Replica(topic, index, broker)] = directory


def _parse(text: str) -> Any:
    """The first JSON value; what follows is ignored, as by stock. Raises ValueError, RecursionError."""
    stripped = text.lstrip(" \t\r\n")
    if not stripped:
        return _NOTHING
    tree, _ = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode(stripped)
    return tree


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _check_version(tree: Any) -> None:
    version = _integer(tree["version"]) if "version" in _object(tree) else VERSION
    if version != VERSION:
        raise Uncaught(OPERATION_FAILED, f"Not supported version field value {version}")


def _field(tree: dict[str, Any], name: str) -> Any:
    if name not in tree:
        raise _mapping(f"No such field exists: `{name}`")
    return tree[name]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _mapping(f"Expected JSON object, received {_json_text(value)}")
    return value


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _mapping(f"Expected JSON array, received {_json_text(value)}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _mapping(f"Expected `JSON array` value, received {_json_text(value)}")
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _mapping(f"Expected `String` value, received {_json_text(value)}")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << 31) <= value < 1 << 31:
        raise _mapping(f"Expected `Integer` value, received {_json_text(value)}")
    return value


def _json_text(value: Any) -> str:
    return "" if value is _NOTHING else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _mapping(text: str) -> Uncaught:
    return Uncaught("com.fasterxml.jackson.databind.JsonMappingException", text)
