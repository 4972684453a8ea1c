"""Requests of this node to the active controller, which may be this node itself (KIP-919)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS
from controller.interface import inputs
from raft.interface import effects as raft_effects
from raft.interface import inputs as raft_inputs
from raft.interface.inputs import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.core.controller import Controller
    from controller.interface.effects import SendToActive
    from raft.network.channels import Channels
    from raft.state.replica import Replica

# The connection number in the source of a request that this node sends to itself.
LOOPBACK_CONNECTION = 0


class LoopbackRequests:
    """Sends them, over channels of their own, since those of the quorum are busy with Fetches.

    to_controller: takes the response to each request as an input.
    """

    def __init__(
        self,
        replica: Replica,
        controller: Controller,
        channels: Channels,
        to_controller: Callable[[inputs.Input], None],
    ) -> None:
        self._replica = replica
        self._controller = controller
        self._channels = channels
        self._to_controller = to_controller

    def send(self, effect: SendToActive, now_ms: int) -> None:
        leader_id = self._controller.env.leader_id
        if leader_id == self._replica.key.id:
            self._send_to_itself(effect, now_ms)
            return
        endpoint = self._replica.endpoint_of(leader_id)
        if endpoint is None:
            self._to_controller(inputs.SendAnswered(effect.number, None))
            return
        self._channels.send(raft_effects.Send(leader_id, effect.number, endpoint, effect.request))

    def on_answer(self, source: Source, response: Any) -> None:
        """Pass on the answer of this node to its own request."""
        self._to_controller(inputs.SendAnswered(source.correlation, response))

    def on_input(self, event: raft_inputs.Input) -> None:
        """A channel got an answer, or failed."""
        if isinstance(event, raft_inputs.Answered):
            self._to_controller(inputs.SendAnswered(event.number, event.response))
        elif isinstance(event, raft_inputs.Failed):
            self._to_controller(inputs.SendAnswered(event.number, None))

    def _send_to_itself(self, effect: SendToActive, now_ms: int) -> None:
        api_key = type(effect.request).__schema__.api_key
        context = inputs.RequestContext(
            Source(LOOPBACK_CONNECTION, effect.number),
            api_key,
            APIS[api_key].versions[1],
            self._replica.config.listener,
            now_ms,
            is_own=True,
        )
        self._to_controller(inputs.Requested(context, effect.request))
