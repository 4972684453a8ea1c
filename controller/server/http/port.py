"""The HTTP port: its listener, its connections, and the function of each path.

It shares the event loop with the quorum, so it is rate-limited over all connections.
"""

from __future__ import annotations

import json
import math
import os
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from controller.config.edges import HTTP, is_loopback_host
from controller.config.values.addresses import parse_address
from controller.security.edges import EdgeSecurity, names_of_session
from controller.server.http.answers import Answer, as_json, text
from controller.server.http.autopilot import autopilot_view
from controller.server.http.connection import HttpConnection
from controller.server.http.counted import Counted
from controller.server.http.events import READERS_MAX, Events
from controller.server.http.hosts import KEY, Hosts
from controller.server.http.log_checksums import PREFIX, log_checksums, parse_offset
from controller.server.http.metrics import Metrics
from controller.server.http.page import page_answer
from controller.server.http.page_problems import page_problems
from controller.server.http.pod import agent_ports, metrics_ports
from controller.server.http.probes import check_startup, problems_of, ready
from controller.server.http.quorum import cluster_view, config_view, quorum_view
from controller.server.http.reading import Reading
from controller.server.http.runbook import runbook_answer
from controller.server.http.watchdog import Watchdog
from raft.network.handshakes import Handshakes
from raft.network.security import ListenerSecurity, NoteLimit
from raft.security.files import FileError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from controller.config.node import NodeConfig
    from controller.node.logging.logs import Log
    from controller.node.node import Node
    from controller.server.http.answers import Asked
    from controller.server.http.pod import PodPort
    from controller.server.http.probes import Check, Shown

METHODS = {"GET", "HEAD"}
NEED_NO_NODE = {"/", "/livez", "/runbook"}
PROBES = {"/livez", "/startupz", "/readyz"}
# What is said of a handshake, in the keys of this port: how the reason begins, and what the log says instead.
_REASONS = (
    ("it sends no certificate", f"it sends no certificate: give it one of {HTTP.client_ca}"),
    ("its certificate is not trusted", f"its certificate is of no authority in {HTTP.client_ca}"),
    ("it does not trust our certificate", f"it does not trust the certificate in {HTTP.certificate}"),
    ("the client does not speak TLS", "the client does not speak TLS: use https://"),
)
# The minimum time between two responses, over all connections.
PACE_S = 0.005
HANDSHAKES_MIN = 16
SWEEP_S = 1.0


class HttpPort:
    """Serves after `listen`; until `serve` gives it a node, paths that need one get status 503.

    port: the bound port; 0 before `listen`, and where only ports of a pod are served (`pod.py`).
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, config: NodeConfig, log: Log) -> None:
        """Raises OSError if the certificates or tokens cannot be used."""
        self.port = 0
        self._loop = loop
        self._config = config
        self._connections: set[HttpConnection] = set()
        self._servers: list[asyncio.AbstractServer] = []
        self._log = log
        self._note_limit = NoteLimit(loop.time)
        try:
            self._security = EdgeSecurity(
                config, HTTP, now=loop.time, note=lambda name, fields: log(name, **fields)
            )  # fmt: skip
        except FileError as error:
            raise OSError(f"{HTTP.listener}: {error}") from None
        self._hosts = Hosts(config)
        handshakes_max = max(config.number("kraft.http.connections.max") // 4, HANDSHAKES_MIN)
        self._handshakes = Handshakes(loop, handshakes_max, self._note)
        self._node: Node | None = None
        self._counted: Counted | None = None
        self._is_started = False
        self._next_s = 0.0
        self._pod_ports = [
            *agent_ports(config, os.environ, lambda: self._node),
            *metrics_ports(config, lambda: None if self._node is None else self._read(), self._now_ms),
        ]
        self._watchdog = Watchdog(loop)
        self._metrics = Metrics(self._read)
        self._events = Events(loop, self._view, wall_ms)
        log.seen_by.append(self._events.see)
        self._sweep = loop.call_later(SWEEP_S, self._close_late)
        self._paths: dict[str, Callable[[Asked], Answer]] = {
            "/": lambda _asked: page_answer(self._view()),
            "/runbook": lambda _asked: runbook_answer(),
            "/livez": lambda _asked: _verdict("alive", self._watchdog.live()),
            "/startupz": self._startupz,
            "/readyz": self._readyz,
            "/metrics": self._answer_metrics,
            "/quorum": self._quorum,
            "/autopilot": self._autopilot,
        }

    async def listen(self) -> None:
        """Accept connections. Raises OSError, with the address in its text."""
        address = self._config.text(HTTP.listener)
        if address is not None:
            parsed = parse_address(address)
            assert parsed is not None, address
            self.port = await self._listen(self._make, HTTP.listener, *parsed, address)
        for each in self._pod_ports:
            await self._listen(partial(self._make_pod, each), each.name, each.host, each.port)

    async def _listen(
        self, make: Callable[[], asyncio.BaseProtocol], key: str, host: str, port: int, address: str = ""
    ) -> int:
        """The bound port."""
        address = address or f"{host}:{port}"
        try:
            server = await self._loop.create_server(make, host or None, port, reuse_address=True)
        except (OSError, UnicodeError) as error:  # UnicodeError: a host name with an empty or overlong part
            number = error.errno if isinstance(error, OSError) else None
            # getaddrinfo has error numbers of its own.
            is_of_system = number is not None and not isinstance(error, socket.gaierror)
            reason = os.strerror(number or 0) if is_of_system else getattr(error, "strerror", None) or str(error)
            raise OSError(number, f"{key} cannot listen on {address}: {reason}") from None
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    def ports(self) -> list[tuple[str, int]]:
        """The name and number of each port."""
        own = [(HTTP.listener, self.port)] if self.port else []
        return own + [(each.name, each.port) for each in self._pod_ports]

    def certificate(self) -> tuple[str, int] | None:
        """The file of the port's certificate, and when it expires, in s since 1970; None without TLS."""
        return self._security.certificate()

    def serve(self, node: Node) -> None:
        """Serve this node, which has started."""
        self._node = node
        self._counted = Counted(node.replica, wall_ms)
        node.wrap_effects(self._counted.around)
        self._watchdog.watch(node.storage)

    def close(self) -> None:
        """Accept no more connections, and close the open ones after their responses are written."""
        for server in self._servers:
            server.close()
        self._sweep.cancel()
        self._handshakes.close()
        self._watchdog.close()
        self._events.close()
        for connection in list(self._connections):
            connection.close()

    # Connections.

    def _make(self) -> asyncio.BaseProtocol:
        if self._security.has_tls:
            security = ListenerSecurity(self._security.context, self._security.check_session)
            return self._handshakes.make(
                HTTP.listener, security, lambda tls: self._connection(names_of_session(tls.session))
            )
        return self._connection(())

    def _connection(self, names: Sequence[str]) -> HttpConnection:
        return HttpConnection(self._loop, self._on_made, self._on_request, self._on_lost, names)

    def _make_pod(self, port: PodPort) -> asyncio.BaseProtocol:
        def on_request(connection: HttpConnection, asked: Asked) -> None:
            self._at_pace(lambda: self._finish(connection, lambda: _if_read(asked, port.answer)))

        def connection(_tls: object = None) -> HttpConnection:
            return HttpConnection(self._loop, self._on_made, on_request, self._on_lost)

        return connection() if port.security is None else self._handshakes.make(port.name, port.security, connection)

    def _note(self, event: str, listener: str, peer: str, reason: str) -> None:
        """A line for a client that is refused, once a minute for each host and reason."""
        if listener == HTTP.listener:  # a port of a pod has no keys of its own
            reason = next((own for begin, own in _REASONS if reason.startswith(begin)), reason)
        omitted = self._note_limit.passes(event, peer.rpartition(":")[0], reason)
        if omitted is not None:
            fields = {"peer": peer, "listener": listener, "reason": reason}
            self._log(event, **fields, **({"omitted": omitted} if omitted else {}))

    def _on_made(self, connection: HttpConnection) -> bool:
        """Whether one more connection is accepted. At the limit the one that is idle for longest is closed, so idle
        connections cannot keep a probe out.
        """
        if len(self._connections) >= self._config.number("kraft.http.connections.max"):
            oldest = min(self._connections, key=lambda one: one.deadline_s)
            if oldest.deadline_s == math.inf:
                return False  # all of them wait for a response, or read events
            self._connections.discard(oldest)
            oldest.abort()
        self._connections.add(connection)
        return True

    def _on_lost(self, connection: HttpConnection) -> None:
        self._connections.discard(connection)
        self._events.forget(connection)

    def _close_late(self) -> None:
        now_s = self._loop.time()
        for connection in list(self._connections):
            if connection.deadline_s < now_s:
                connection.abort()
        if self._node is not None and self._counted is not None:
            self._counted.see_decisions(self._node.controller.env.access)
        self._sweep = self._loop.call_later(SWEEP_S, self._close_late)

    # Answers.

    def _on_request(self, connection: HttpConnection, asked: Asked) -> None:
        self._at_pace(lambda: self._reply(connection, asked))

    def _at_pace(self, reply: Callable[[], None]) -> None:
        """Answer requests in order, at the limited rate."""
        self._next_s = max(self._next_s + PACE_S, self._loop.time())
        self._loop.call_at(self._next_s, reply)

    def _reply(self, connection: HttpConnection, asked: Asked) -> None:
        refusal = self._refusal(connection, asked)
        if refusal is not None:
            connection.answer(refusal)
            return
        if asked.path == "/events" and asked.method in METHODS and not self._events.is_full:
            if connection.stream():
                self._events.add(connection)
            return
        self._finish(connection, lambda: _if_read(asked, self._answer))

    def _finish(self, connection: HttpConnection, make: Callable[[], Answer]) -> None:
        answer = None
        try:
            answer = make()
        finally:
            if answer is None:
                connection.abort()  # the loop's exception handler logs the error
        connection.answer(answer)

    def _answer(self, asked: Asked) -> Answer:
        if asked.path == "/events":
            return text(503, f"{READERS_MAX} readers of events are connected, the limit", ("Retry-After", "10"))
        answer = self._log_checksums if asked.path.startswith(PREFIX) else self._paths.get(asked.path)
        if answer is None:
            return text(404, f"unknown path; known paths: {' '.join(self._paths)} /events {PREFIX}OFFSET")
        if self._node is None and asked.path not in NEED_NO_NODE:
            return as_json(503, {"status": "starting", "checks": []})
        response = answer(asked)
        if asked.path in PROBES and not self._security.has_sent_token(asked.authorization):
            return as_json(response.status, {"status": json.loads(response.body)["status"], "checks": []})
        return response

    def _refusal(self, connection: HttpConnection, asked: Asked) -> Answer | None:
        """The response to a client that may not ask; None to others. Probes need no token: supervisors have none."""
        if not self._security.has_name(connection.names):
            client = ", ".join(connection.names) or "unnamed"
            reason = f"the client is {client}; {HTTP.allow} does not list it"
            self._note("http_refused", HTTP.listener, connection.peer, reason)
            return text(403, reason)
        has_sent_token = self._security.has_sent_token(asked.authorization)
        # Over TLS the client has checked the name; and a page of another site has no token.
        is_trusted = self._security.has_tls or (self._security.has_token and has_sent_token)
        if not is_trusted and not self._hosts.has(asked.host):
            self._note("http_refused", HTTP.listener, connection.peer, f"the request is for a host not in {KEY}")
            return text(421, f"this is not {asked.host[:256]}: use the node's address, or add the name to {KEY}")
        peer_host = connection.peer.rpartition(":")[0].strip("[]")
        is_known = self._security.has_token or connection.names or is_loopback_host(peer_host)
        if asked.path.startswith(PREFIX) and not is_known:
            return text(403, f"{PREFIX} is for this machine, or for clients of {HTTP.token} or {HTTP.client_ca}")
        if asked.path in PROBES or has_sent_token:
            return None
        self._note("http_refused", HTTP.listener, connection.peer, f"it sends no token of {HTTP.token}")
        needed = f"send `Authorization: Bearer TOKEN`, with a token of the node's {HTTP.token}"
        return text(401, needed, ("WWW-Authenticate", "Bearer"))

    def _startupz(self, _asked: Asked) -> Answer:
        assert self._node is not None
        checks = check_startup(self._node)
        self._is_started = self._is_started or all(check.passed for check in checks)
        # Once started, a snapshot that comes later from the leader does not change that.
        return _verdict("started", [check._replace(passed=self._is_started) for check in checks])

    def _readyz(self, _asked: Asked) -> Answer:
        assert self._node is not None
        return _verdict("ready", ready(self._node, self._node.now_ms(), self._problems()))

    def _answer_metrics(self, asked: Asked) -> Answer:
        return Answer(200, *self._metrics.text(asked.accept, self._now_ms()))

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def _quorum(self, _asked: Asked) -> Answer:
        view = quorum_view(self._read(), self._problems())
        return as_json(200, {**view, "config": config_view(self._config)})

    def _autopilot(self, _asked: Asked) -> Answer:
        assert self._node is not None
        return as_json(200, autopilot_view(self._node))

    def _log_checksums(self, asked: Asked) -> Answer:
        assert self._node is not None
        offset = parse_offset(asked.path)
        if offset is None:
            return text(404, f"{PREFIX} is followed by an offset")
        return as_json(200, log_checksums(self._node, offset))

    def _problems(self) -> list[Shown]:
        assert self._node is not None
        return problems_of(self._node, self._log.problems)

    def _read(self) -> Reading:
        assert self._node is not None
        assert self._counted is not None
        return Reading(self._node, self._counted, self._watchdog)

    def _view(self) -> dict[str, Any] | None:
        """The content of the page; None before there is a node."""
        if self._node is None:
            return None
        reading = self._read()
        elections = {"count": reading.counted.elections, "roles": list(reading.counted.roles)}
        problems, cluster = self._problems(), cluster_view(reading)
        return {
            **quorum_view(reading, problems),
            "page_problems": page_problems(problems, cluster),
            "cluster": cluster,
            "elections": elections,
        }


def _if_read(asked: Asked, answer: Callable[[Asked], Answer]) -> Answer:
    if asked.method not in METHODS:
        return text(405, f"{asked.method} is not supported; use GET or HEAD", ("Allow", "GET, HEAD"))
    return answer(asked)


def wall_ms() -> int:
    """The wall-clock time as text."""
    return int(time.time() * 1000)


def _verdict(state: str, checks: list[Check]) -> Answer:
    passed = all(check.passed for check in checks)
    shown = [{"check": check.name, "ok": check.passed, "reason": check.reason} for check in checks]
    return as_json(200 if passed else 503, {"status": state if passed else f"not {state}", "checks": shown})
