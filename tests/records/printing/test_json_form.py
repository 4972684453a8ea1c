"""JSON of messages: what Kafka's converters accept and refuse is accepted and refused."""

from __future__ import annotations

from typing import Any

import pytest

from records.messages.brokers_only.produce import ProduceRequest
from records.messages.brokers_only.streams_groups import StreamsGroupHeartbeatResponse
from records.messages.brokers_only.transactions import TxnOffsetCommitRequest
from records.messages.envelope import EnvelopeRequest
from records.messages.fetch import FetchRequest
from records.metadata.brokers import FenceBrokerRecord
from records.metadata.configs import ClientQuotaRecord
from records.metadata.topics import PartitionChangeRecord, TopicRecord
from records.printing.json_form import from_json, to_json
from records.printing.json_text import json_text, read_json
from records.schema import default_of, replace
from records.wire import DecodeError, EncodeError

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
CHANGE = {"partitionId": 0, "topicId": TOPIC_ID}


def refusal(cls: type[Any], version: int, text: str) -> str:
    with pytest.raises(DecodeError) as error:
        from_json(cls, version, read_json(text))
    return str(error.value)


def test_a_tagged_field_is_left_out_where_it_has_its_default() -> None:
    change = PartitionChangeRecord(partition_id=0, topic_id=bytes(15) + b"\1", isr=())

    assert to_json(change, 2) == {**CHANGE, "isr": []}
    assert from_json(PartitionChangeRecord, 2, {**CHANGE, "isr": []}) == change


def test_keys_are_in_the_order_of_the_schema() -> None:
    assert json_text(to_json(replace(default_of(FetchRequest), cluster_id="c"), 17)) == (
        '{"clusterId":"c","maxWaitMs":0,"minBytes":0,"maxBytes":2147483647,"isolationLevel":0,"sessionId":0,'
        '"sessionEpoch":-1,"topics":[],"forgottenTopicsData":[],"rackId":""}'
    )


def test_bytes_are_base64() -> None:
    request = EnvelopeRequest(request_data=b"\1\2\3", request_principal=None, client_host_address=b"\xff\xfe")

    tree = to_json(request, 0)

    assert tree == {"requestData": "AQID", "requestPrincipal": None, "clientHostAddress": "//4="}
    assert from_json(EnvelopeRequest, 0, tree) == request


def test_records_are_base64_or_their_size() -> None:
    topic = ProduceRequest.TopicProduceData
    request = ProduceRequest(
        acks=1,
        timeout_ms=5,
        topic_data=(topic(name="a", partition_data=(topic.PartitionProduceData(index=0, records=b"\1\2\3"),)),),
    )

    def partition(tree: dict[str, Any]) -> dict[str, Any]:
        return tree["topicData"][0]["partitionData"][0]  # type: ignore[no-any-return]

    assert partition(to_json(request, 9)) == {"index": 0, "records": "AQID"}
    assert partition(to_json(request, 9, records_as_sizes=True)) == {"index": 0, "recordsSizeInBytes": 3}
    assert from_json(ProduceRequest, 9, to_json(request, 9)) == request


def test_a_field_that_44_renamed_has_the_name_of_its_version_and_is_read_by_both() -> None:
    request = default_of(TxnOffsetCommitRequest)
    request = replace(request, generation_id_or_member_epoch=7)

    assert to_json(request, 5)["generationId"] == 7
    assert to_json(request, 6)["generationIdOrMemberEpoch"] == 7
    tree = to_json(request, 5)
    del tree["generationId"]
    assert from_json(TxnOffsetCommitRequest, 5, {**tree, "generationIdOrMemberEpoch": 7}) == request


def test_one_key_that_was_two_fields_goes_to_the_one_of_its_version() -> None:
    answer = replace(default_of(StreamsGroupHeartbeatResponse), acceptable_recovery_lag_legacy=4)
    later = replace(default_of(StreamsGroupHeartbeatResponse), acceptable_recovery_lag=4)

    assert to_json(answer, 0)["acceptableRecoveryLag"] == to_json(later, 1)["acceptableRecoveryLag"] == 4
    assert from_json(StreamsGroupHeartbeatResponse, 0, to_json(answer, 0)) == answer
    assert from_json(StreamsGroupHeartbeatResponse, 1, to_json(later, 1)) == later


def test_unknown_keys_are_ignored_and_of_repeated_ones_the_last_counts() -> None:
    text = '{"id":1,"epoch":2,"junk":{"a":[]},"id":3}'

    assert from_json(FenceBrokerRecord, 0, read_json(text)) == FenceBrokerRecord(id=3, epoch=2)


def test_a_field_that_the_version_lacks_is_accepted() -> None:
    change = from_json(PartitionChangeRecord, 0, {**CHANGE, "eligibleLeaderReplicas": [2], "directories": None})

    assert change.eligible_leader_replicas == (2,)
    with pytest.raises(EncodeError, match="eligibleLeaderReplicas has a value, which version 0 cannot carry"):
        to_json(change, 0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"id":1}', "epoch: is missing"),
        ('{"id":"1","epoch":2}', "id: a whole number is wanted, not a string"),
        ('{"id":1.0,"epoch":2}', "id: a whole number is wanted, not the number 1.0"),
        ('{"id":1e2,"epoch":2}', "id: a whole number is wanted, not the number 100.0"),
        ('{"id":true,"epoch":2}', "id: a whole number is wanted, not a boolean"),
        ('{"id":null,"epoch":2}', "id: null where a value is required"),
        ('{"id":[],"epoch":2}', "id: a whole number is wanted, not an array"),
        ('{"id":2147483648,"epoch":2}', "id: 2147483648 is not within -2147483648 to 2147483647"),
        ('{"id":1,"epoch":9223372036854775808}', "epoch: 9223372036854775808 is not within -9223372036854775808"),
        ("[]", "an object is wanted, not an array"),
        ("3", "an object is wanted, not the number 3"),
        ("null", "an object is wanted, not null"),
        ('"a"', "an object is wanted, not a string"),
    ],
)
def test_numbers_that_kafka_refuses_are_refused(text: str, reason: str) -> None:
    assert refusal(FenceBrokerRecord, 0, text).startswith(
        f"FenceBrokerRecord v0 {reason}".replace(" an object", ": an object")
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('"name":null', "name: null where a value is required"),
        ('"name":3', "name: a string is wanted, not the number 3"),
        ('"topicId":null', "topicId: null where a value is required"),
        ('"topicId":"AAAA"', "topicId: Input string `AAAA` decoded as 3 bytes"),
        ('"topicId":"AAAAAAAAAAAAAAAAAAAA+/"', "topicId: Illegal base64 character 2b"),
    ],
)
def test_strings_and_uuids_that_kafka_refuses_are_refused(change: str, reason: str) -> None:
    text = f'{{"name":"a","topicId":"{TOPIC_ID}",{change}}}'

    assert refusal(TopicRecord, 0, text).startswith(f"TopicRecord v0 {reason}")


@pytest.mark.parametrize("data", ['"AQI"', '"-_-_"', '"A QID"', '"ä"', "12", "null"])
def test_bytes_that_are_not_base64_are_refused(data: str) -> None:
    text = f'{{"requestData":{data},"requestPrincipal":null,"clientHostAddress":""}}'

    assert refusal(EnvelopeRequest, 0, text).startswith("EnvelopeRequest v0 requestData: ")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"isr": {}}, "isr: an array is wanted, not an object"),
        ({"isr": [1, None]}, "isr[1]: a whole number is wanted, not null"),
        ({"leaderRecoveryState": 128}, "leaderRecoveryState: 128 is not within -128 to 127"),
    ],
)
def test_a_fault_names_its_path(change: dict[str, Any], reason: str) -> None:
    assert refusal(PartitionChangeRecord, 2, json_text({**CHANGE, **change})) == f"PartitionChangeRecord v2 {reason}"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("1", "value: a number with a fraction is wanted, as 1.0, not the number 1"),
        ('"1.5"', "value: a number with a fraction is wanted, as 1.0, not a string"),
        ("null", "value: null where a value is required"),
    ],
)
def test_doubles_that_kafka_refuses_are_refused(value: str, reason: str) -> None:
    text = f'{{"entity":[],"key":"k","remove":true,"value":{value}}}'

    assert refusal(ClientQuotaRecord, 0, text) == f"ClientQuotaRecord v0 {reason}"


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, 1e300, float("inf"), float("-inf")])
def test_doubles_are_read_as_written(value: float) -> None:
    quota = ClientQuotaRecord(entity=(), key="k", value=value, remove=False)

    assert from_json(ClientQuotaRecord, 0, read_json(json_text(to_json(quota, 0)))) == quota


def test_only_true_and_false_are_booleans() -> None:
    text = '{"entity":[],"key":"k","remove":1,"value":1.0}'

    assert (
        refusal(ClientQuotaRecord, 0, text) == "ClientQuotaRecord v0 remove: true or false is wanted, not the number 1"
    )


def test_an_unknown_version_is_refused_in_both_directions() -> None:
    assert refusal(TopicRecord, 4, "{}") == "TopicRecord v4: there are versions 0 to 0"
    with pytest.raises(EncodeError, match="TopicRecord has versions 0 to 0, not 4"):
        to_json(default_of(TopicRecord), 4)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": None}, "name has null"),
        ({"name": 3}, "3 is no string"),
        ({"topic_id": b"short"}, "b'short' is no uuid"),
        ({"name": "\ud800"}, "is no string"),
    ],
)
def test_a_message_with_wrong_types_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(EncodeError, match=reason):
        to_json(replace(default_of(TopicRecord), **changes), 0)
