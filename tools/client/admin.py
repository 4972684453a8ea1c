"""Kafka's admin client: one call at a time, sent to the right node, repeated as by stock (KIP-117, KIP-919).

A call fails with the texts of stock's client: for a node that was not found in time, a call that was not answered in
time, or an API that the node does not have.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple, Self

from records.errors import ApiError, Error
from records.messages.cluster import DescribeClusterRequest, MetadataRequest
from records.messages.versions import ApiVersionsRequest
from records.registry import APIS
from records.schema import schema_of
from records.wire import DecodeError, EncodeError
from tools.client.connection import Connection, NotAuthenticated
from tools.client.exceptions import PACKAGE, KafkaError, execution_exception, timeout
from tools.client.retries import Retries
from tools.command_line.java_texts import Uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tools.client.settings import Address, Settings

# Where a call goes: to any broker, or the active controller where the client has addresses of controllers; to the
# controller that the metadata names (for brokers: any of them, which forwards); to the node with an id.
ANY_OR_ACTIVE, CONTROLLER = "any or active", "controller"
Where = str | int

ENDPOINT_CONTROLLERS = 2
# Errors of a request for metadata after which stock's client gives up.
FATAL = (
    Error.CLUSTER_AUTHORIZATION_FAILED,
    Error.MISMATCHED_ENDPOINT_TYPE,
    Error.SECURITY_DISABLED,
    Error.TOPIC_AUTHORIZATION_FAILED,
    Error.UNSUPPORTED_ENDPOINT_TYPE,
    Error.UNSUPPORTED_VERSION,
)


class Call(NamedTuple):
    """One call. name: as in stock's texts. request: called with the timeout in ms, returns the request.

    outcome: called with the response, returns the result or raises KafkaError.
    """

    name: str
    request: Callable[[int], Any]
    outcome: Callable[[Any], Any]
    where: Where = ANY_OR_ACTIVE


class Admin:
    """A client; use it as a context manager.

    nodes: id -> address, empty before the first metadata. controller: the node that the metadata names, or None.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.nodes: dict[int, Address] = {}
        self.controller: int | None = None
        self._connections: dict[Address, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            connection.socket.close()
        self._connections.clear()

    def call(self, call: Call, seconds: float | None = None) -> Any:
        """The outcome of a call. seconds: the time limit, None for the one of the settings.

        Raises Uncaught with the exception of Java.
        """
        retries = Retries(
            self.settings.api_timeout if seconds is None else seconds,
            self.settings.retry_backoff,
            self.settings.retry_backoff_max,
            self.settings.retries,
        )
        end = retries.end
        while True:
            address = self._find_address(call, end)
            try:
                return call.outcome(self._ask(address, call.request(self._timeout_ms(end)), end))
            except KafkaError as error:
                if error.code in (Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER):
                    self.controller = None
                if error.is_final:
                    raise
                failure: Uncaught = error
            except OSError as error:
                text = f"Cancelled {call.name} request due to node {self._id_of(address)} being disconnected: {error}"
                failure = Uncaught(f"{PACKAGE}.DisconnectException", text)
                self._forget(address)
            if not retries.pause():
                raise self._timeout_error(call, retries, failure)

    def result(self, call: Call, seconds: float | None = None) -> Any:
        """The outcome of a call, as a Java future has it. Raises Uncaught, wrapped as by the future."""
        try:
            return self.call(call, seconds)
        except Uncaught as error:
            raise execution_exception(error) from None

    def ask_once(self, address: Address, request: Any) -> Any:
        """The response of one node, asked once. Raises Uncaught."""
        try:
            return self._ask(address, request, time.monotonic() + self.settings.request_timeout)
        except OSError as error:
            self._drop(address)
            raise Uncaught(f"{PACKAGE}.DisconnectException", str(error) or None) from None

    def versions_of(self, address: Address) -> dict[int, tuple[int, int]]:
        """API key -> least and greatest version that a node serves. Raises Uncaught."""
        self.ask_once(address, ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1"))
        return self._connections[address].versions

    def _timeout_error(self, call: Call, retries: Retries, cause: Uncaught) -> Uncaught:
        now, tries = int(time.time() * 1000), retries.failures
        deadline = now + round((retries.end - time.monotonic()) * 1000)
        text = f"Call(callName={call.name}, deadlineMs={deadline}, tries={tries}, nextAllowedTryMs={now})"
        return timeout(f"{text} timed out at {now} after {tries} attempt(s)", cause)

    def _find_address(self, call: Call, end: float) -> Address:
        """The address of the node for a call; the metadata is asked for until it names one. Raises Uncaught."""
        retries = Retries(end - time.monotonic(), self.settings.retry_backoff)
        while True:
            if self.nodes:
                wanted = self._known_address(call.where)
                if wanted is not None:
                    return wanted
            if time.monotonic() >= end:
                raise timeout(f"Timed out waiting for a node assignment. Call: {call.name}")
            if not self._update(end) or self._known_address(call.where) is None:
                retries.pause()

    def _known_address(self, where: Where) -> Address | None:
        if isinstance(where, int):
            return self.nodes.get(where)
        if where == CONTROLLER or self.settings.at_controllers:
            return None if self.controller is None else self.nodes.get(self.controller)
        # A node that has answered is preferred: its connection is open.
        return next((address for address in self.nodes.values() if address in self._connections), None) or next(
            iter(self.nodes.values()), None
        )

    def _update(self, end: float) -> bool:
        """Ask the known nodes for the metadata until one answers; whether one did. Raises Uncaught if it is fatal."""
        at_controllers = self.settings.at_controllers
        request = (
            DescribeClusterRequest(
                include_cluster_authorized_operations=False, endpoint_type=ENDPOINT_CONTROLLERS
            )
            if at_controllers
            else MetadataRequest(topics=())
        )  # fmt: skip
        for address in [*self.nodes.values(), *self.settings.addresses]:
            if time.monotonic() >= end:
                return False
            try:
                answer = self._ask(address, request, end)
            except OSError:
                self._drop(address)
                continue
            if at_controllers and answer.error_code:
                error = KafkaError(answer.error_code, answer.error_message)
                if error.code in FATAL:
                    raise error
                continue
            if not answer.brokers:
                continue
            nodes = answer.brokers
            ids = [node.broker_id if at_controllers else node.node_id for node in nodes]
            self.nodes = {number: (node.host, node.port) for number, node in zip(ids, nodes, strict=True)}
            self.controller = None if answer.controller_id < 0 else answer.controller_id
            return True
        return False

    def _ask(self, address: Address, request: Any, end: float) -> Any:
        """The response of one node. Raises KafkaError if it lacks the API or refuses the client, OSError if it does not
        answer.
        """
        left = max(0.001, min(self.settings.request_timeout, end - time.monotonic()))
        try:
            connection = self._connections.get(address)
            if connection is None:
                connection = Connection(*address, self.settings.client_id, left, self.settings.security)
                self._connections[address] = connection
            connection.socket.settimeout(left)
            _check_versions(connection, request)
            return connection.ask(request)
        except NotAuthenticated as error:
            if error.code is None:
                raise Uncaught(f"{PACKAGE}.SslAuthenticationException", f"SSL handshake failed: {error.text}") from None
            raise KafkaError(error.code, error.text) from None
        except EncodeError as error:
            raise KafkaError(Error.UNSUPPORTED_VERSION, str(error)) from None
        except (ApiError, DecodeError) as error:
            raise ConnectionError(str(error)) from None

    def _drop(self, address: Address) -> None:
        connection = self._connections.pop(address, None)
        if connection is not None:
            connection.socket.close()

    def _forget(self, address: Address) -> None:
        """Drop a node that does not answer: until the metadata names it again, it is not asked."""
        self._drop(address)
        gone = self._id_of(address)
        self.nodes.pop(gone, None)
        if self.controller == gone:
            self.controller = None

    def _id_of(self, address: Address) -> int:
        return next((number for number, other in self.nodes.items() if other == address), -1)

    def _timeout_ms(self, end: float) -> int:
        """The time that a request gives its node."""
        return max(0, int(min(self.settings.request_timeout, end - time.monotonic()) * 1000))


def _check_versions(connection: Connection, request: Any) -> None:
    """Compare the versions. Raises KafkaError if there is no version of the API that the node and this tool know."""
    schema = schema_of(type(request))
    assert schema.api_key is not None
    name = re.sub(r"(?<=.)(?=[A-Z])", "_", APIS[schema.api_key][0]).upper()
    known = schema.served or schema.versions
    supported = connection.versions.get(schema.api_key)
    if supported is None:
        raise KafkaError(Error.UNSUPPORTED_VERSION, f"The node does not support {name}")
    if supported[1] < known[0] or known[1] < supported[0]:
        raise KafkaError(
            Error.UNSUPPORTED_VERSION,
            f"The node does not support {name} with version in range [{known[0]},{known[1]}]. The supported range is "
            f"[{supported[0]},{supported[1]}].",
        )
