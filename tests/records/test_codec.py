"""Encoding and decoding: which bytes and values are refused, the position of errors, and what is not copied."""

from __future__ import annotations

from codecs import lookup_error, register_error
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records import codec
from records.codec import decode, decode_lenient, decode_prefix, decode_within, encode, encode_into, encode_parts
from records.generation.decoding import JAVA_TEXT, DecoderSource, make_decoder
from records.generation.encoding import PART_MIN
from records.headers import RequestHeader
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.configs import ConfigRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, TopicRecord
from records.registry import find_class
from records.schema import default_of, replace, schema_of
from records.wire import DecodeError, EncodeError
from tests.records.golden import wire_rows

if TYPE_CHECKING:
    from collections.abc import Callable

TOPIC_ID = bytes(range(16))
TOPIC = TopicRecord(name="orders", topic_id=TOPIC_ID)


def fault(cls: type, version: int, data: bytes) -> tuple[str, int, str]:
    with pytest.raises(DecodeError) as raised:
        decode(cls, version, data)
    assert (raised.value.message, raised.value.version) == (cls.__name__, version)
    return raised.value.field, raised.value.offset, raised.value.reason


def test_bytes_left_over_are_refused_and_counted() -> None:
    assert fault(TopicRecord, 0, encode(TOPIC, 0) + b"xy") == ("", 24, "2 bytes are left after the message")


def test_a_message_may_be_within_other_bytes() -> None:
    data = encode(TOPIC, 0)

    assert decode_prefix(TopicRecord, 0, b"ab" + data + b"cd", 2) == (TOPIC, 2 + len(data))


def test_the_offset_of_a_fault_counts_from_the_start_of_the_message() -> None:
    with pytest.raises(DecodeError) as raised:
        decode_prefix(TopicRecord, 0, b"xyz" + encode(TOPIC, 0)[:-4], 3)

    assert (raised.value.field, raised.value.offset, raised.value.reason) == ("topicId", 7, "the data end at byte 20")


def test_a_fault_names_the_path_of_its_field() -> None:
    topic = CreateTopicsRequest.CreatableTopic
    assignment = topic.CreatableReplicaAssignment
    request = CreateTopicsRequest(
        topics=(
            topic(name="a", num_partitions=1, replication_factor=1, assignments=(), configs=()),
            topic(
                name="b",
                num_partitions=-1,
                replication_factor=-1,
                assignments=(assignment(partition_index=0, broker_ids=(1, 2)),),
                configs=(),
            ),
        )
    )
    data = encode(request, 7)
    place = data.index(b"\x03\x00\x00\x00\x01\x00\x00\x00\x02")

    broken = data[:place] + b"\xff" + data[place + 1 :]

    assert fault(CreateTopicsRequest, 7, broken)[:2] == ("topics[1].assignments[0].brokerIds", place)


@pytest.mark.parametrize(
    ("data", "field", "offset", "reason"),
    [
        ("", "name", 0, "the data end at byte 0"),
        ("00", "name", 0, "null or a negative length where a value is required: -1"),
        ("8080808080", "name", 0, "varint is longer than 5 bytes"),
        ("ffffffff1f", "name", 0, "varint 8589934591 exceeds 32 bits"),
        ("06" + "61" * 3, "name", 0, "length 5 does not fit: 3 bytes are left"),
        ("03c328", "name", 0, "not UTF-8: invalid continuation byte"),
        ("8180" + "02" + "61" * 40000, "name", 0, "string longer than 32767 bytes: 32768"),
        ("0261" + "00" * 15, "topicId", 2, "the data end at byte 17"),
        ("0261" + "00" * 16, "", 18, "the data end at byte 18"),
        ("0261" + "00" * 16 + "7f", "", 18, "tag count 127 does not fit: 0 bytes are left"),
        ("0261" + "00" * 16 + "0105", "", 18, "tag count 1 does not fit: 1 bytes are left"),
        ("0261" + "00" * 16 + "010503" + "00", "", 19, "size of tag 3 does not fit: 1 bytes are left"),
        ("0261" + "00" * 16 + "0205000500", "", 21, "tag out of order: 5"),
        ("0261" + "00" * 16 + "020501aa04", "", 22, "the data end at byte 23"),
    ],
)
def test_every_length_is_checked_and_named(data: str, field: str, offset: int, reason: str) -> None:
    assert fault(TopicRecord, 0, bytes.fromhex(data)) == (field, offset, reason)


def test_a_tagged_field_must_fill_its_size() -> None:
    change = encode(PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, leader=2), 0)
    assert change[20:] == bytes.fromhex("01 01 04 00000002")

    longer = change[:22] + bytes.fromhex("05 00000002 00")

    assert fault(PartitionChangeRecord, 0, longer) == ("leader", 23, "size of tag 5 does not fit: 4 bytes are left")


def test_an_old_length_may_not_be_below_minus_one() -> None:
    assert fault(DeleteTopicsRequest, 1, bytes.fromhex("fffffffe"))[2].endswith("a value is required: -2")
    assert fault(RequestHeader, 1, bytes.fromhex("0003 0000 00000000 fffe")) == ("clientId", 8, "negative length: -2")


HEAD = "0003 0009 00000007 "


@pytest.mark.parametrize(
    ("data", "client_id", "left"),
    [
        ("fffe 00", None, 0),
        ("0002 c328 00", "\ufffd(", 0),
        ("0003 eda080 00", "\ufffd", 0),
        ("0003 e28241 00", "\ufffdA", 0),
        ("0001 61 02 0100 0100", "a", 0),
        ("0001 61 02 050162 0300", "a", 0),
        ("0001 61 8080808070", "a", 0),
    ],
    ids=["length", "text", "surrogate", "cut text", "same tag", "order of tags", "33rd bit"],
)
def test_what_kafka_reads_is_read_leniently_and_refused_otherwise(data: str, client_id: str, left: int) -> None:
    body = bytes.fromhex(HEAD + data)

    header, end = decode_lenient(RequestHeader, 2, body, 0)

    assert (header.client_id, len(body) - end) == (client_id, left)
    with pytest.raises(DecodeError):
        decode_prefix(RequestHeader, 2, body, 0)


def one_part_as_java(error: UnicodeError) -> tuple[str, int]:
    """An error handler that decodes one malformed part of a text."""
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    is_surrogate = data[start] == 0xED and data[start + 1 : start + 2] >= b"\xa0"
    if is_surrogate and all(0x80 <= byte < 0xC0 for byte in data[start + 1 : start + 3]) and len(data) >= start + 3:
        return "\ufffd", start + 3
    return "\ufffd", error.end


register_error("one-part-as-java", one_part_as_java)
# The bytes at the edges of the ranges of UTF-8.
PARTS = [
    bytes([each]) for each in b"a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xed\xee\xef\xf0\xf1\xf4\xf5\xff"
]
PARTS += ["é".encode(), "€".encode(), "😀".encode(), b"\xed\xa0\x80", b"\xed\xbf", b"\xf0\x90\x80", b"\xff" * 9]


@given(st.binary(max_size=200) | st.lists(st.sampled_from(PARTS), max_size=60).map(b"".join))
def test_any_text_is_read_leniently_as_each_of_its_malformed_parts_is(data: bytes) -> None:
    body = bytes.fromhex(HEAD) + len(data).to_bytes(2, "big") + data + b"\0"

    header, _ = decode_lenient(RequestHeader, 2, body, 0)

    assert header.client_id == data.decode("utf-8", "one-part-as-java")


def test_the_malformed_parts_of_a_text_are_handled_in_one_call(request: pytest.FixtureRequest) -> None:
    handler = lookup_error(JAVA_TEXT)
    starts: list[int] = []

    def counted(error: UnicodeError) -> tuple[str | bytes, int]:
        assert isinstance(error, UnicodeDecodeError)
        starts.append(error.start)
        return handler(error)

    request.addfinalizer(lambda: register_error(JAVA_TEXT, handler))
    register_error(JAVA_TEXT, counted)
    data = "tópic".encode() + b"\xff" * 1000 + b"\xed\xa0\x80\xe2\x82" + "😀".encode()

    assert data.decode("utf-8", JAVA_TEXT) == "tópic" + "\ufffd" * 1002 + "😀"
    assert starts == [6]


def test_what_kafka_refuses_is_refused_leniently_with_the_same_text() -> None:
    tags = ("01 05 02 61", "8080808080 00", "80808080 80", "0105ffffffff0f")
    for data in ("", "0005 61", *(f"0001 61 {each}" for each in tags)):
        body = bytes.fromhex(HEAD + data)
        texts = []
        for decoding in (decode_lenient, decode_prefix):
            with pytest.raises(DecodeError) as found:
                decoding(RequestHeader, 2, body, 0)
            texts.append(str(found.value))
        assert texts[0] == texts[1]


def test_a_negative_number_of_tags_is_refused_leniently_too() -> None:
    with pytest.raises(DecodeError, match="tag count"):
        decode_lenient(RequestHeader, 2, bytes.fromhex(HEAD + "0001 61 ffffffff0f 77"), 0)


def test_a_known_tag_is_read_leniently_whatever_its_size_and_the_last_one_counts() -> None:
    change = encode(PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, leader=2), 0)

    body = change[:20] + bytes.fromhex("02 01 63 00000002 01 00 00000003")

    assert decode_lenient(PartitionChangeRecord, 0, body, 0)[0].leader == 3


def test_a_tag_that_only_other_versions_have_is_refused() -> None:
    """As in Kafka's readers: tag 1 of a BrokerHeartbeat is of version 2 (KIP-1066), tag 99 of none."""
    heartbeat = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=2, current_metadata_offset=3, want_fence=False, want_shut_down=False
    )
    body = encode(heartbeat, 1)[:-1]
    known, unknown = body + bytes.fromhex("01 01 01 00"), body + bytes.fromhex("01 63 01 00")

    for decoding in (decode_prefix, decode_lenient):
        with pytest.raises(DecodeError, match="this version of the message has no tag: 1"):
            decoding(BrokerHeartbeatRequest, 1, known, 0)
        assert decoding(BrokerHeartbeatRequest, 1, unknown, 0)[0].unknown_tags == ((99, b"\0"),)  # type: ignore[attr-defined]


def test_lenient_and_strict_decoding_agree_on_what_both_accept() -> None:
    """Bytes of stock, and those with one changed."""
    rng = Random(6)
    for name, version, _, data in wire_rows("wire.tsv")[::5]:
        cls = find_class(name)
        for changed in (data, _with_one_changed(data, rng)):
            run = make_decoder(schema_of(cls), version, lenient=True)
            try:
                strict = decode_prefix(cls, version, changed, 0)
            except DecodeError:
                continue
            assert run(changed, 0, [100_000]) == strict


def test_a_message_with_more_elements_than_may_be_is_refused_before_they_are_read() -> None:
    named = CreateTopicsRequest.CreatableTopic
    assigned = named.CreatableReplicaAssignment(partition_index=0, broker_ids=(1, 2, 3, 4))
    topic = named(name="t", num_partitions=-1, replication_factor=-1, assignments=(assigned,) * 3, configs=())
    request = CreateTopicsRequest(topics=(topic,) * 2, timeout_ms=1, validate_only=False)
    for version in (4, 7):
        data = encode(request, version)

        whole = decode_within(CreateTopicsRequest, version, data, 0, 2 * (1 + 3 * (1 + 2)))

        assert whole == (request, len(data))
        with pytest.raises(DecodeError, match="it has more than 19 entries"):
            decode_within(CreateTopicsRequest, version, data, 0, 19)
        with pytest.raises(DecodeError, match=r"the data end|bytes are left"):
            decode_within(CreateTopicsRequest, version, data[:-1], 0, 20)


def test_unknown_tags_count_as_elements() -> None:
    body = bytes.fromhex(HEAD + "0001 61") + b"\x05" + b"".join(bytes((tag, 0)) for tag in range(5))

    with pytest.raises(DecodeError, match="more than 4 entries"):
        decode_within(RequestHeader, 2, body, 0, 4)


def _with_one_changed(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data)) if data else 0
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def test_an_unknown_version_is_refused_in_both_directions() -> None:
    assert fault(TopicRecord, 1, b"") == ("", -1, "there are versions 0 to 0")
    with pytest.raises(EncodeError, match="TopicRecord has versions 0 to 0, not 1"):
        encode(TOPIC, 1)


def test_fast_and_careful_decoding_accept_the_same_bytes() -> None:
    """Bytes of stock, and those with one changed: the careful decoder must find a fault where the fast one did."""
    rng = Random(5)
    for name, version, _, data in wire_rows("wire.tsv")[::3]:
        schema = schema_of(find_class(name))
        fast, careful = make_decoder(schema, version), make_decoder(schema, version, careful=True)
        for _ in range(4):
            changed = bytearray(data)
            if changed:
                changed[rng.randrange(len(changed))] = rng.choice((0, 1, 2, 127, 128, 255))
            outcomes = []
            for run, extra in ((fast, ()), (careful, (["", 0],))):
                try:
                    outcomes.append(run(bytes(changed), 0, *extra))
                except codec.MALFORMED:
                    outcomes.append("refused")

            assert outcomes[0] == outcomes[1], (name, version, changed.hex())


def test_many_unknown_tags_are_read_in_linear_time() -> None:
    """A list takes them: a tuple that grew by one each time would copy them all for each."""
    tags = tuple((100 + tag, b"") for tag in range(50_000))

    data = encode(replace(TOPIC, unknown_tags=tags), 0)

    assert decode(TopicRecord, 0, data).unknown_tags == tags  # type: ignore[attr-defined]


def test_long_arrays_are_decoded_as_encoded() -> None:
    long = tuple(range(1000))
    record = PartitionRecord(
        partition_id=1,
        topic_id=TOPIC_ID,
        replicas=long,
        isr=long[:63],
        removing_replicas=long[:64],
        adding_replicas=long[:65],
        directories=tuple(bytes([i % 256]) * 16 for i in range(70)),
        eligible_leader_replicas=long[:31],
        last_known_elr=long[:32],
    )

    assert decode(PartitionRecord, 2, encode(record, 2)) == record


def test_a_value_that_the_version_lacks_is_refused_unless_it_may_be_dropped() -> None:
    record = PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, eligible_leader_replicas=(1,))
    request = default_of(FetchRequest)

    with pytest.raises(
        EncodeError, match="PartitionChangeRecord v1: eligibleLeaderReplicas has a value, which version 1"
    ):
        encode(record, 1)
    assert encode(replace(request, rack_id="here"), 4) == encode(request, 4)


def test_null_is_refused_where_the_version_has_none() -> None:
    topic = FetchResponse.FetchableTopicResponse
    partition = topic.PartitionData(partition_index=0, error_code=0, high_watermark=0, records=None)
    answer = FetchResponse(responses=(topic(topic="a", partitions=(partition,)),))

    assert decode(FetchResponse, 4, encode(answer, 4)) == answer
    with pytest.raises(EncodeError, match="TopicRecord v0 name: 'NoneType'"):
        encode(replace(TOPIC, name=None), 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partition_id": 2**31}, "PartitionRecord v2 partitionId: "),
        ({"topic_id": bytes(15)}, "PartitionRecord v2: topicId has no 16 bytes of uuid"),
        ({"isr": (1, "2")}, r"PartitionRecord v2 isr\[1\]: "),
        ({"directories": (bytes(16), bytes(4))}, "PartitionRecord v2: directories has a uuid of other than 16 bytes"),
        ({"leader_recovery_state": 200}, "PartitionRecord v2 leaderRecoveryState: "),
        ({"replicas": 5}, "PartitionRecord v2 replicas: "),
    ],
)
def test_a_value_of_the_wrong_type_is_reported_with_its_field(change: dict[str, object], message: str) -> None:
    with pytest.raises(EncodeError, match=message):
        encode(replace(default_of(PartitionRecord), **change), 2)


def test_a_string_of_more_than_32767_bytes_is_refused_as_stock_refuses_it() -> None:
    config = ConfigRecord(resource_type=2, resource_name="a", name="b", value="ä" * 16384)

    with pytest.raises(EncodeError, match="value has a string too long"):
        encode(config, 0)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(EncodeError, match=r"TopicRecord v0 name: .*surrogates not allowed"):
        encode(replace(TOPIC, name="\ud800"), 0)


def test_unknown_tags_are_refused_in_inflexible_versions() -> None:
    with pytest.raises(EncodeError, match="unknownTags"):
        encode(RequestHeader(request_api_key=3, request_api_version=0, correlation_id=1, unknown_tags=((1, b""),)), 1)  # type: ignore[call-arg]


def test_known_and_unknown_tags_are_sorted() -> None:
    change = PartitionChangeRecord(
        partition_id=1, topic_id=TOPIC_ID, leader=2, leader_recovery_state=0, unknown_tags=((3, b"x"), (200, b"yz"))
    )  # type: ignore[call-arg]

    data = encode(change, 0)

    assert data[20:] == bytes.fromhex("04 01 04 00000002 03 01 78 05 01 00 c801 02 797a")


def test_a_tag_that_is_given_twice_is_refused() -> None:
    change = PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, leader=2, unknown_tags=((1, b"x"),))  # type: ignore[call-arg]

    with pytest.raises(EncodeError, match="tag 1 is given twice"):
        encode(change, 0)


def test_large_record_bytes_are_parts_of_their_own() -> None:
    topic = FetchResponse.FetchableTopicResponse
    small, large = bytes(PART_MIN - 1), memoryview(bytes(PART_MIN))
    answer = FetchResponse(
        responses=(
            topic(
                topic_id=TOPIC_ID,
                partitions=tuple(
                    topic.PartitionData(partition_index=i, error_code=0, high_watermark=9, records=records)  # type: ignore[arg-type]
                    for i, records in enumerate((small, large, large))
                ),
            ),
        )
    )

    parts = encode_parts(answer, 17)

    assert b"".join(parts) == encode(answer, 17)
    assert [part is large for part in parts] == [False, True, False, True, False]


def test_encoding_into_a_buffer_appends() -> None:
    out = bytearray(b"head")

    encode_into(TOPIC, 0, out)

    assert out == b"head" + encode(TOPIC, 0)


def test_a_struct_inside_a_message_has_no_bytes_of_its_own() -> None:
    with pytest.raises(EncodeError, match="TopicData has versions"):
        encode(AlterPartitionRequest.TopicData(topic_id=TOPIC_ID, partitions=()), 3)


def test_the_source_of_a_decoder_can_be_read() -> None:
    assert "x1.name = b[p:q" in DecoderSource(schema_of(TopicRecord), 0).text()


@pytest.mark.parametrize("write", [lambda message: encode_into(message, 2, bytearray()), lambda m: encode_parts(m, 2)])
def test_every_way_to_encode_names_the_field_in_errors(write: Callable[[object], object]) -> None:
    with pytest.raises(EncodeError, match="PartitionRecord v2 leader: "):
        write(replace(default_of(PartitionRecord), leader="1"))
    with pytest.raises(EncodeError, match="PartitionRecord v2: topicId has no 16 bytes of uuid"):
        write(replace(default_of(PartitionRecord), topic_id=b""))
    with pytest.raises(EncodeError, match="FetchRequest has versions 0 to 18, not 19"):
        codec.encoder(FetchRequest, 19)


def test_an_error_in_an_inner_struct_is_reported_with_its_path() -> None:
    topic = CreateTopicsRequest.CreatableTopic
    good = topic(name="a", num_partitions=1, replication_factor=1, assignments=(), configs=())

    for bad, path in ((replace(good, num_partitions=2**40), r"topics\[1\].numPartitions"), ("b", r"topics\[1\]")):
        with pytest.raises(EncodeError, match=f"CreateTopicsRequest v7 {path}: "):
            encode(replace(default_of(CreateTopicsRequest), topics=(good, bad)), 7)
