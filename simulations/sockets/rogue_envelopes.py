"""Rogue clients that send valid and invalid envelopes, and requests with too many entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS
from records.codec import encode
from records.data import DefaultPrincipalData
from records.errors import Error
from records.headers import RequestHeader, request_header_version
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import DescribeConfigsRequest
from records.messages.envelope import EnvelopeRequest
from records.messages.quorum import DescribeQuorumRequest
from records.messages.reassignments import ElectLeadersRequest, ListPartitionReassignmentsRequest
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.metadata_log import METADATA_TOPIC
from records.schema import schema_of
from records.wire import EncodeError
from simulations.sockets.envelopes import CLOSED
from simulations.sockets.rogue_clients import frame, request_bytes
from simulations.world.streams import between

if TYPE_CHECKING:
    from simulations.sockets.rogue_clients import Manner, Visit

ADDRESSES = (
    bytes((10, 0, 0, 9)), bytes(10) + b"\xff\xff" + bytes((10, 0, 0, 9)), bytes(15) + b"\1",
    bytes.fromhex("20010db800000000000000000000a0b1"),
)  # fmt: skip
NO_ADDRESSES = (b"", bytes(3), bytes(5), bytes(17))
CLIENT = "of a broker"
# Far above what any API has.
NO_VERSION = 20
# The limits of one request: entries that are served, entries that are refused, numbers that count as one entry.
ENTRIES_MAX, ANSWERED_MAX, NUMBERS = 30_000, 100_000, 8


def principal(name: str = "somebody") -> bytes:
    return bytes(2) + encode(DefaultPrincipalData(type="User", name=name, token_authenticated=True), 0)


def rogue_envelopes(visit: Visit) -> None:
    """Envelopes of every version; some are valid, others have one thing wrong."""
    for number in range(1, 7):
        visit.write(frame(request_bytes(_envelope(visit, number), 0, number)))


def _envelope(visit: Visit, number: int) -> EnvelopeRequest:
    rng = visit.rng
    request = _QUESTIONS[int(rng.random() * len(_QUESTIONS))]
    low, high = APIS[schema_of(type(request)).api_key or 0].versions
    data = _write(request, between(rng, low, high), high, number)
    sender, address = principal(), ADDRESSES[int(rng.random() * len(ADDRESSES))]
    wrong = int(rng.random() * 2 * len(_WRONGS))
    if wrong < len(_WRONGS):
        sender, address, data = _WRONGS[wrong](sender, address, data)
    return EnvelopeRequest(request_data=data, request_principal=sender, client_host_address=address)


def _write(request: Any, version: int, newest: int, number: int) -> bytes:
    """A client's request, in a version that can carry it."""
    try:
        body = encode(request, version)
    except EncodeError:
        version, body = newest, encode(request, newest)
    header = RequestHeader(
        request_api_key=schema_of(type(request)).api_key or 0, request_api_version=version,
        correlation_id=number * 1000 + 7, client_id=CLIENT,
    )  # fmt: skip
    return encode(header, request_header_version(type(request), version)) + body


_QUESTIONS: tuple[Any, ...] = (
    ListPartitionReassignmentsRequest(topics=None, timeout_ms=1000),
    ElectLeadersRequest(topic_partitions=(), timeout_ms=1000),
    DescribeQuorumRequest(
        topics=(
            DescribeQuorumRequest.TopicData(
                topic_name=METADATA_TOPIC,
                partitions=(DescribeQuorumRequest.TopicData.PartitionData(partition_index=0),),
            ),
        )
    ),
    CreateTopicsRequest(
        topics=(
            CreateTopicsRequest.CreatableTopic(
                name="a/b", num_partitions=1, replication_factor=1, assignments=(), configs=()
            ),
        ),
        timeout_ms=1000,
        validate_only=True,
    ),
    DeleteTopicsRequest(topic_names=("nowhere",), timeout_ms=1000),
)

_NOT_TO_BE_SENT_ON = _write(DescribeClusterRequest(include_cluster_authorized_operations=False), 1, 1, 9)

# The principal, the address and the request, of which one is made wrong.
_WRONGS: tuple[Any, ...] = (
    lambda _who, address, data: (None, address, data),
    lambda _who, address, data: (b"\0", address, data),
    lambda sender, address, data: (b"\0\1" + sender[2:], address, data),
    lambda sender, address, data: (sender[:-1], address, data),
    *(lambda sender, _address, data, given=given: (sender, given, data) for given in NO_ADDRESSES),
    lambda sender, address, data: (sender, address, data[:3]),
    lambda sender, address, data: (sender, address, data[:-1]),
    lambda sender, address, data: (sender, address, b"\x7f\x7f" + data[2:]),
    lambda sender, address, data: (sender, address, data[:2] + NO_VERSION.to_bytes(2, "big") + data[4:]),
    lambda sender, address, _data: (sender, address, _NOT_TO_BE_SENT_ON),
)


def bulky(visit: Visit) -> None:
    """One request with too many entries: it is refused, or gets no response at all."""
    if visit.size % 2:
        one = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=2, resource_name="a", configuration_keys=("b",)
        )
        request: Any = DescribeConfigsRequest(resources=(one,) * (ENTRIES_MAX // 2 + 1))
        expected = int(Error.POLICY_VIOLATION)
    else:
        many = tuple(range(ANSWERED_MAX * NUMBERS))
        topic = ElectLeadersRequest.TopicPartitions(topic="a", partitions=many)
        request = ElectLeadersRequest(election_type=0, topic_partitions=(topic,), timeout_ms=1000)
        expected = CLOSED
    version = APIS[schema_of(type(request)).api_key or 0].versions[1]
    visit.expects[1] = expected
    visit.write(frame(request_bytes(request, version, 1)))


# In plans they are drawn after everything else, so that the other faults of a seed stay the same.
MANNERS: dict[str, Manner] = {"letters": rogue_envelopes, "bulky": bulky}
