"""The authorizer's checks before a request reaches a core: envelopes, and the requests of the quorum.

The controller checks its own requests (`controller.core.serving`). This module also holds back requests on listeners
that serve none before the ACLs are loaded (`early.start.listeners`).
"""

from __future__ import annotations

from socket import AF_INET6, inet_pton
from typing import TYPE_CHECKING, Any

from controller.core.apis import Kind
from controller.core.authorization import refusal
from controller.interface.inputs import ANONYMOUS, RequestContext
from controller.node.envelope import address_text
from controller.node.long_requests import FRAME_BYTES_MIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from controller.core.apis import Api
    from controller.core.controller import Controller
    from controller.interface.access import Access
    from controller.node.audit.audit_log import AuditLog
    from raft.interface.inputs import Source
    from raft.network.requests import Incoming


# Of the large requests that wait for the ACLs: some are decoded, and take many times this then.
WAITING_BYTES_MAX = 8 << 20


class NotAllowed(Exception):
    """Another controller does not let this node take part in the quorum."""

    def __init__(self, peer: int) -> None:
        peer_name = f"controller {peer}" if peer >= 0 else "one of controller.quorum.bootstrap.servers"
        super().__init__(
            f"{peer_name} does not let this node take part in the quorum: add the principal of this node to "
            "super.users there, or give it CLUSTER_ACTION on the cluster"
        )


class Admission:
    """Checks requests before they are served. log: takes the authorizer's lines for the node's log; reply: sends a
    response. audit: the audit log; None for none.
    """

    def __init__(self, log: Callable[..., None], reply: Callable[[Source, Any], None]) -> None:
        self.access: Access | None = None
        self.audit: AuditLog | None = None
        self.waiting: list[Incoming] = []
        self._protocols: dict[str, str] = {}  # security protocol, by listener
        self._controller: Controller
        self._log = log
        self._reply = reply

    def begin(self, controller: Controller) -> None:
        """Start with the node's parts, once all are made."""
        self._controller, self.access = controller, controller.env.access
        config = controller.env.config
        self._protocols = {} if config is None else {each.name: each.protocol for each in config.listeners}

    def must_wait(self, incoming: Incoming) -> bool:
        """Whether a request waits for the ACLs; if so it is kept until `take_ready`."""
        if self.access is None or not self.access.must_wait(incoming.listener):
            return False
        self.waiting.append(incoming)
        return True

    def is_full(self) -> bool:
        """Whether the large requests that wait for the ACLs have too many bytes."""
        sizes = (len(each.frame) for each in self.waiting)
        return sum(size for size in sizes if size >= FRAME_BYTES_MIN) > WAITING_BYTES_MAX

    def take_ready(self) -> list[Incoming]:
        """The requests that waited, once the ACLs are loaded."""
        if self.access is None or not self.access.is_ready:
            return []
        waiting, self.waiting = self.waiting, []
        return waiting

    def drop(self, closed: AbstractSet[int]) -> None:
        """Drop the waiting requests of closed connections."""
        if self.audit is not None:
            self.audit.on_disconnected(closed)
        self.waiting = [each for each in self.waiting if each.source.connection not in closed]

    def wants_context(self, api: Api) -> bool:
        """Whether the context of a request is used: always, but for the quorum's requests, which are many."""
        return api.kind is not Kind.RAFT or self.access is not None or (self.audit is not None and self.audit.has(api))

    def admits(self, api: Api, context: RequestContext, request: Any) -> bool:
        """Whether a request goes on to the quorum; if not it was answered."""
        if self.is_denied(api, context, request):
            return False
        if self.audit is not None:
            self.audit.on_request(api, context, request)
        return True

    def refuse(self, context: RequestContext, request: Any, response: Any) -> None:
        """Answer a request that is not served."""
        if self.audit is not None:
            context.request = request
            self.audit.on_answer(context, response)
        self._reply(context.source, response)

    def is_denied(self, api: Api, context: RequestContext, request: Any) -> bool:
        """Whether the sender may not make this request; if so it was answered."""
        if self.access is None:
            return False
        denied = refusal(self._controller, api, context, request)
        for note in self.access.drain():
            self._log(note.name, **note.fields)
        if denied is None:
            return False
        self.refuse(context, request, denied)
        return True

    def context_of(self, incoming: Incoming, now_ms: int) -> RequestContext:
        """The context of a request for its handler."""
        return RequestContext(
            incoming.source, incoming.api_key, incoming.version, incoming.listener, now_ms,
            principal=incoming.identity or ANONYMOUS,
            client_address=host_text(incoming.peer),
            client_id=incoming.client_id or "",  # to stock, null is an empty id
            security_protocol=self._protocols.get(incoming.listener, "PLAINTEXT"),
        )  # fmt: skip


def host_text(peer: str) -> str:
    """The host of a `host:port`; an IPv6 address as Java prints it, which is how ACLs name hosts."""
    host = peer.rpartition(":")[0]
    if ":" not in host:
        return host
    try:
        return address_text(inet_pton(AF_INET6, host.strip("[]").partition("%")[0]))
    except (OSError, ValueError):
        return host
