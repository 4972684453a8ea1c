"""The admin client: which node a call goes to, when it is repeated, and the exceptions of a call that fails."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from records.codec import decode_prefix, encode
from records.errors import Error
from records.headers import RequestHeader, ResponseHeader
from records.messages.brokers import UnregisterBrokerRequest, UnregisterBrokerResponse
from records.messages.cluster import DescribeClusterResponse
from records.messages.versions import ApiVersionsResponse
from records.schema import schema_of
from tools.client.admin import CONTROLLER, Admin, Call
from tools.client.exceptions import PACKAGE, KafkaError
from tools.client.settings import Settings
from tools.command_line.java_texts import Uncaught

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DESCRIBE_CLUSTER, UNREGISTER = 60, 64


class Node:
    """A node that takes connections one at a time, and answers each request by a function of its API key.

    answers: API key -> function that makes the response; an API without one is not served. asked: keys, in order.
    versions: the greatest version of an API, if not 3. None in place of a response ends the connection.
    """

    def __init__(self, answers: dict[int, Callable[[], Any]]) -> None:
        self.answers = answers
        self.versions: dict[int, int] = {}
        self.asked: list[int] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as incoming:
                while self._answered(connection, incoming):
                    pass

    def _answered(self, connection: socket.socket, incoming: Any) -> bool:
        size = incoming.read(4)
        if len(size) < 4:
            return False
        data = incoming.read(int.from_bytes(size, "big"))
        key = int.from_bytes(data[:2], "big")
        version = int.from_bytes(data[2:4], "big")
        header, _ = decode_prefix(RequestHeader, 2, data, 0)
        if key == 18:
            listed = ApiVersionsResponse.ApiVersion
            keys = tuple(
                listed(api_key=each, min_version=0, max_version=self.versions.get(each, 3))
                for each in (18, *self.answers)
            )
            response: Any = ApiVersionsResponse(error_code=0, api_keys=keys)
        else:
            self.asked.append(key)
            response = self.answers[key]()
            if response is None:
                return False
        flexible = schema_of(type(response)).is_flexible(version) and key != 18
        body = encode(ResponseHeader(correlation_id=header.correlation_id), 1 if flexible else 0)
        body += encode(response, version)
        connection.sendall(len(body).to_bytes(4, "big") + body)
        return True


@contextmanager
def nodes(*answers: dict[int, Callable[[], Any]]) -> Iterator[list[Node]]:
    found = [Node(each) for each in answers]
    try:
        yield found
    finally:
        for node in found:
            node.listener.close()


def cluster(active: int, *ports: int) -> DescribeClusterResponse:
    listed = DescribeClusterResponse.DescribeClusterBroker
    return DescribeClusterResponse(
        throttle_time_ms=0, error_code=0, endpoint_type=2, cluster_id="c", controller_id=active,
        brokers=tuple(listed(broker_id=number, host="127.0.0.1", port=port) for number, port in enumerate(ports, 1)),
    )  # fmt: skip


def done(code: int = 0, text: str | None = None) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(throttle_time_ms=0, error_code=code, error_message=text)


def outcome(response: Any) -> str:
    if response.error_code:
        raise KafkaError(response.error_code, response.error_message, is_final=False)
    return "done"


def unregister(where: Any = CONTROLLER) -> Call:
    return Call("unregisterBroker", lambda _: UnregisterBrokerRequest(broker_id=7), outcome, where)


def settings(node: Node, api_timeout: float = 5.0) -> Settings:
    return Settings(
        (("127.0.0.1", node.port),), at_controllers=True, api_timeout=api_timeout, retry_backoff=0.01
    )  # fmt: skip


def test_a_call_goes_to_the_active_controller() -> None:
    with nodes({}, {UNREGISTER: done}) as (first, active):
        first.answers[DESCRIBE_CLUSTER] = lambda: cluster(2, first.port, active.port)

        with Admin(settings(first)) as admin:
            found = admin.call(unregister())

    assert (found, first.asked, active.asked) == ("done", [DESCRIBE_CLUSTER], [UNREGISTER])


def test_a_node_that_no_longer_leads_is_not_asked_again() -> None:
    with nodes({}, {UNREGISTER: done}) as (old, active):
        leaders = [1, 2]
        old.answers[DESCRIBE_CLUSTER] = lambda: cluster(leaders.pop(0), old.port, active.port)
        old.answers[UNREGISTER] = lambda: done(Error.NOT_CONTROLLER)

        with Admin(settings(old)) as admin:
            found = admin.call(unregister())

    assert (found, active.asked) == ("done", [UNREGISTER])
    assert old.asked == [DESCRIBE_CLUSTER, UNREGISTER, DESCRIBE_CLUSTER]


def test_a_call_whose_connection_ends_is_repeated() -> None:
    answers: list[Any] = [None, done()]
    with nodes({UNREGISTER: lambda: answers.pop(0)}) as (node,):
        node.answers[DESCRIBE_CLUSTER] = lambda: cluster(1, node.port)

        with Admin(settings(node)) as admin:
            found = admin.call(unregister())

    assert (found, answers) == ("done", [])


def test_a_leader_that_is_gone_is_replaced_by_the_next_metadata() -> None:
    with nodes({}, {UNREGISTER: lambda: None}, {UNREGISTER: done}) as (first, old, active):
        leaders = [2, 3]
        first.answers[DESCRIBE_CLUSTER] = lambda: cluster(leaders.pop(0), first.port, old.port, active.port)

        with Admin(settings(first)) as admin:
            found = admin.call(unregister())

    assert (found, old.asked, active.asked) == ("done", [UNREGISTER], [UNREGISTER])


def test_an_error_that_does_not_pass_is_raised_at_once() -> None:
    with nodes({UNREGISTER: lambda: done(Error.BROKER_ID_NOT_REGISTERED, "no broker 7")}) as (node,):
        node.answers[DESCRIBE_CLUSTER] = lambda: cluster(1, node.port)

        with Admin(settings(node)) as admin, pytest.raises(Uncaught) as raised:
            admin.call(unregister())

    assert str(raised.value) == f"{PACKAGE}.BrokerIdNotRegisteredException: no broker 7"
    assert node.asked.count(UNREGISTER) == 1


def test_a_call_for_a_node_that_is_not_there_fails_at_its_timeout() -> None:
    with nodes({UNREGISTER: done}) as (node,):
        node.answers[DESCRIBE_CLUSTER] = lambda: cluster(-1, node.port)

        with Admin(settings(node, api_timeout=0.2)) as admin, pytest.raises(Uncaught) as raised:
            admin.call(unregister())
        with Admin(settings(node, api_timeout=0.2)) as admin, pytest.raises(Uncaught) as other:
            admin.call(unregister(9))

    text = f"{PACKAGE}.TimeoutException: Timed out waiting for a node assignment. Call: unregisterBroker"
    assert (str(raised.value), str(other.value)) == (text, text)
    assert UNREGISTER not in node.asked


def test_a_node_without_the_api_is_named_so() -> None:
    with nodes({}) as (node,), Admin(settings(node)) as admin, pytest.raises(Uncaught) as raised:
        admin.call(unregister())

    assert str(raised.value) == f"{PACKAGE}.UnsupportedVersionException: The node does not support DESCRIBE_CLUSTER"
