"""Our messages, field by field, against the grammars of three protocol guides: 0.9, 4.1, and what 4.3.1 prints."""

from __future__ import annotations

import re
import struct
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from records.codec import decode, encode
from records.guide import grammar, type_name
from records.registry import class_named
from records.schema import is_struct, schema_of
from tests.records.golden import DATA

if TYPE_CHECKING:
    from collections.abc import Iterator

# A field: name, what stands around its type (`[`, `?(`, `?` ...), and the type's name or the fields of a struct.
Field = tuple[str, str, Any]

# The 0.9 guide's names for what is ours; where a struct has become plain fields it is left out of the path.
API_NAMES = {"Offsets": "ListOffsets", "GroupCoordinator": "FindCoordinator"}
OLD_NAMES = {
    ("timeout", "timeout_ms"), ("data", "partition_data"), ("topic", "name"), ("topic", "topic_name"),
    ("partition", "index"), ("partition", "partition_index"), ("record_set", "records"),
    ("timestamp", "log_append_time_ms"), ("max_wait_time", "max_wait_ms"),
    ("max_bytes", "partition_max_bytes"), ("offsets", "old_style_offsets"),
    ("topic_metadata", "topics"), ("topic_error_code", "error_code"), ("partition_metadata", "partitions"),
    ("partition_error_code", "error_code"), ("partition_id", "partition_index"), ("leader", "leader_id"),
    ("replicas", "replica_nodes"), ("isr", "isr_nodes"), ("partition_states", "ungrouped_partition_states"),
    ("zk_version", "partition_epoch"), ("id", "broker_id"), ("host", "host_name"), ("partitions", "partition_errors"),
    ("partitions", "ungrouped_partitions"), ("host", "v0_host"), ("port", "v0_port"), ("end_points", "endpoints"),
    ("security_protocol_type", "security_protocol"), ("partitions_remaining", "remaining_partitions"),
    ("offset", "committed_offset"), ("metadata", "committed_metadata"), ("timestamp", "commit_timestamp"),
    ("group_generation_id", "generation_id_or_member_epoch"), ("retention_time", "retention_time_ms"),
    ("responses", "topics"), ("partition_responses", "partitions"), ("partitions", "partition_indexes"),
    ("group_id", "key"), ("session_timeout", "session_timeout_ms"), ("group_protocols", "protocols"),
    ("protocol_name", "name"), ("protocol_metadata", "metadata"), ("group_protocol", "protocol_name"),
    ("leader_id", "leader"), ("member_metadata", "metadata"), ("group_generation_id", "generation_id"),
    ("group_assignment", "assignments"), ("member_assignment", "assignment"), ("group_ids", "groups"),
    ("state", "group_state"), ("protocol", "protocol_data"), ("partition_responses", "partition_responses"),
}  # fmt: skip
# The same bytes by another name: the guide of 0.9 knows neither nullable types nor records nor booleans.
SAME_BYTES = {"NULLABLE_STRING": "STRING", "NULLABLE_BYTES": "BYTES", "NULLABLE_RECORDS": "BYTES", "BOOLEAN": "INT8"}
# Kafka 4.4's names for fields of 4.3.
RENAMED = {
    ("TxnOffsetCommitRequest", "generation_id_or_member_epoch"): "generation_id",
    ("StreamsGroupHeartbeatResponse", "acceptable_recovery_lag_legacy"): "acceptable_recovery_lag",
}


@cache
def grammars(guide: str) -> list[tuple[str, list[int], str]]:
    """Message, versions and grammar of each row of one guide."""
    lines = (DATA / "protocol-guides" / "grammars.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [(name, versions_in(versions), text) for known, name, versions, text in rows if known == guide]


def rows_of(guide: str) -> pytest.MarkDecorator:
    rows = grammars(guide)
    names = [f"{name} {versions[0]}-{versions[-1]}" for name, versions, _ in rows]
    return pytest.mark.parametrize(("name", "versions", "text"), rows, ids=names)


def versions_in(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def parsed(text: str) -> list[Field]:
    """The fields of a grammar on one line."""
    fields, rest = _struct(text.split())
    assert rest == []
    return fields


def _struct(words: list[str]) -> tuple[list[Field], list[str]]:
    assert words[0] in {"{", "?{"}, words[:3]
    fields: list[Field] = []
    words = words[1:]
    while not words[0].startswith("}"):
        name, _, type_ = re.match(r"([a-z0-9_]+(<tag:\d+>)?):(.*)", words[0]).groups()  # type: ignore[union-attr]
        around = re.match(r"\??[\[(]?", type_)[0]  # type: ignore[index]
        inner: Any = type_[len(around) :].rstrip(")]")
        if inner.endswith("{"):
            if type_.startswith("?{"):
                around = "?"
            inner, words = _struct(["{", *words[1:]])
        else:
            words = words[1:]
        fields.append((name, around, inner))
    end = words[0].removeprefix("}").lstrip(")]")
    assert end == "", words[0]
    return fields, words[1:]


def ours(cls: type, version: int) -> list[Field]:
    """The fields of a class in one version, in the terms of the guide 4.3."""
    return list(_ours(cls, version, flexible=schema_of(cls).is_flexible(version)))


def _ours(cls: type, version: int, *, flexible: bool) -> Iterator[Field]:
    fields = schema_of(cls).at(version)
    for field in [*(f for f in fields if f.tag is None), *sorted((f for f in fields if f.tag is not None), key=tag_of)]:
        name = field.name if field.tag is None else f"{field.name}<tag:{field.tag}>"
        around = ("(" if flexible else "[") if field.is_array and field.tag is None else ""
        if field.nullable_at(version) and (around or (is_struct(field.type) and field.tag is None)):
            around = "?" + around
        if is_struct(field.element):
            yield name, around, list(_ours(field.element, version, flexible=flexible))
        else:
            yield name, around, type_name(field, version, flexible)


def tag_of(field: Any) -> int:
    return int(field.tag)


def flat(fields: list[Field], path: str = "") -> list[tuple[str, str, str]]:
    """Path, brackets and type of every field, outer ones first: what two grammars are compared by."""
    found = []
    for name, around, inner in fields:
        here = f"{path}.{name}".lstrip(".")
        found.append((here, around, inner if isinstance(inner, str) else "{}"))
        if not isinstance(inner, str):
            found += flat(inner, here)
    return found


def as_of_41(fields: list[Field]) -> list[Field]:
    """As the guide 4.1 prints: no tags, one kind of bracket, no nullability but a string's and plain bytes'."""
    return [
        (
            name,
            "[" if set(around) & set("[(") else "",
            inner.replace("NULLABLE_RECORDS", "RECORDS") if isinstance(inner, str) else as_of_41(inner),
        )
        for name, around, inner in fields
        if "<tag:" not in name
    ]


def renamed(name: str, version: int, fields: list[Field]) -> list[Field]:
    formerly = {
        field.name: RENAMED[name, field.name]
        for field in schema_of(class_named(name)).fields
        if field.formerly and version <= field.formerly[1]
    }
    return [(formerly.get(field, field), around, inner) for field, around, inner in fields]


@rows_of("4.3")
def test_what_stock_prints_is_ours(name: str, versions: list[int], text: str) -> None:
    for version in versions:
        assert flat(renamed(name, version, ours(class_named(name), version))) == flat(parsed(text)), version


@rows_of("4.1")
def test_the_guide_of_41_is_ours(name: str, versions: list[int], text: str) -> None:
    for version in versions:
        fields = as_of_41(renamed(name, version, ours(class_named(name), version)))
        assert flat(fields) == flat(parsed(text)), version


def test_the_guides_are_there_in_full() -> None:
    known = {guide: sum(len(versions) for _, versions, _ in grammars(guide)) for guide in ("0.9", "4.1", "4.3")}

    assert known == {"0.9": 49, "4.1": 538, "4.3": 556}


def old_class(name: str) -> type[Any]:
    api, side = re.match(r"(.*)(Request|Response)", name).groups()  # type: ignore[union-attr]
    return class_named(API_NAMES.get(api, api) + side)


def unfolded(fields: list[Field]) -> list[Field]:
    """Single structs become plain fields: no byte stands for them."""
    found: list[Field] = []
    for name, around, inner in fields:
        if isinstance(inner, str):
            found.append((name, around, inner))
        elif around:
            found.append((name, around, unfolded(inner)))
        else:
            found += unfolded(inner)
    return found


def assert_alike(old: list[Field], new: list[Field]) -> None:
    assert len(old) == len(new), (old, new)
    for (old_name, old_around, old_type), (new_name, new_around, new_type) in zip(old, new, strict=True):
        assert old_name == new_name or (old_name, new_name) in OLD_NAMES, (old_name, new_name)
        assert old_around == new_around.removeprefix("?"), old_name
        if old_type == "?":
            continue
        if isinstance(old_type, list) and isinstance(new_type, list):
            assert_alike(old_type, new_type)
        else:
            assert plain(old_type) == plain(new_type), (old_name, old_type, new_type)


def plain(type_: Any) -> str:
    """A primitive type, also of a struct that holds nothing but one: the bytes are the same."""
    if isinstance(type_, list):
        assert len(type_) == 1, type_
        return plain(type_[0][2])
    return SAME_BYTES.get(type_, str(type_))


@rows_of("0.9")
def test_the_guide_of_09_is_ours_by_other_names(name: str, versions: list[int], text: str) -> None:
    for version in versions:
        assert_alike(unfolded(parsed(text)), unfolded(ours(old_class(name), version)))


def old_bytes(fields: list[Field], rng: Random, path: str = "") -> bytes:
    """Bytes by the grammar of 0.9, made without our codec."""
    out = b""
    for name, around, inner in fields:
        count = rng.randint(0, 3) if around else 1
        if around:
            out += struct.pack(">i", count)
        for _ in range(count):
            out += old_bytes(inner, rng, name) if isinstance(inner, list) else old_value(name, inner, rng)
    return out


def old_value(name: str, type_: str, rng: Random) -> bytes:
    if type_ == "?":
        type_ = {"topics": "STRING", "group_ids": "STRING", "offsets": "INT64"}.get(name, "INT32")
    if name == "delete_partitions":
        return rng.choice((b"\0", b"\1"))
    if type_.startswith("INT"):
        return rng.randbytes(int(type_[3:]) // 8)
    if type_ == "STRING":
        return struct.pack(">h", 3) + b"abc"
    assert type_ == "BYTES", type_
    return struct.pack(">i", 4) + rng.randbytes(4)


@rows_of("0.9")
def test_every_row_of_the_old_protocol_decodes(name: str, versions: list[int], text: str) -> None:
    for version in versions:
        rng = Random(f"{name} {version}")
        for _ in range(20):
            data = old_bytes(parsed(text), rng)

            assert encode(decode(old_class(name), version, data), version) == data


def test_a_grammar_is_printed_as_kafka_prints_it() -> None:
    assert grammar(class_named("VoteResponse"), 2).splitlines() == [
        "Vote Response (Version: 2) => { error_code (topics) node_endpoints<tag: 0> }",
        "  error_code => INT16",
        "  topics => { topic_name (partitions) }",
        "    topic_name => COMPACT_STRING",
        "    partitions => { partition_index error_code leader_id leader_epoch vote_granted }",
        "      partition_index => INT32",
        "      error_code => INT16",
        "      leader_id => INT32",
        "      leader_epoch => INT32",
        "      vote_granted => BOOLEAN",
        "  node_endpoints<tag: 0> => { node_id host port }",
        "    node_id => INT32",
        "    host => COMPACT_STRING",
        "    port => UINT16",
    ]
