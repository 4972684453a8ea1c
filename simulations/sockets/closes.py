"""Why a server closes a connection.

W11: a server closes a connection only if its client has closed it, the server shuts down, the client was silent for too
long, a limit is exceeded, or the next frame may not be served. So each valid request is answered, and so is an
ApiVersions of an unsupported version (KIP-511).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.network import server
from raft.network.requests import COUNTED_BYTES_MIN, ENTRIES_MAX
from records.codec import decode_within
from records.wire import DecodeError
from simulations.sockets.frames import is_unsupported
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from simulations.sockets.frames import Asked
    from simulations.sockets.interfaces import WireChecks
    from simulations.sockets.tcp import TcpConnection

# Times are floats.
SLACK_S = 0.001


def limits(process: Any) -> dict[str, int]:
    """The limits of a process's server, by the names of its arguments."""
    return {
        "held_bytes_max": server.HELD_BYTES_MAX, "unsent_bytes_max": server.UNSENT_BYTES_MAX,
        "connections_max": server.CONNECTIONS_MAX, "idle_ms_max": server.IDLE_MS_MAX,
        **process.bounds,
    }  # fmt: skip


def check_close(process: Any, connection: TcpConnection, silent_s: float) -> None:
    """The server of a process closes a connection on which nothing has come for this long. Raises Violation if it has
    no reason.
    """
    rules = process.network.wire_rules
    if (
        _is_left(connection)
        or process.loop.listener is None
        or _exceeds_limit(process, connection, silent_s)
        or may_refuse_next(connection, rules)
    ):
        return
    asked = next(iter(connection.requests.values()), None)
    what = "which it has answered" if asked is None else f"whose {asked.name} v{asked.version} it has not answered"
    raise Violation("W11", f"node {process.node.id} closes a connection of {connection.client.node.id}, {what}")


def _is_left(connection: TcpConnection) -> bool:
    """Whether its client, or the network, has ended a connection."""
    ours = connection.server_end
    return connection.client_end.is_gone or ours.is_gone or ours.is_reset or ours.saw_end


def _exceeds_limit(process: Any, connection: TcpConnection, silent_s: float) -> bool:
    bounds = limits(process)
    if silent_s > bounds["idle_ms_max"] / 1000 - SLACK_S:
        return True
    if len(process.server.connections) > bounds["connections_max"]:
        return True
    everyone: list[TcpConnection] = list(process.connections.values())
    if held_bytes(connection) and sum(map(held_bytes, everyone)) > bounds["held_bytes_max"]:
        return True
    return unsent_bytes(connection) > 0 and sum(map(unsent_bytes, everyone)) > bounds["unsent_bytes_max"]


def held_bytes(connection: TcpConnection) -> int:
    """The bytes of unfinished, waiting and invalid frames that a server has read, with their lengths."""
    untaken = sum(len(asked.data) + 4 for asked in connection.requests.values() if asked.taken_at < 0)
    client, server = connection.client_end, connection.server_end
    return untaken + client.tap.rest_bytes - len(server.arrived) - len(client.unsent) - client.under_way


def unsent_bytes(connection: TcpConnection) -> int:
    """The bytes of answers that a server has not sent yet, without the headers of those that are not written."""
    given = sum(len(asked.said) for asked in connection.requests.values() if asked.said is not None)
    return given + len(connection.server_end.unsent)


def may_refuse_next(connection: TcpConnection, rules: WireChecks) -> bool:
    """Whether the first frame without an answer may not be served, or no valid one can follow."""
    for asked in connection.requests.values():
        if not is_answered(asked):
            return rules.is_nonsense(connection, asked) or has_too_many_entries(asked)
    return connection.client_end.tap.is_broken


def has_too_many_entries(asked: Asked) -> bool:
    """Whether a request has more entries than a server decodes on its loop."""
    if asked.message is None or len(asked.data) - asked.body_at < COUNTED_BYTES_MIN:
        return False
    try:
        decode_within(type(asked.message), asked.version, asked.data, asked.body_at, ENTRIES_MAX)
    except DecodeError:
        return True
    return False


def is_answered(asked: Asked) -> bool:
    """Whether the answer to a request was given, or the server has to give it at once by itself."""
    return asked.said is not None or is_unsupported(asked)
