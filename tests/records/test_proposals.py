"""The messages of KIP-4 and of the group proposal: forms as the texts have them, round trips, and no API key."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from records.codec import decode, encode
from records.messages.proposals.group_proposal import (
    ProposedHeartbeatRequest,
    ProposedListGroupsResponse,
    ProposedPartitionOffset,
    ProposedRegisterConsumerResponse,
)
from records.messages.proposals.kip4_proposal import AlterTopicRequest, TopicMetadataResponseV1
from records.printing.guide import fields_of, grammar, guide_of, meaning, meanings, whole_guide
from records.registry import APIS, PROPOSALS, every_name, find_class, request_class, response_class
from records.schema import schema_of
from records.wire import DecodeError
from tests.records.test_round_trips import goes_round

ROOT = Path(__file__).parents[2]

# The forms of the two texts, in the notation of the printed guide. What the comparison pages leave open is explained in
# docs/conformance/group-proposal.md and docs/conformance/kip-4-proposal.md.
FORMS = """\
ProposedListGroups Request => { version:INT16 correlation_id:INT64 client_id:STRING consumer_groups:[STRING] }
ProposedListGroups Response => { version:INT16 correlation_id:INT64 client_id:STRING groups_info:[{ group_name:STRING \
group_members:[STRING] topics:[STRING] controller_broker:{ broker_id:INT32 host:STRING port:INT16 } \
session_timeout:INT64 }] error_code:INT16 }
ProposedCreateGroup Request => { version:INT16 correlation_id:INT64 client_id:STRING consumer_group:STRING \
session_timeout:INT64 topics:[STRING] }
ProposedCreateGroup Response => { version:INT16 correlation_id:INT64 consumer_group:STRING error_code:INT16 }
ProposedDeleteGroup Request => { version:INT16 correlation_id:INT64 client_id:STRING consumer_groups:[STRING] }
ProposedDeleteGroup Response => { version:INT16 correlation_id:INT64 consumer_groups_deleted:[STRING] error_code:INT16 }
ProposedRegisterConsumer Request => { version:INT16 correlation_id:INT64 client_id:STRING consumer_group:STRING \
consumer_id:STRING }
ProposedRegisterConsumer Response => { version:INT16 correlation_id:INT64 client_id:STRING consumer_group:STRING \
partitions_to_own:[{ topic:STRING partition:INT16 offset:INT64 }] error_code:INT16 }
ProposedHeartbeat Request => { version:INT16 correlation_id:INT64 client_id:STRING session_timeout:INT64 }
ProposedHeartbeat Response => { version:INT16 correlation_id:INT64 controller_generation:INT64 error_code:INT16 }
ProposedRewindConsumer Request => { version:INT16 correlation_id:INT64 client_id:STRING consumer_group:STRING \
new_offsets:[{ topic:STRING partition:INT16 offset:INT64 }] }
ProposedRewindConsumer Response => { version:INT16 correlation_id:INT64 consumer_group:STRING \
actual_offsets:[{ topic:STRING partition:INT16 offset:INT64 }] error_code:INT16 }
CreateTopic Response => { topics:[{ topic_name:STRING error_code:INT16 }] }
AlterTopic Request => { topics:[{ topic_name:STRING partitions:INT32 replication_factor:INT32 \
replica_assignment:[{ partition_id:INT32 replica_ids:[INT32] }] \
added_config_entries:[{ config_key:STRING config_value:STRING }] deleted_configs:[STRING] }] }
AlterTopic Response => { topics:[{ topic_name:STRING error_code:INT16 }] }
DeleteTopic Request => { topic_names:[STRING] }
DeleteTopic Response => { topics:[{ topic_name:STRING error_code:INT16 }] }
TopicMetadataRequestV1 Request => { topic_names:[STRING] }
TopicMetadataResponseV1 Response => { brokers:[{ node_id:INT32 host:STRING port:INT32 }] \
topic_metadata:[{ topic_error_code:INT16 topic_name:STRING partition_metadata:[{ partition_error_code:INT16 \
partition_id:INT32 leader:INT32 replicas:[INT32] }] config_entries:[{ config_key:STRING config_value:STRING }] }] }
"""


def on_one_line(printed: str) -> str:
    """A printed grammar with each field's type behind its name."""
    first, *below = printed.splitlines()
    title, _, names = first.partition(" => ")

    def filled(names: str, depth: int) -> str:
        words = []
        for word in names.split():
            if word in "{}":
                words.append(word)
                continue
            line = below.pop(0)
            name, _, kind = line.strip().partition(" => ")
            assert (len(line) - len(line.lstrip()), name) == (depth, word.strip("[]"))
            inner = filled(kind, depth + 2) if kind.startswith("{") else kind
            words.append(f"{name}:[{inner}]" if word.startswith("[") else f"{name}:{inner}")
        return " ".join(words)

    return f"{title.removesuffix(' (Version: 0)')} => {filled(names, 2)}"


def test_the_grammars_equal_those_of_the_proposals() -> None:
    assert [on_one_line(grammar(find_class(name), 0)) for name in PROPOSALS] == FORMS.splitlines()


@pytest.mark.parametrize("name", PROPOSALS)
def test_every_proposed_message_is_decoded_as_encoded(name: str) -> None:
    goes_round(find_class(name), 0)


@pytest.mark.parametrize("name", PROPOSALS)
def test_every_field_of_a_proposed_message_is_described(name: str) -> None:
    head, own = meanings(find_class(name))
    paths = [path for path, _ in fields_of(find_class(name), 0)]

    assert head.endswith((".", ")."))
    assert all(meaning(path, own).endswith(".") for path in paths)
    assert all(any(path == note or path.endswith(f".{note}") for path in paths) for note in own)


def test_no_proposed_message_has_an_api_key_or_is_served() -> None:
    for name in PROPOSALS:
        schema = schema_of(find_class(name))

        assert (schema.api_key, schema.served, schema.versions) == (None, None, (0, 0))
    reached = {side(key).__name__ for key in APIS for side in (request_class, response_class)}
    assert reached.isdisjoint(PROPOSALS)
    assert set(every_name()).isdisjoint(PROPOSALS)


def string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def count(number: int) -> bytes:
    return struct.pack(">i", number)


def test_a_register_consumer_response_has_the_bytes_of_its_form() -> None:
    data = (
        struct.pack(">hq", 1, 7) + string("c") + string("g") + count(1) + string("t") + struct.pack(">hq", 3, 42)
        + struct.pack(">h", 0)
    )  # fmt: skip

    message = decode(ProposedRegisterConsumerResponse, 0, data)

    owned = ProposedPartitionOffset(topic="t", partition=3, offset=42)
    assert message == ProposedRegisterConsumerResponse(
        version=1, correlation_id=7, client_id="c", consumer_group="g", partitions_to_own=(owned,), error_code=0
    )
    assert encode(message, 0) == data


def test_a_list_groups_response_has_the_bytes_of_its_form() -> None:
    data = (
        struct.pack(">hq", 1, 7) + string("c") + count(1) + string("g") + count(2) + string("m1") + string("m2")
        + count(1) + string("t") + count(5) + string("host") + struct.pack(">hq", 9092, 30_000) + struct.pack(">h", 0)
    )  # fmt: skip

    group = decode(ProposedListGroupsResponse, 0, data).groups_info[0]

    assert (group.group_members, group.controller_broker.port, group.session_timeout) == (("m1", "m2"), 9092, 30_000)
    assert encode(decode(ProposedListGroupsResponse, 0, data), 0) == data


def test_an_alter_topic_request_has_the_bytes_of_its_form() -> None:
    data = (
        count(1) + string("t") + count(4) + count(-1) + count(1) + count(0) + count(2) + count(1) + count(2)
        + count(1) + string("retention.ms") + string("5") + count(1) + string("cleanup.policy")
    )  # fmt: skip

    topic = decode(AlterTopicRequest, 0, data).topics[0]

    assert (topic.partitions, topic.replication_factor, topic.deleted_configs) == (4, -1, ("cleanup.policy",))
    assert topic.replica_assignment[0].replica_ids == (1, 2)
    assert encode(decode(AlterTopicRequest, 0, data), 0) == data


@pytest.mark.parametrize("cls", [ProposedListGroupsResponse, AlterTopicRequest, TopicMetadataResponseV1])
def test_a_proposed_message_that_is_cut_short_is_refused(cls: type) -> None:
    for size in range(3):
        with pytest.raises(DecodeError):
            decode(cls, 0, b"\0" * size)


def test_the_guide_prints_them_by_name_and_at_its_end() -> None:
    assert guide_of("altertopicrequest").startswith("### AlterTopicRequest\n\nAsks to change replicas")
    printed = list(whole_guide())
    assert [piece.split("\n")[0] for piece in printed[-len(PROPOSALS) :]] == [f"### {name}" for name in PROPOSALS]


def fields_listed_in(page: str, name: str) -> set[str]:
    """The fields of a message that the page's table of readings tells."""
    lines = (ROOT / "docs" / "conformance" / page).read_text().splitlines()
    rows = [cells for line in lines if len(cells := line.strip("| ").split(" | ")) == 4]
    found = set()
    for messages, fields, _, _ in rows:
        named = messages.split(", ")
        every = "all" in named or ("all requests" in named and name.endswith("Request"))
        if every or {name, name.removeprefix("Proposed")} & set(named):
            found.update(fields.split(", "))
    return found


@pytest.mark.parametrize("name", PROPOSALS)
def test_the_pages_explain_the_reading_of_each_field(name: str) -> None:
    page = "group-proposal.md" if name.startswith("Proposed") else "kip-4-proposal.md"

    fields = {path.split(".")[-1] for path, _ in fields_of(find_class(name), 0)}

    assert fields - fields_listed_in(page, name) == set()


def test_the_example_of_the_page_decodes() -> None:
    data = bytes.fromhex("000100000000000000070001630000000000007530")

    message = decode(ProposedHeartbeatRequest, 0, data)

    assert message == ProposedHeartbeatRequest(version=1, correlation_id=7, client_id="c", session_timeout=30_000)
