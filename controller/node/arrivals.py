"""A request on its way into the node: out of its envelope, by its size, to the core that serves it, or to the
thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS, Kind
from controller.interface import inputs
from controller.node.envelope import request_in, unwrap
from controller.node.long_requests import FRAME_BYTES_MIN, PROMPT_APIS, asks_much, is_long
from raft.interface import inputs as raft_inputs
from raft.network.requests import ENTRIES_MAX
from records.errors import ApiError
from records.messages.elections import VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.voters import UpdateRaftVoterRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.core.apis import Api
    from controller.core.controller import Controller
    from controller.node.admission import Admission
    from controller.node.logging.logs import Log
    from controller.node.long_serving import LongServing
    from controller.node.replies import Replies
    from raft.network.requests import Incoming
    from raft.network.server import Server
    from raft.network.shared_ids import SharedIds
    from raft.state.replica import Replica

REQUEST_RECEIVED = "request_received"
OTHER_CLUSTER = "peer_in_other_cluster"


class Arrivals:
    """Takes the requests of one node. asks_much: whether a request is long though its frame is small; to_controller:
    steps the controller with an input.
    """

    def __init__(
        self,
        *,
        log: Log,
        server: Server,
        replica: Replica,
        controller: Controller,
        admission: Admission,
        replies: Replies,
        long: LongServing,
        shared_ids: SharedIds,
        now_ms: Callable[[], int],
        to_raft: Callable[[raft_inputs.Input], None],
        to_controller: Callable[[inputs.Input], None],
    ) -> None:
        self.asks_much: Callable[[Api, Any], bool] = lambda api, request: asks_much(controller.state, api, request)
        self._log = log
        self._server = server
        self._replica = replica
        self._controller = controller
        self._admission = admission
        self._replies = replies
        self._long = long
        self._shared_ids = shared_ids
        self._now_ms = now_ms
        self._to_raft = to_raft
        self.to_controller = to_controller

    def take(self, incoming: Incoming) -> None:
        """A request came in on a listener, or has waited for the ACLs."""
        api = APIS[incoming.api_key]
        if REQUEST_RECEIVED in self._log.shown:
            self._log(
                REQUEST_RECEIVED, api=api.request.__name__, version=incoming.version, client=incoming.peer,
                client_id=incoming.client_id,
            )  # fmt: skip
        admission = self._admission
        if admission.must_wait(incoming):
            if len(incoming.frame) >= FRAME_BYTES_MIN and admission.is_full():
                self._server.disconnect(
                    incoming.source, "the large requests that wait for the ACLs hold too many bytes"
                )
            return
        source, request = incoming.source, incoming.message
        if request is None:
            self._long.take(incoming, admission.context_of(incoming, self._now_ms()))
            return
        if api.unreadable is not None and (reason := api.unreadable(request)) is not None:
            self._server.disconnect(source, reason)
            return
        context = None
        if admission.wants_context(api):
            context = admission.context_of(incoming, self._now_ms())
        version = incoming.version
        if api.kind is Kind.ENVELOPE:
            assert context is not None
            # First the sender of the envelope is checked, then, as for any request, the sender of the request inside.
            if admission.is_denied(api, context, request):
                return
            try:
                forwarded = unwrap(request, context, self._controller.env.release)
                context, api, version = forwarded.context, forwarded.api, forwarded.context.version
                is_left = is_long(context.api_key, len(forwarded.data))
                request = None if is_left else request_in(forwarded, ENTRIES_MAX)
            except ApiError as error:
                self._replies.refuse_envelope(source, error.code)
                return
            self._replies.envelopes[source] = forwarded.header
            if is_left:
                self._long.take_forwarded(forwarded)
                return
        if api.kind is not Kind.RAFT:
            assert context is not None
            if self.asks_much(api, request):
                self._long.take_decoded(context, request)
            else:
                if api.api_key not in PROMPT_APIS:
                    self._long.queue.on_other()
                self.to_controller(inputs.Requested(context, request))
        elif context is None or admission.admits(api, context, request):
            self._shared_ids.on_request(incoming, self._replica, self._now_ms())
            self._compare_cluster_ids(incoming)
            self._to_raft(raft_inputs.Requested(source, request, version, incoming.listener))

    def _compare_cluster_ids(self, incoming: Incoming) -> None:
        """Log a request of another cluster, with the address that it came from. The core refuses it."""
        sent, expected = getattr(incoming.message, "cluster_id", None), self._replica.config.cluster_id
        if sent not in {None, expected}:
            sender = sender_of(incoming.message)
            name = "a client" if sender < 0 else f"node {sender}"
            self._log(OTHER_CLUSTER, found=sent, expected=expected, sender=name, address=incoming.peer)


def sender_of(request: Any) -> int:
    """The node id of the sender of a request of the quorum; -1 where it names none."""
    if isinstance(request, FetchRequest):
        return request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id
    if isinstance(request, FetchSnapshotRequest):
        return request.replica_id
    if isinstance(request, UpdateRaftVoterRequest):
        return request.voter_id
    for topic in getattr(request, "topics", ()):
        for partition in topic.partitions:
            return int(partition.replica_id if isinstance(request, VoteRequest) else partition.leader_id)
    return -1
