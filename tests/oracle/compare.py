"""The comparison: every field of the answers, every record with its version and order, and the image.

Normalisation, where the order in Kafka is that of a Java hash map or hash set and so not part of what it promises:

1. Consecutive PartitionChangeRecords of one batch are compared in the order of topic id and partition, consecutive
   ConfigRecords in the order of resource and key, RemoveTopicRecords in that of the topic id, FeatureLevelRecords and
   ClearElrRecords in that of the name; the changes of one thing keep their order among each other.
2. The records of a snapshot are compared as a sorted list, and the features and endpoints of a registration too: an
   image is a set of facts.
3. The arrays of `UNORDERED` are compared in the order of their elements' texts.
4. The batches that come of one passing of time are compared as a sorted list: when fencing and several periodic tasks
   are due at one moment, the order in Kafka is that of the deadlines, down to the nanosecond.
5. What Java prints of a session and of a buffer in the text of a refusal by the authorizer is left out.
6. The answers to one request are compared when both sides have given them: while commits are held, ours waits for what
   an answer rests on, and Kafka for all that is not committed, errors excepted.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from records.codec import decode
from records.frame import decode_record
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.security import RemoveAccessControlEntryRecord, RemoveDelegationTokenRecord
from records.metadata.topics import ClearElrRecord, PartitionChangeRecord, RemoveTopicRecord
from records.printing.json_form import to_json
from records.registry import response_class
from records.schema import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Answer

# (API key, path of the array in the response).
UNORDERED: set[tuple[int, str]] = {
    (18, "supportedFeatures"),
    (18, "finalizedFeatures"),
    (20, "responses"),  # shuffled, so that nobody learns anything from the order
    (29, "resources"),
    (29, "resources[].acls"),
    (31, "filterResults[].matchingAcls"),
    (32, "results"),
    (32, "results[].configs"),
    (33, "responses"),
    (37, "results"),
    (43, "replicaElectionResults"),
    (43, "replicaElectionResults[].partitionResult"),
    (44, "responses"),
    (46, "topics"),
    (46, "topics[].partitions"),
    (49, "entries"),
    (49, "entries[].entity"),
    (57, "results"),
}


# In place of an answer.
CLOSED = "the connection is closed"
# In the text of a refusal by the authorizer: what Java prints of a session and of a buffer are their addresses.
JAVA_OBJECT = re.compile(r"(session|buffer)=.*?(?=, (?:listenerName|envelope)=)")

# By what consecutive records of a kind are compared.
ORDER: dict[type[Any], Callable[[tuple[Any, int]], Any]] = {
    PartitionChangeRecord: lambda item: (item[0].topic_id, item[0].partition_id),
    ConfigRecord: lambda item: (item[0].resource_type, item[0].resource_name, item[0].name),
    RemoveTopicRecord: lambda item: item[0].topic_id,
    FeatureLevelRecord: lambda item: item[0].name,
    ClearElrRecord: lambda item: item[0].topic_name,
    RemoveAccessControlEntryRecord: lambda item: item[0].id,
    RemoveDelegationTokenRecord: lambda item: item[0].token_id,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two answers to one command differ. where: a path without indexes, by which differences are grouped.

    number: of the request whose answers differ, 0 for what is not an answer. within: the trees of ours around what
    differs, the outermost first.
    """

    where: str
    path: str
    ours: Any
    stock: Any
    number: int = 0
    within: tuple[dict[str, Any], ...] = ()

    def __str__(self) -> str:
        return f"{self.path}: ours {_short(self.ours)}, stock {_short(self.stock)}"


def differences(ours: Answer, stock: Answer, *, of_time: bool = False) -> list[Difference]:
    """The differences of two answers besides the responses. of_time: whether the command advances the clock."""
    found: list[Difference] = []
    if ours.batches != stock.batches:
        left, right = [_batch(values) for values in ours.batches], [_batch(values) for values in stock.batches]
        if of_time:
            left.sort(key=_text)
            right.sort(key=_text)
        found += diff("batches", "batches", left, right)
    if ours.snapshot != stock.snapshot:
        found += diff("snapshot", "snapshot", _image(ours.snapshot), _image(stock.snapshot))
    if ours.notes != stock.notes:
        found.append(Difference("notes", "notes", ours.notes, stock.notes))
    return found


def response_differences(api_key: int, version: int, ours: bytes | None, stock: bytes | None) -> list[Difference]:
    """The differences of the answers to one request; None for a closed connection."""
    if ours == stock:
        return []
    name = name_of(api_key)
    return diff(name, name, _response(api_key, version, ours), _response(api_key, version, stock))


def answer_tree(api_key: int, version: int, body: bytes | None) -> Any:
    """An answer in the form for the comparison."""
    return _response(api_key, version, body)


def name_of(api_key: int) -> str:
    return schema_of(response_class(api_key)).name.removesuffix("Response")


def _response(api_key: int, version: int, body: bytes | None) -> Any:
    if body is None:
        return CLOSED
    tree = _without_addresses(to_json(decode(response_class(api_key), version, body), version))
    for key, path in sorted(UNORDERED, reverse=True):
        if key == api_key:
            sort_array(tree, path)
    return tree


def _without_addresses(tree: Any) -> Any:
    """The tree without the texts that Java gives objects by their addresses."""
    if isinstance(tree, dict):
        return {key: _without_addresses(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_without_addresses(value) for value in tree]
    return JAVA_OBJECT.sub(r"\1", tree) if isinstance(tree, str) and tree.startswith("Request Request(") else tree


def sort_array(tree: Any, path: str) -> None:
    """Sort the arrays at a path, `a[].b` being the array b of each element of a."""
    name, _, rest = path.partition("[].")
    found = tree.get(name)
    if not isinstance(found, list):
        return
    if rest:
        for item in found:
            sort_array(item, rest)
    else:
        found.sort(key=lambda item: (_identity(item), _text(item)))


def _identity(item: Any) -> str:
    """The key of an array element: the fields that identify it."""
    return _text(_without_errors(item))


def _without_errors(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _without_errors(value) for key, value in tree.items() if key not in ("errorCode", "errorMessage")}
    return [_without_errors(item) for item in tree] if isinstance(tree, list) else tree


def _batch(values: list[bytes]) -> list[Any]:
    """The records of a batch as trees, in the order in which they are compared."""
    records = [decode_record(value) for value in values]
    ordered: list[tuple[Any, int]] = []
    for kind, run in groupby(records, key=lambda item: type(item[0])):
        key = ORDER.get(kind)
        items = list(run)
        ordered += items if key is None else sorted(items, key=key)
    return [_record(record, version) for record, version in ordered]


def _image(values: list[bytes]) -> list[Any]:
    trees = [_record(*decode_record(value)) for value in values]
    for tree in trees:
        for path in ("features", "endPoints"):
            sort_array(tree, path)
    return sorted(trees, key=_text)


def _record(record: Any, version: int) -> dict[str, Any]:
    return {"type": type(record).__name__, "version": version, **to_json(record, version)}


def _text(tree: Any) -> str:
    return json.dumps(tree, sort_keys=True)


def diff(where: str, path: str, ours: Any, stock: Any, within: tuple[dict[str, Any], ...] = ()) -> list[Difference]:
    # By their texts, in which NaN is NaN.
    if ours == stock or (isinstance(ours, float) and _text(ours) == _text(stock)):
        return []
    if isinstance(ours, dict) and isinstance(stock, dict):
        if ours.get("type") != stock.get("type"):
            kind = f"{where}: {ours.get('type')} or {stock.get('type')}"
            return [Difference(kind, path, ours, stock, within=within)]
        found = []
        named = f"{where}.{ours['type']}" if "type" in ours else where
        for key in [*ours, *(key for key in stock if key not in ours)]:
            found += diff(f"{named}.{key}", f"{path}.{key}", ours.get(key), stock.get(key), (*within, ours))
        return found
    if isinstance(ours, list) and isinstance(stock, list):
        if len(ours) != len(stock):
            return [_uneven(where, path, ours, stock, within)]
        found = []
        for index, (left, right) in enumerate(zip(ours, stock, strict=True)):
            found += diff(f"{where}[]", f"{path}[{index}]", left, right, within)
        return found
    return [Difference(where, path, ours, stock, within=within)]


def _uneven(where: str, path: str, ours: list[Any], stock: list[Any], within: tuple[dict[str, Any], ...]) -> Difference:
    """Lists of unequal length: the items that only one of them has."""
    only_ours, only_stock = _left_over(ours, stock), _left_over(stock, ours)
    kind = f"{where} ({_kinds(only_ours)}|{_kinds(only_stock)})"
    return Difference(kind, path, only_ours, only_stock, within=within)


def _left_over(items: list[Any], others: list[Any]) -> list[Any]:
    """The items without an equal item among the others."""
    texts = [_text(item) for item in others]
    left = []
    for item in items:
        text = _text(item)
        if text in texts:
            texts.remove(text)
        else:
            left.append(item)
    return left


def _kinds(items: list[Any]) -> str:
    """The kinds of the records, or of the entries, in a list that only one side has."""
    kinds = []
    for item in items:
        nested = item if isinstance(item, list) else [item]
        kinds += [str(entry.get("type", "entry")) if isinstance(entry, dict) else "value" for entry in nested]
    return ",".join(sorted(set(kinds)))


def _short(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= 700 else f"{text[:700]}… ({len(text)} characters)"
