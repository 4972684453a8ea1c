"""Each node's own view of the quorum, for the time when no leader can be asked."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from controller.config.edges import is_loopback_host
from controller.config.values.addresses import parse_address
from records.errors import ApiError, error_name
from records.java.config_error import ConfigError
from records.messages.configs import DescribeConfigsRequest
from records.resource_types import ResourceType
from records.wire import DecodeError
from tools.client.connection import Connection
from tools.client.quorum import describe_cluster_request, describe_request
from tools.kraftctl.nodes.http_page import ANYWHERE, HttpPage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address
    from tools.client.quorum_options import Known
    from tools.kraftctl.nodes.http_page import Caller, Counts

HTTP_LISTENER = "kraft.http.listener"
# Each node is asked on a thread of its own, so this is also about the time that all of them take.
ASK_S = 0.9


class NodeStatus(NamedTuple):
    """A node's own view. None: unknown.

    error: why it does not answer, or is not ready; lasts_ms: for how long. problems: each with for how long it lasts.
    counts: of brokers and partitions, where it has an HTTP port.
    """

    address: str
    node_id: int | None = None
    role: str | None = None
    epoch: int | None = None
    leader_id: int | None = None
    end_offset: int | None = None
    error: str | None = None
    lasts_ms: int | None = None
    problems: tuple[str, ...] = ()
    counts: Counts | None = None


def ask_all(
    addresses: list[Address], known: dict[Address, Known], caller: Caller, security: ClientSecurity | None = None
) -> list[NodeStatus]:
    """The status of each node, in the order of the addresses.

    known: from a configuration file; caller: for HTTP; security: of the Kafka listeners, None for PLAINTEXT.
    """
    from concurrent.futures import ThreadPoolExecutor

    hosts = frozenset(host for host, _ in addresses)
    with ThreadPoolExecutor(max(1, len(addresses))) as threads:
        return list(threads.map(lambda address: ask(address, known.get(address), caller, security, hosts), addresses))


def find_pages(
    addresses: list[Address], known: dict[Address, Known], caller: Caller, security: ClientSecurity | None = None
) -> list[tuple[NodeStatus, HttpPage | None]]:
    """The HTTP port of each node that has one, and what is known of the node, in the order of the addresses."""
    hosts = frozenset(host for host, _ in addresses)
    return [_page_of(address, known.get(address), caller, security, hosts) for address in addresses]


def ask(
    address: Address,
    known: Known | None,
    caller: Caller,
    security: ClientSecurity | None = None,
    hosts: frozenset[str] = frozenset(),
) -> NodeStatus:
    """The status of one node, from its Kafka listener and, where it has one, its HTTP port.

    hosts: those that the user named; only these, and the host of the address, get the token of the caller.
    """
    status, page = _page_of(address, known, caller, security, hosts)
    return status if page is None else _with_own_view(status, page)


def _page_of(
    address: Address,
    known: Known | None,
    caller: Caller,
    security: ClientSecurity | None,
    hosts: frozenset[str],
) -> tuple[NodeStatus, HttpPage | None]:
    """What the Kafka listener says, and the HTTP port; None without one, and where the token must not go there."""
    host, port = address
    status = NodeStatus(f"{host}:{port}", None if known is None else known.node_id)
    http = None if known is None else known.http
    given = {host, *hosts, *(() if http is None else http[:1])}
    try:
        with Connection(host, port, "kraftctl-status", ASK_S, security) as connection:
            status = _with_refusal(status, connection)
            if http is None:
                ids = _ids_of(connection, address) if status.node_id is None else [status.node_id]
                if len(ids) == 1:
                    status = status._replace(node_id=ids[0])
                node_id, http = _http_address(connection, ids)
                status = status._replace(node_id=status.node_id if node_id is None else node_id)
                if http is not None and http[0] == connection.socket.getpeername()[0]:
                    http = (host, http[1])  # the same host, by the name under which the user knows it
    except (OSError, ApiError, DecodeError) as error:
        # A node that has never seen a leader does not describe its configs in time.
        if status.error is None:
            return status._replace(error=str(error) or type(error).__name__), None
    if http is None:
        return status, None
    # A port on all addresses of the node is reached at the address that answered.
    http_host = host if http[0] in ANYWHERE else http[0]
    is_own_loopback = is_loopback_host(host) and is_loopback_host(http_host)
    if caller.token is not None and http_host not in given and not is_own_loopback:
        # The node's answer named this host; what listens there may be anybody's.
        refusal = f"its HTTP port: no token is sent to {http_host}:{http[1]}, whose host was not given"
        return status._replace(error=f"{status.error}; {refusal}" if status.error else refusal), None
    return status, HttpPage((http_host, http[1]), caller, ASK_S)


def _with_refusal(status: NodeStatus, connection: Connection) -> NodeStatus:
    """With the error of DescribeQuorum, which only a leader serves."""
    answer = connection.ask(describe_request())
    partitions = answer.topics[0].partitions if answer.topics else ()
    code = answer.error_code or (partitions[0].error_code if partitions else 0)
    return status._replace(error=error_name(code) if code else None)


def _ids_of(connection: Connection, address: Address) -> list[int]:
    """The id of the controller that advertises this address; all ids where none does, as it may have another name."""
    ids = []
    with contextlib.suppress(ApiError):
        for node in connection.ask(describe_cluster_request()).brokers:
            if (node.host, node.port) == address:
                return [int(node.broker_id)]
            ids.append(int(node.broker_id))
    return ids


def _http_address(connection: Connection, ids: list[int]) -> tuple[int | None, Address | None]:
    """Which of the ids is the node's own, and the address of its HTTP port; None if it has none, or is a stock node.

    A node describes the configs of its own id, and refuses the other ids.
    """
    names = {str(each): each for each in ids}
    resources = tuple(
        DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=ResourceType.BROKER, resource_name=name, configuration_keys=(HTTP_LISTENER,)
        )
        for name in names
    )
    with contextlib.suppress(ApiError):
        for result in connection.ask(DescribeConfigsRequest(resources=resources)).results if resources else ():
            if result.error_code or result.resource_name not in names:
                continue
            given = [entry.value for entry in result.configs if entry.name == HTTP_LISTENER and entry.value]
            return names[result.resource_name], parse_address(str(given[0])) if given else None
    return None, None


def _with_own_view(status: NodeStatus, page: HttpPage) -> NodeStatus:
    """With what the node's HTTP port answers; with the reason where it refuses or its certificate is not accepted."""
    try:
        view = page.view()
    except (ConnectionRefusedError, TimeoutError, LookupError):
        return status  # no HTTP port, or not ours: a voter on another host is only assumed to use the same port
    except (OSError, ConfigError) as error:
        reason = str(error) or type(error).__name__
        return status._replace(error=f"{status.error}; its HTTP port: {reason}" if status.error else reason)
    finally:
        page.close()
    return status._replace(
        role=view.role,
        epoch=view.epoch,
        leader_id=None if view.leader_id < 0 else view.leader_id,
        end_offset=view.end_offset,
        error=view.not_ready or None,
        lasts_ms=view.lasts_ms,
        problems=view.problems,
        counts=view.counts,
    )
