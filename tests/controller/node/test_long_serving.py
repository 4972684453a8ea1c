"""Long requests to a real node: a client that sends them, beside one that does not."""

from __future__ import annotations

import contextlib
import select
import threading
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from controller.core.controller import Controller
from controller.interface.env import Env
from controller.interface.inputs import RequestContext, Requested
from controller.interface.settings import Settings
from controller.node.long_serving import LongServing
from controller.state.state import State
from raft.interface.inputs import Source
from records.codec import decode_prefix, encode
from records.errors import Error
from records.headers import RequestHeader, ResponseHeader
from records.messages.envelope import EnvelopeRequest
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreateTopicsRequest
from records.messages.versions import ApiVersionsRequest
from records.registry import response_class
from records.schema import replace, schema_of
from simulations.chaos.brokers import heartbeat
from tests.benchmarks.client import Connection, create_topics, register
from tests.interop.ask import receive
from tests.interop.cluster import OURS, Cluster, eventually
from tests.interop.stock import Stock

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from controller.interface.effects import Effect

NAMES = 29_990
# Of a DefaultPrincipalData, version 0: User:client, without a token.
PRINCIPAL = b"\0\0\x05User\x07client\0\0"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A quorum of one with a broker."""
    root: Path = tmp_path_factory.mktemp("long")
    cluster = Cluster(root, Stock("4.3.1"))
    cluster.plan([OURS], 0)
    cluster.format(controllers_by=OURS)
    cluster.start()
    try:
        node = cluster.controllers[cluster.await_leader()]
        eventually(lambda: is_registered(node.port), "a registered broker")
        yield node.port
    finally:
        cluster.controllers[1].kill()


def is_registered(port: int) -> bool:
    """Register a broker; False while the leader is not active yet."""
    with contextlib.closing(Connection(port)) as connection:
        try:
            epoch = register(connection, 11)
        except AssertionError:
            return False
        return bool(connection.ask(heartbeat(11, epoch), 1).error_code == 0)


@pytest.fixture
def dial(port: int) -> Iterator[Callable[[], Connection]]:
    """Opens connections to the node, which are closed at the end."""
    with contextlib.ExitStack() as stack:

        def opened() -> Connection:
            connection = Connection(port, 60)
            stack.callback(connection.close)
            return connection

        yield opened


def frame_of(request: Any, version: int) -> bytes:
    schema = schema_of(type(request))
    assert schema.api_key is not None
    header = RequestHeader(
        request_api_key=schema.api_key, request_api_version=version, correlation_id=7, client_id="test"
    )
    return encode(header, 2 if schema.is_flexible(version) else 1) + encode(request, version)


def send(connection: socket.socket, body: bytes) -> None:
    connection.sendall(len(body).to_bytes(4, "big") + body)


def answer_to(cls: type, version: int, frame: bytes) -> Any:
    flexible = schema_of(cls).is_flexible(version)
    _, position = decode_prefix(ResponseHeader, 1 if flexible else 0, frame, 0)
    api_key = schema_of(cls).api_key
    assert api_key is not None
    answer, end = decode_prefix(response_class(api_key), version, frame, position)
    assert end == len(frame)
    return answer


def test_small_requests_are_answered_while_a_long_one_is_served(dial: Callable[[], Connection]) -> None:
    hostile, other = dial().socket, dial()
    small = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    large = frame_of(create_topics([f"hostile-{index}" for index in range(NAMES)]), 7)

    # All but the last byte is read before the small requests are sent.
    hostile.sendall(len(large).to_bytes(4, "big") + large[:-1])
    for _ in range(50):
        other.ask(small, 3)
    hostile.sendall(large[-1:])
    meanwhile = 0
    while not select.select([hostile], [], [], 0)[0]:
        other.ask(small, 3)
        meanwhile += 1
    refused = answer_to(CreateTopicsRequest, 7, receive(hostile))

    # Served in one step, it would let one or two come before it, and one before its answer is sent.
    assert meanwhile >= 8
    assert len(refused.topics) == NAMES
    assert {each.error_message for each in refused.topics} == {"Excessively large number of partitions per request."}


def test_a_long_write_is_done_and_answered_as_a_small_one(dial: Callable[[], Connection], port: int) -> None:
    eventually(lambda: is_registered(port), "a registered broker")  # its session may have expired since
    connection = dial()
    names = [f"many-{index:03}" for index in range(400)]

    created = connection.ask(create_topics(names), 7)
    again = connection.ask(create_topics(names), 7)

    assert sorted(each.name for each in created.topics) == names
    assert {each.error_code for each in created.topics} == {0}
    assert {each.error_code for each in again.topics} == {36}


def test_requests_of_one_connection_are_answered_in_their_order(dial: Callable[[], Connection]) -> None:
    connection = dial().socket
    large = create_topics([f"ordered-{index:03}" for index in range(400)])

    send(connection, frame_of(large, 7))
    send(connection, frame_of(replace(create_topics(["ordered-000"]), validate_only=True), 7))
    counts = [len(answer_to(CreateTopicsRequest, 7, receive(connection)).topics) for _ in range(2)]

    assert counts == [400, 1]


def test_a_large_frame_that_is_no_request_closes_its_connection(dial: Callable[[], Connection]) -> None:
    connection = dial().socket
    frame = frame_of(create_topics([f"torn-{index}" for index in range(400)]), 7)

    send(connection, frame[:-100] + b"\xff" * 90)

    assert connection.recv(1) == b""


def test_an_alter_partition_of_100_000_partitions_is_answered_and_heartbeats_are_meanwhile(
    dial: Callable[[], Connection],
) -> None:
    large, other = dial().socket, dial()
    epoch = register(other, 11)
    eventually(lambda: not other.ask(heartbeat(11, epoch), 1).is_fenced, "an unfenced broker")
    created = other.ask(create_topics(["altered"], 2_000), 7).topics[0]
    asked = (altered(created.topic_id, 2_000, 11), altered(bytes(16), 98_000, 11, 12, 13))
    frame = frame_of(AlterPartitionRequest(broker_id=11, broker_epoch=epoch, topics=asked), 3)

    send(large, frame)
    meanwhile = 0
    while not select.select([large], [], [], 0)[0]:
        assert other.ask(heartbeat(11, epoch), 1).error_code == 0
        meanwhile += 1
    answer = answer_to(AlterPartitionRequest, 3, receive(large))

    assert len(frame) > 5 << 20
    assert answer.error_code == 0
    assert [[each.partition_index for each in topic.partitions] for topic in answer.topics] == [
        list(range(2_000)), list(range(98_000)),
    ]  # fmt: skip
    assert [{each.error_code for each in topic.partitions} for topic in answer.topics] == [{0}, {100}]
    # Served in one step, it would let one or two come before it.
    assert meanwhile >= 50


def test_an_alter_partition_that_is_refused_as_a_whole_has_one_answer(dial: Callable[[], Connection]) -> None:
    large = dial().socket
    epoch = register(dial(), 11)
    stale = AlterPartitionRequest(broker_id=11, broker_epoch=epoch - 1, topics=(altered(bytes(16), 2_000, 11),))
    frame = frame_of(stale, 3)

    ended = threading.Event()

    def write(writer: Connection, name: str) -> None:
        for number in count():
            if ended.is_set():
                break
            writer.ask(create_topics([f"{name}-{number}"]), 7)

    # Beside them the refusal waits for records that are not committed yet, while the next part is queued.
    writers = [threading.Thread(target=write, args=(dial(), f"beside-{index}"), daemon=True) for index in range(2)]
    for each in writers:
        each.start()
    for _ in range(100):
        send(large, frame)
        answer = answer_to(AlterPartitionRequest, 3, receive(large))
        assert (answer.error_code, answer.topics) == (Error.STALE_BROKER_EPOCH, ())
    ended.set()
    for each in writers:
        each.join(60)
        assert not each.is_alive()


def altered(topic_id: bytes, count: int, *isr: int) -> AlterPartitionRequest.TopicData:
    topic = AlterPartitionRequest.TopicData
    members = tuple(topic.PartitionData.BrokerState(broker_id=each, broker_epoch=-1) for each in isr)
    partitions = tuple(
        topic.PartitionData(partition_index=index, leader_epoch=0, new_isr_with_epochs=members, partition_epoch=0)
        for index in range(count)
    )
    return topic(topic_id=topic_id, partitions=partitions)


def test_a_long_request_in_an_envelope_is_answered_in_one(dial: Callable[[], Connection]) -> None:
    connection = dial()
    names = [f"enveloped-{index:03}" for index in range(400)]
    envelope = EnvelopeRequest(
        request_data=frame_of(create_topics(names), 7), request_principal=PRINCIPAL, client_host_address=b"\x7f\0\0\1"
    )
    torn = replace(envelope, request_data=envelope.request_data[:-100] + b"\xff" * 90)

    answer = connection.ask(envelope, 0)
    refused = connection.ask(torn, 0)

    created = answer_to(CreateTopicsRequest, 7, answer.response_data)
    assert (answer.error_code, sorted(each.name for each in created.topics)) == (0, names)
    assert (refused.error_code, refused.response_data) == (35, None)


class AtOnce:
    """In place of the thread: a job runs when it is submitted, and what it calls when it has ended."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], None]] = []

    def submit(self, job: Callable[[], None]) -> None:
        job()
        calls, self._calls = self._calls, []
        for each in calls:
            each()

    def take_turns(self, work: Callable[[], Any], then: Callable[[Any, BaseException | None], None]) -> None:
        then(work(), None)

    def pause(self) -> bool:
        return False

    def call(self, function: Callable[[], None]) -> None:
        self._calls.append(function)

    def clock(self) -> float:
        return 0.0

    def close(self) -> None:
        """Nothing runs."""


def test_a_part_arrives_when_it_is_served_and_has_not_waited_as_long_as_the_whole() -> None:
    now_ms = 1_000
    arrived: list[int] = []
    controller = Controller(State(), Env("cluster", 1, Random(1), Settings()), is_catching_up=True)

    def perform(event: Requested, _effects: list[Effect]) -> None:
        nonlocal now_ms
        arrived.append(event.context.arrived_ms)
        now_ms += 500

    loop: Any = SimpleNamespace(time=lambda: 0.0)
    server: Any = SimpleNamespace(encoder=lambda _source: encode)
    nothing: Any = None
    long = LongServing(
        loop, AtOnce(), controller, server, nothing, nothing, now_ms=lambda: now_ms, perform=perform, fail=nothing
    )
    context = RequestContext(Source(1, 1), 56, 3, "CONTROLLER", arrived_ms=200)

    long.take_decoded(context, AlterPartitionRequest(broker_id=11, broker_epoch=5, topics=(altered(bytes(16), 400),)))

    assert arrived == [1_000, 1_500, 2_000]
