"""The committed history of a cluster: its batches, which `log_rules` checks record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.state.partitions.bulk_batches import load_batch
from controller.state.state import State
from simulations.cluster.metadata.reference import Reference, is_same, state_digest
from simulations.world.history import History

if TYPE_CHECKING:
    from collections.abc import Callable

    from records.batch import Batch
    from simulations.world.chains import Chains


class ClusterHistory(History):
    """batches: all committed ones, in order. on_batch: called with the bytes and the end offset of each.
    settled_before: the greatest offset, up to a given one, at which no transaction is open.
    """

    def __init__(
        self, chains: Chains, on_batch: Callable[[bytes, int], None], settled_before: Callable[[int], int]
    ) -> None:
        super().__init__(chains)
        self.batches: list[bytes] = []
        self.reference = Reference(self.batches)
        self._on_batch = on_batch
        self._settled_before = settled_before

    def gives(self, batches: list[tuple[bytes, Batch]], end_offset: int) -> bool:
        if self._settled_before(end_offset) != end_offset:
            return False  # a reader that begins there would take half a transaction for a whole one
        state = State()
        state.begin_load(end_offset)
        for data, batch in batches:
            if not batch.is_control:
                load_batch(state, data, batch)
        state.end_load()
        return is_same(state_digest(state)[1], self.reference.digest_at(end_offset))

    def _take(self, data: bytes, end_offset: int, epoch: int) -> None:
        self.batches.append(data)
        self.states[end_offset] = (end_offset, 0)
        self.chain_at[end_offset] = self.log.last
        self.epoch_at[end_offset] = epoch
        self._on_batch(data, end_offset)
