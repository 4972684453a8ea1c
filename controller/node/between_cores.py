"""Effects of one core that are nothing but inputs of the other, and record batches on their way to raft: those of one
iteration of the event loop in one proposal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface import effects as controller_effects
from controller.interface import inputs
from raft.interface import effects as raft_effects
from raft.interface import inputs as raft_inputs

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

# The largest proposal of several batches. Joining larger ones costs more than appending each by itself.
JOINED_BYTES_MAX = 64 << 10

# Class of an effect of raft -> its input of the controller.
TO_CONTROLLER: dict[type, Callable[[Any], inputs.Input]] = {
    raft_effects.LeadershipConfirmed: lambda effect: inputs.LeadershipConfirmed(effect.number, effect.epoch),
    raft_effects.ReserveOffsets: lambda effect: inputs.ReserveOffsets(effect.epoch, effect.count),
    raft_effects.KraftVersionSupport: lambda effect: inputs.KraftVersionSupport(effect.epoch, effect.level),
}

# Class of an effect of the controller -> its input of raft. `Proposals` makes those of Append.
TO_RAFT: dict[type, Callable[[Any], raft_inputs.Input]] = {
    controller_effects.OffsetsReserved: lambda effect: raft_inputs.OffsetsReserved(effect.epoch, effect.base_offset),
    controller_effects.UpgradeKraftVersion: lambda effect: raft_inputs.UpgradeKraftVersion(
        effect.epoch, effect.base_offset, effect.level
    ),
    controller_effects.ConfirmLeadership: lambda effect: raft_inputs.ConfirmLeadership(effect.number),
}


class Proposals:
    """The batches that wait for the end of the iteration, or for another input of raft, whichever is first: where many
    clients write, a step of raft, a write to the file and a flush serve several of their requests.

    queue: queues an input of raft; drain: steps the cores with the queued inputs.
    """

    __slots__ = ("_drain", "_is_scheduled", "_loop", "_queue", "_size", "_waiting")

    def __init__(
        self, loop: AbstractEventLoop, queue: Callable[[raft_inputs.Propose], None], drain: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._queue = queue
        self._drain = drain
        self._waiting: list[controller_effects.Append] = []
        self._size = 0
        self._is_scheduled = False

    def add(self, batch: controller_effects.Append) -> None:
        """Propose a batch, behind those that were added before."""
        if self._waiting and self._waiting[0].epoch != batch.epoch:
            self.pass_on()
        self._size += len(batch.data)
        if self._size > JOINED_BYTES_MAX:
            self.pass_on()
            self._size = len(batch.data)
        self._waiting.append(batch)
        if self._size > JOINED_BYTES_MAX:
            self.pass_on()
        elif not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._end_iteration)

    def pass_on(self) -> None:
        """Queue what waits. Called before any other input of raft is queued, so that their order stays."""
        waiting = self._waiting
        if not waiting:
            return
        self._waiting, self._size = [], 0
        first, last = waiting[0], waiting[-1]
        data = first.data if first is last else b"".join([batch.data for batch in waiting])
        self._queue(raft_inputs.Propose(first.epoch, first.base_offset, last.last_offset, data))

    def _end_iteration(self) -> None:
        self._is_scheduled = False
        self.pass_on()
        # What was passed on before may have been queued only.
        self._drain()
