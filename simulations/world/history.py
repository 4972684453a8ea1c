"""The committed history: the batch first committed at each offset, with which all later reports are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.world.chains import EMPTY, ChainedLog, Chains, parts
from simulations.world.violation import Violation
from simulations.world.writes import Replay, State, read_snapshot, writes_of

if TYPE_CHECKING:
    from records.batch import Batch


class History:
    """Committed batches, from offset 0 on. log: as chains; states: (count, digest) of the state machine after each
    batch, by the offset at which the batch ends.
    """

    def __init__(self, chains: Chains) -> None:
        self.log = ChainedLog(chains)
        self.states: dict[int, tuple[int, int]] = {0: (0, 0)}
        self.chain_at: dict[int, int] = {0: EMPTY}
        self.epoch_at: dict[int, int] = {0: 0}
        self._ends: dict[int, int] = {}  # by epoch of a leader: up to where it has committed
        self._replay = Replay()
        self._writes: list[tuple[int, int]] = []  # (register, number) of each write, in order

    @property
    def end(self) -> int:
        return self.log.end

    def end_before(self, epoch: int) -> int:
        """The end offset of the records that leaders of the epochs before this one have committed."""
        return max((end for led, end in self._ends.items() if led < epoch), default=0)

    def has_committed(self, epoch: int) -> bool:
        """Whether the leader of an epoch has committed a record of it."""
        return epoch in self._ends

    def extend(self, source: ChainedLog, end_offset: int, epoch: int) -> None:
        """The batches of a log from our end up to `end_offset` are committed, by the leader of an epoch. Raises
        Violation if the log does not continue our history.
        """
        own = self.log
        self._ends[epoch] = end_offset
        if source.at(own.end) != own.last:
            raise Violation("S06", f"a log that is committed up to {end_offset} has different records before {own.end}")
        for number in source.numbers[source.after(own.end) or 0 :] if source.end > own.end else ():
            data = source.chains.batches[number][1]
            part = next(parts(data))
            if part.end_offset > end_offset:
                break
            own.add(part.base_offset, part.end_offset, part.epoch, data)
            self._take(data, part.end_offset, part.epoch)
        if own.end != end_offset:
            raise Violation("S10", f"{end_offset} is committed, and no batch ends there; one ends at {own.end}")

    def state_at(self, end_offset: int) -> State:
        """The whole state up to an offset at which a batch ends."""
        count, digest = self.states[end_offset]
        registers = dict(self._writes[:count])
        return State(count, digest, tuple(sorted(registers.items())))

    def gives(self, batches: list[tuple[bytes, Batch]], end_offset: int) -> bool:
        """Whether the batches of a snapshot have the state of the log up to an offset."""
        return read_snapshot(batches) == self.state_at(end_offset)

    def _take(self, data: bytes, end_offset: int, epoch: int) -> None:
        self._replay.take(data)
        self._writes += [(register, number) for _, register, number in writes_of(data)]
        self.states[end_offset] = (self._replay.count, self._replay.digest)
        self.chain_at[end_offset] = self.log.last
        self.epoch_at[end_offset] = epoch
