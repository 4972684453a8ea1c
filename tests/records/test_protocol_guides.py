"""Our messages, field by field, against what Kafka 4.3.1 prints; bytes by the grammars of 0.9, which must decode."""

from __future__ import annotations

import re
import struct
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from records.codec import decode, encode
from records.printing.guide import grammar, type_name
from records.registry import find_class
from records.schema import is_struct, schema_of
from tests.records.golden import DATA
from tests.records.guide_comparison import guide
from tests.records.guide_differences import API_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.records.guide_text import Printed

# A field: name, what stands around its type (`[`, `?(`, `?` ...), and the type's name or the fields of a struct.
Field = tuple[str, str, Any]

# Kafka 4.4's names for fields of 4.3.
RENAMED = {
    ("TxnOffsetCommitRequest", "generation_id_or_member_epoch"): "generation_id",
    ("StreamsGroupHeartbeatResponse", "acceptable_recovery_lag_legacy"): "acceptable_recovery_lag",
}


@cache
def grammars() -> list[tuple[str, list[int], str]]:
    """Message, versions and grammar of each row that Kafka 4.3.1 printed."""
    rows = [line.split("\t") for line in (DATA / "protocol-guides" / "grammars.tsv").read_text().splitlines()[1:]]
    return [(name, versions_in(versions), text) for name, versions, text in rows]


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


def renamed(name: str, version: int, fields: list[Field]) -> list[Field]:
    formerly = {
        field.name: RENAMED[name, field.name]
        for field in schema_of(find_class(name)).fields
        if field.formerly and version <= field.formerly[1]
    }
    return [(formerly.get(field, field), around, inner) for field, around, inner in fields]


@pytest.mark.parametrize(
    ("name", "versions", "text"),
    grammars(),
    ids=[f"{name} {versions[0]}-{versions[-1]}" for name, versions, _ in grammars()],
)
def test_our_grammars_equal_stocks(name: str, versions: list[int], text: str) -> None:
    for version in versions:
        assert flat(renamed(name, version, ours(find_class(name), version))) == flat(parsed(text)), version


def test_stocks_grammars_are_complete() -> None:
    assert sum(len(versions) for _, versions, _ in grammars()) == 556


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


@pytest.mark.parametrize("grammar", guide("0.9").grammars, ids=lambda grammar: f"{grammar.title} {grammar.version}")
def test_every_grammar_of_the_old_protocol_decodes(grammar: Printed) -> None:
    api, side = grammar.title.split()
    cls = find_class(API_NAMES.get(api, api) + side)
    rng = Random(f"{grammar.title} {grammar.version}")
    for _ in range(20):
        data = old_bytes(grammar.fields, rng)

        assert encode(decode(cls, grammar.version, data), grammar.version) == data


def test_a_grammar_is_printed_as_kafka_prints_it() -> None:
    assert grammar(find_class("VoteResponse"), 2).splitlines() == [
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
