"""The product's channels, with their requests and the outcomes reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.inputs import Answered, Failed
from raft.network.channels import Channels
from simulations.sockets.loop import SocketLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.effects import Send
    from raft.interface.inputs import Input
    from raft.network.channel import Channel
    from raft.network.security import ClientSecurity
    from simulations.sockets.frames import Asked
    from simulations.sockets.interfaces import WireChecks

    Note = Callable[[str, dict[str, Any]], None]


class SocketChannels(Channels):
    """The channels of one process to its peers. asked: by peer, the last request without an outcome.

    on_event: called with the outcome; an answer comes with its request.
    """

    def __init__(
        self, process: Any, loop: Any, client_id: str, on_event: Callable[[Input, Asked | None], None], note: Note,
        security: ClientSecurity | None = None,
    ) -> None:  # fmt: skip
        super().__init__(loop, client_id, process.rng, on_input=self._came, note=note, security=security)
        self.process = process
        self._sim_loop = loop
        self.asked: dict[int, Send] = {}
        self.left: dict[int, Asked] = {}  # by peer: the frame with which the last request left
        self._on_event = on_event
        self._wire_rules: WireChecks = process.network.wire_rules

    @classmethod
    def of_client(cls, process: Any, security: ClientSecurity | None = None) -> SocketChannels:
        """The channels of a broker or an admin client."""

        def on_event(event: Input, asked: Asked | None) -> None:
            if isinstance(event, Answered):
                assert asked is not None, "an answer is for something"
                event_of_core = made.unwrap(event)
                if isinstance(event_of_core, Answered):
                    process.handle_answer(asked.answer, event_of_core)
                else:
                    process.receive_soon(event_of_core)
            else:
                process.receive_soon(event)

        def run(act: Callable[..., None], *args: Any) -> None:
            if not process.is_dead:
                act(*args)

        made = cls(process, SocketLoop(process, run), "simulated", on_event, lambda _name, _fields: None, security)
        return made

    def unwrap(self, event: Answered) -> Answered | Failed:
        """The answer for the sender of the request."""
        return event

    def send(self, effect: Send) -> None:
        self.asked[effect.peer] = effect
        self.left.pop(effect.peer, None)
        super().send(effect)

    def close(self) -> None:
        self.asked.clear()
        super().close()

    def _make(self, peer: int) -> Channel:
        self._loop = ChannelLoop(self._sim_loop, self, peer)  # type: ignore[assignment]
        return super()._make(peer)

    def _came(self, event: Input) -> None:
        if isinstance(event, Answered):
            asked = self.asked.pop(event.peer, None)
            self._wire_rules.is_answer_to(self, event, asked)
            self._on_event(event, self.left.pop(event.peer))
            return
        if isinstance(event, Failed):
            asked = self.asked.get(event.peer)
            if asked is not None and asked.number == event.number:
                del self.asked[event.peer]
                self.left.pop(event.peer, None)
        self._on_event(event, None)


class ChannelLoop:
    """The loop of the channel to one peer, which knows the channel of each connection."""

    def __init__(self, loop: SocketLoop, channels: SocketChannels, peer: int) -> None:
        self.channels = channels
        self.peer = peer
        self.time, self.call_soon = loop.time, loop.call_soon
        self.call_later, self.create_task = loop.call_later, loop.create_task
        self.create_future = loop.create_future
        self._open = loop.open

    def create_connection(self, factory: Callable[[], Any], host: str, _port: int) -> Any:
        return self._open(factory, host, self.channels, self.peer)
