"""The timeouts of channels, and the limits on what peers make a server hold.

W05: a channel that connects, or asks for versions, times out, and retries with backoff; it learns that a connection is
lost. W06: a server keeps its limits on unfinished and waiting frames, on answers that no client reads, on requests that
it reads ahead and on connections; it closes connections that send garbage, or nothing for too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.network import channel, connection
from simulations.sockets.closes import limits
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from simulations.sockets.interfaces import WireChecks
    from simulations.sockets.process import SocketProcess
    from simulations.sockets.tcp import TcpConnection

# Timers are in whole milliseconds, and a step takes its time.
SLACK_S = 0.2
# More than any answer that many clients request, with its header.
ANSWER_BYTES = 4_000
# The bytes that may be read ahead of the handled requests: two reads.
AHEAD_BYTES = 128 << 10
UNSENT_BYTES = connection.WRITE_HIGH_BYTES + connection.REQUESTS_PER_ITERATION * ANSWER_BYTES


def look(process: SocketProcess) -> None:
    """Check the bounds. Raises Violation. The process is awake: everything that was due is done."""
    _at_channels(process)
    _at_server(process)


def _at_channels(process: SocketProcess) -> None:
    """W05."""
    now = process.loop.time()
    for opening in process.loop.openings:
        waits_s = now - opening.since
        if not opening.waiter.done() and waits_s > channel.CONNECT_MS_MAX / 1000 + SLACK_S:
            text = f"node {process.node.id} connects to {opening.host} for {waits_s:.1f} s"
            raise Violation("W05", text)
        made = opening.connection
        is_waiting = made is not None and opening.is_made and not made.client_end.is_gone and not made.versions
        if is_waiting and waits_s > process.versions_ms_max / 1000 + SLACK_S:
            text = f"node {process.node.id} waits for the versions of {opening.host} for {waits_s:.1f} s"
            raise Violation("W05", text)

    for channels in process.channels_of_all:
        for peer, frame in channels.left.items():
            if frame.connection.client_end.is_gone and frame.answer is None and peer in channels.asked:
                text = f"node {process.node.id} waits for an answer to its {frame.name} of peer {peer}"
                raise Violation("W05", f"{text} on a connection that is gone")


def _at_server(process: SocketProcess) -> None:
    """W06."""
    ours = process.server
    node = f"node {process.node.id}"
    bounds = limits(process)
    held = sum(one.held for one in ours.connections.values())
    if held != ours.held_bytes or held > bounds["held_bytes_max"]:
        raise Violation(
            "W06", f"{node} holds {held} bytes of unfinished and waiting frames, and counts {ours.held_bytes}"
        )
    count = sum(not one.is_closing for one in ours.connections.values())
    if count > bounds["connections_max"]:
        raise Violation("W06", f"{node} has {count} connections; the limit is {bounds['connections_max']}")
    oldest = process.loop.time() - bounds["idle_ms_max"] / 1000 * 1.25 - SLACK_S
    for one in ours.connections.values():
        if one.last_active < oldest:
            raise Violation("W06", f"{node} keeps a connection that has been idle since {one.last_active:.1f} s")
        tcp: Any = process.connections.get(one.number)
        if tcp is not None:
            _at_connection(node, one, tcp, process.network.wire_rules)


def _at_connection(node: str, one: connection.Connection, tcp: TcpConnection, wire_rules: WireChecks) -> None:
    untaken = sum(len(asked.data) + 4 for asked in tcp.requests.values() if asked.taken_at < 0)
    on_the_way = len(tcp.server_end.arrived) + len(tcp.client_end.unsent) + tcp.client_end.under_way
    ahead = untaken - on_the_way - (one.held - one.waiting_bytes)  # a frame that is not whole yet has to be held
    if not tcp.client_end.is_gone and ahead > AHEAD_BYTES:
        raise Violation("W06", f"{node} buffers {ahead} bytes of requests that it does not process")
    # The one answer to one large request may be larger: no limit can hold back a part of it (`rogue_envelopes.bulky`).
    has_one_answer = bool(getattr(tcp.opening, "expects", {}))
    if one.unsent_bytes > UNSENT_BYTES and tcp.opening.channels is None and not has_one_answer:
        raise Violation("W06", f"{node} holds {one.unsent_bytes} unsent bytes for a client that does not read")
    first = next(iter(tcp.requests.values()), None)
    # Of a client that does not read its answers no more requests are handled.
    is_read = not on_the_way and one.unsent_bytes <= connection.WRITE_LOW_BYTES
    if first is not None and is_read and wire_rules.is_nonsense(tcp, first) and not one.is_closing:
        raise Violation("W06", f"{node} received invalid bytes, and keeps the connection")
