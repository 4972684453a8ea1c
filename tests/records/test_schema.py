"""Message classes: made by decorators, slotted, compared by value."""

from __future__ import annotations

from typing import Any

import pytest

from records.codec import encode, encode_parts
from records.messages.fetch import FetchRequest
from records.messages.topics import CreateTopicsResponse
from records.metadata.topics import PartitionChangeRecord, TopicRecord
from records.registry import every_name, find_class
from records.schema import (
    LATEST,
    Shared,
    default_of,
    json_name,
    message,
    replace,
    schema_of,
    since,
    tagged_field,
    until,
)
from records.wire import EncodeError, array, int32, nullable, string

TOPIC_ID = bytes(range(16))


def test_fields_are_passed_by_name_or_in_the_order_of_the_schema() -> None:
    assert TopicRecord(name="a", topic_id=TOPIC_ID) == TopicRecord("a", TOPIC_ID)  # type: ignore[call-arg]


def test_a_missing_field_is_reported_with_its_class() -> None:
    with pytest.raises(TypeError, match=r"TopicRecord.__init__\(\) missing 1 required positional argument: 'topic_id'"):
        TopicRecord(name="a")  # type: ignore[call-arg]


def test_a_required_field_after_one_with_a_default_is_still_required() -> None:
    with pytest.raises(TypeError, match="lacks the required field topic_id"):
        PartitionChangeRecord(partition_id=3)  # type: ignore[call-arg]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
        TopicRecord(nam="a", topic_id=TOPIC_ID)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        TopicRecord(name="a", topic_id=TOPIC_ID).nam = 1  # type: ignore[attr-defined]


def test_equality_and_hash_are_by_value() -> None:
    one, same, other = (TopicRecord(name=name, topic_id=TOPIC_ID) for name in ("a", "a", "b"))

    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "a"  # type: ignore[comparison-overlap]
    assert one != replace(one, unknown_tags=((7, b"x"),))


def test_the_repr_of_a_message_has_only_fields_that_differ_from_defaults() -> None:
    change = PartitionChangeRecord(partition_id=3, topic_id=TOPIC_ID, leader=2)

    assert repr(change) == f"PartitionChangeRecord(partition_id=3, topic_id={TOPIC_ID!r}, leader=2)"


def test_a_copy_keeps_what_is_not_changed() -> None:
    change = PartitionChangeRecord(partition_id=3, topic_id=TOPIC_ID, leader=2, unknown_tags=((9, b"x"),))  # type: ignore[call-arg]

    copy = replace(change, leader=1)

    assert (copy.leader, copy.partition_id, copy.unknown_tags) == (1, 3, ((9, b"x"),))  # type: ignore[attr-defined]
    assert change.leader == 2


def test_a_default_message_has_every_field() -> None:
    for name in every_name():
        built = default_of(find_class(name))

        assert all(hasattr(built, field.name) for field in schema_of(find_class(name)).fields)


def test_names_in_json_are_those_of_kafka() -> None:
    assert json_name("kraft_version_feature") == "kRaftVersionFeature"
    assert json_name("is_kraft_controller") == "isKRaftController"
    assert json_name("enable2_pc") == "enable2Pc"
    assert json_name("isr") == "isr"


def test_a_class_that_is_not_a_message_is_refused() -> None:
    with pytest.raises(TypeError, match="is not a message class"):
        schema_of(int)


def test_a_field_knows_its_versions() -> None:
    fields = {field.name: field for field in schema_of(FetchRequest).fields}

    assert (fields["replica_id"].since, fields["replica_id"].until) == (0, 14)
    assert (fields["cluster_id"].tag, fields["cluster_id"].since) == (0, 12)
    assert fields["cluster_id"].nullable_at(12)
    assert not fields["rack_id"].nullable_at(18)
    assert fields["rack_id"].null_since > LATEST


def test_a_class_with_field_specifiers_equals_one_of_ours() -> None:
    wire: Any = {"old": string, "new": array, "extra": nullable}
    namespace: dict[str, object] = {
        "__annotations__": {"old": wire["old"], "new": wire["new"][int32], "extra": wire["extra"][string]},
        "old": until(1, default=""),
        "new": since(2, default=()),
        "extra": tagged_field(3, default=None, since=2),
    }
    cls: Any = message(kind="data", versions=(0, 2), flexible=2)(type("Own", (), namespace))

    schema = schema_of(cls)

    assert [field.name for field in schema.at(1)] == ["old"]
    assert [field.name for field in schema.at(2)] == ["new", "extra"]
    assert (schema.is_flexible(1), schema.is_flexible(2)) == (False, True)
    assert cls(old="x").old == "x"


def created(configs: tuple[CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs, ...]) -> object:
    result = CreateTopicsResponse.CreatableTopicResult
    return CreateTopicsResponse(
        topics=tuple(
            result(name=name, topic_id=TOPIC_ID, error_code=0, error_message=None, configs=configs)
            for name in ("orders", "payments")
        )
    )


@pytest.mark.parametrize("version", range(8))
def test_the_bytes_of_a_shared_array_are_kept_and_equal_those_of_another(version: int) -> None:
    config = CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs
    plain = tuple(
        config(name=f"key.{number}", value=None if number == 3 else "1" * number, config_source=5)
        for number in range(200)
    )
    shared = Shared(plain)
    expected = encode(created(plain), version)

    first, second = encode(created(shared), version), encode(created(shared), version)

    assert first == second == expected == b"".join(encode_parts(created(shared), version))
    assert len(shared.encoded) == (version >= 5)
    assert created(shared) == created(plain)


def test_a_shared_array_that_cannot_be_encoded_is_refused_each_time() -> None:
    config = CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs
    message = created(Shared([config(name="key", value="1"), config(name="key", value="1", config_source=200)]))

    for _ in range(2):
        with pytest.raises(EncodeError, match=r"topics\[0\]\.configs\[1\]\.configSource"):
            encode(message, 7)
