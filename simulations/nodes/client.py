"""The client's side of a connection to the controllers, for brokers and admin clients: one request at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.effects import Send
from raft.interface.inputs import Answered, Failed
from records.errors import Error
from simulations.world.clocks import NodeClock
from simulations.world.machine import endpoint
from simulations.world.releases import NEWEST
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.world.channels import Channel
    from simulations.world.connections import Network
    from simulations.world.messages import Frame
    from simulations.world.process import Connection
    from simulations.world.world import World

    Done = Callable[[Any], None]

# Between two attempts to find the active controller.
BACKOFF_MS = 40


class Client:
    """A process that sends requests and serves none. id: of its machine; the quorum's nodes have lower ones.

    target: the controller that it takes for the active one. is_dead: it has ended, and responses are dropped. It has
    the attributes that the network uses of a process and of its machine. clock: the world's time. identity: the
    principal that sends; None for everybody's.
    """

    is_on = True
    is_listening = False
    release = NEWEST
    identity: Any = None
    clock = NodeClock()

    def __init__(self, world: World, network: Network, rng: Random, client_id: int, servers: list[int]) -> None:
        self.world = world
        self.network = network
        self.rng = rng
        self.id = client_id
        self.node = self
        self.life = 1
        self.is_dead = False
        self.is_paused = False
        self.connections: dict[int, Connection] = {}
        self.channels: dict[int, Channel] = {}
        self.unaware_peers: list[Connection] = []
        self._servers = servers
        self.target = servers[int(rng.random() * len(servers))]
        self.number = 0
        self._done: dict[int, Done] = {}
        self._held: list[tuple[Callable[..., None], tuple[Any, ...]]] = []

    def ask(self, request: Any, done: Done, timeout_ms: int, server: int = 0) -> None:
        """Send a request to the active controller, or to a given one; `done` gets the response, or None."""
        peer = server or self.target
        self.number += 1
        number = self.number
        self._done[number] = done
        channel = self.channels.get(peer)
        if channel is None:
            channel = self.channels[peer] = self.network.channel(self, peer)
        channel.send(Send(peer, number, endpoint(peer), request))
        self.world.after(timeout_ms * MS, self._give_up, number)

    def look_elsewhere(self) -> None:
        """The target is not the active controller, or cannot be reached."""
        place = self._servers.index(self.target)
        self.target = self._servers[(place + 1) % len(self._servers)]

    def die(self) -> None:
        """The process ends; its connections are closed."""
        self.is_dead = True
        self._done.clear()
        self._held.clear()
        self.network.close_all(self, power_lost=False)  # type: ignore[arg-type]

    # Called by the network

    def when_awake(self, act: Callable[..., None], *args: Any) -> None:
        if self.is_paused:
            self._held.append((act, args))
        elif not self.is_dead:
            act(*args)

    def resume(self) -> None:
        """Continue after a pause, and handle what arrived meanwhile."""
        self.is_paused = False
        held, self._held = self._held, []
        for act, args in held:
            self.when_awake(act, *args)

    def receive_soon(self, event: Any) -> None:
        if isinstance(event, Failed):
            self.world.after(0, self.when_awake, self._end, event.number, None)

    def handle_answer(self, _frame: Frame, answered: Answered) -> None:
        self._end(answered.number, answered.response)

    def _give_up(self, number: int) -> None:
        self.when_awake(self._end, number, None)

    def _end(self, number: int, response: Any) -> None:
        done = self._done.pop(number, None)
        if done is not None:
            done(response)


def is_elsewhere(code: int) -> bool:
    """Whether an error says that another node is the active controller."""
    return code == Error.NOT_CONTROLLER
