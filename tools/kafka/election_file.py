"""The JSON file that names partitions to kafka-leader-election: `{"partitions":[{"topic":"t","partition":0}]}`."""

from __future__ import annotations

import json

from records.java.java_order import partition_order
from tools.command_line.java_texts import Uncaught, uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Partition = tuple[str, int]

REFUSED = "org.apache.kafka.tools.AdminOperationException"
FILE_BYTES_MAX = 1 << 30


def partitions_in(path: str) -> list[Partition]:
    """Topic and index of each partition. Raises Uncaught with the words of stock's tool."""
    tree = _parse(_text(path))
    if not isinstance(tree, dict):
        raise _mapping(f"Expected JSON object, received {_json_text(tree)}")
    if "partitions" not in tree:
        raise Uncaught(REFUSED, 'Replica election data is missing "partitions" field')
    listed = tree["partitions"]
    if not isinstance(listed, list):
        raise _mapping(f"Expected JSON array, received {_json_text(listed)}")
    partitions = [_partition(each) for each in listed]
    repeated = (
        [each for each in dict.fromkeys(partitions) if partitions.count(each) > 1] if _repeats(partitions) else []
    )
    if repeated:
        names = ", ".join(f"{topic}-{index}" for topic, index in partition_order(repeated))
        raise Uncaught(REFUSED, f"Replica election data contains duplicate partitions: [{names}]")
    return partitions


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib costs 10 ms
            text = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        unread = Uncaught("java.io.IOException", f"Unable to read file {path}", uncaught(error))
        raise Uncaught("java.lang.RuntimeException", str(unread), unread) from None
    if len(text) > FILE_BYTES_MAX:
        raise Uncaught(REFUSED, f"{path} is larger than {FILE_BYTES_MAX} characters")
    return text


def _parse(text: str) -> Any:
    """The first JSON value; what follows is ignored, as by stock."""
    try:
        tree, _ = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        raise Uncaught(REFUSED, "Replica election data is empty") from None
    return tree


def _refuse_constant(text: str) -> None:
    raise ValueError(text)


def _partition(given: Any) -> Partition:
    if not isinstance(given, dict):
        raise _mapping(f"Expected JSON object, received {_json_text(given)}")
    for name in ("topic", "partition"):
        if name not in given:
            raise _mapping(f"No such field exists: `{name}`")
        if name == "topic" and not isinstance(given[name], str):
            raise _mapping(f"Expected `String` value, received {_json_text(given[name])}")
    index = given["partition"]
    if isinstance(index, bool) or not isinstance(index, int) or not -(1 << 31) <= index < 1 << 31:
        raise _mapping(f"Expected `Integer` value, received {_json_text(index)}")
    return given["topic"], index


def _repeats(partitions: list[Partition]) -> bool:
    return len(set(partitions)) != len(partitions)


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _mapping(text: str) -> Uncaught:
    """The exception of Kafka's JSON reader, as its tool throws it on."""
    caused = Uncaught("com.fasterxml.jackson.databind.JsonMappingException", text)
    return Uncaught("java.lang.RuntimeException", str(caused), caused)
