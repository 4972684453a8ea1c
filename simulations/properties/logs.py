"""Logs: if two agree in an epoch they agree in everything before; a leader's only grows; committed records stay.

S04 LogMatching, S05 LeaderCompleteness, S06 CommittedImmutable (no committed record is removed), S11
NoTruncationBelowHW, S12 LeaderAppendOnly, S16 EpochCacheMatchesLog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.interface.inputs import Flushed
from raft.state.roles import Leader
from simulations.world.chains import ChainedLog, parts
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raft.interface.recovered import Recovered
    from raft.state.roles import Role
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process


class Logs:
    """prefixes: by (end offset, epoch of the last record), the one prefix that ends so."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.prefixes: dict[tuple[int, int], int] = {}
        self._committed_up_to: dict[int, int] = {}  # node id: up to where it learned that all is committed
        self.inputs = {Flushed: self._on_flushed}
        self.performs = {
            do.Append: self._appends,
            do.Truncate: self._truncates,
            do.ResetLog: self._resets,
            do.AdvanceLogStart: self._advances,
            do.SaveEpochs: self._saves_epochs,
            do.HighWatermark: self._commits,
            do.LoadSnapshot: self._loads,
        }

    def on_recovered(self, process: Process, recovered: Recovered) -> None:
        """A log was opened: read all of it, as it is served to others."""
        history = self._ledger.history
        start = recovered.log_start
        node_id = process.node.id
        base = history.chain_at.get(start)
        if base is None:
            raise Violation("S17", f"the log of node {node_id} starts at {start}, where no committed batch ends")
        shadow = ChainedLog(self._ledger.chains, start, base)
        self._ledger.shadows[node_id] = shadow
        self._committed_up_to[node_id] = 0
        while shadow.end < recovered.log_end:
            data = process.storage.read(shadow.end, recovered.log_end, 1 << 20)
            if not data:
                raise Violation("S18", f"the log of node {node_id} has nothing at {shadow.end}")
            self._add(process, shadow, data)
        if tuple(shadow.epoch_starts) != recovered.epochs:
            text = f"node {node_id} recovered epochs {recovered.epochs}, but its log has {shadow.epoch_starts}"
            raise Violation("S16", text)

    def became(self, process: Process, was: Role | None, role: Role) -> None:
        if isinstance(role, Leader) and not (isinstance(was, Leader) and was.epoch == role.epoch):
            self._is_complete(process, role.epoch)

    def _on_flushed(self, process: Process, event: Flushed, effects: list[Any]) -> None:
        if not effects and process.replica.log.issued == event.number:
            self._are_epochs(process, "knows", process.replica.log.epochs)  # nothing is under way

    def _is_complete(self, process: Process, epoch: int) -> None:
        """A new leader has all records that were committed in the epochs before; a later leader may
        have been faster.
        """
        history = self._ledger.history
        shadow = self._ledger.shadow(process)
        end = history.end_before(epoch)
        if shadow.at(end) != history.chain_at[end]:
            text = (
                f"node {process.node.id} leads epoch {epoch} with a log that ends at {shadow.end}, but lacks"
                f" records that were committed before, up to {end}"
            )
            raise Violation("S05", text)

    def _appends(self, process: Process, effect: do.Append) -> None:
        shadow = self._ledger.shadow(process)
        if effect.base_offset != shadow.end:
            raise Violation(
                "S12", f"node {process.node.id} appends at {effect.base_offset}, but its log ends at {shadow.end}"
            )
        role = process.replica.role
        if isinstance(role, Leader) and effect.epoch > role.epoch:
            raise Violation("S12", f"node {process.node.id}, leader of epoch {role.epoch}, appends {effect}")
        self._add(process, shadow, effect.data)
        if shadow.end != effect.end_offset:
            text = f"node {process.node.id} appends batches up to {shadow.end}, but reports {effect.end_offset}"
            raise Violation("S12", text)

    def _add(self, process: Process, shadow: ChainedLog, data: bytes) -> None:
        history = self._ledger.history
        for part in parts(data):
            if part.base_offset != shadow.end:
                text = f"node {process.node.id} has a batch of offset {part.base_offset} where {shadow.end} should be"
                raise Violation("S12", text)
            number = shadow.add(part.base_offset, part.end_offset, part.epoch, data[part.start : part.stop])
            first = self.prefixes.setdefault((part.end_offset, part.epoch), number)
            if first != number:
                text = (
                    f"node {process.node.id} has another log up to {part.end_offset}, epoch {part.epoch}, than others"
                    " had before"
                )
                raise Violation("S04", text)
            if part.end_offset <= history.end and history.chain_at.get(part.end_offset) != number:
                self._may_lack(process, part.end_offset)

    def _may_lack(self, process: Process, end_offset: int) -> None:
        """Another record than the committed one: of a former leader, which will be truncated. Not on a leader of its
        own epoch, nor below the node's high watermark.
        """
        if end_offset <= self._committed_up_to[process.node.id]:
            raise Violation(
                "S06", f"node {process.node.id} has records that differ from the committed ones, up to {end_offset}"
            )

    def _truncates(self, process: Process, effect: do.Truncate) -> None:
        node_id = process.node.id
        if isinstance(process.replica.role, Leader):
            raise Violation("S12", f"node {node_id} leads, and truncates its log to {effect.end_offset}")
        committed = self._committed_up_to[node_id]
        if effect.end_offset < committed:
            text = (
                f"node {node_id} truncates to {effect.end_offset}, but learned that all up to {committed} is committed"
            )
            raise Violation("S11", text)
        shadow = self._ledger.shadow(process)
        self._check_nothing_committed(process, effect.end_offset)
        shadow.truncate(effect.end_offset)

    def _check_nothing_committed(self, process: Process, end_offset: int) -> None:
        shadow, history = self._ledger.shadow(process), self._ledger.history
        place = shadow.after(end_offset)
        if place is None:
            return
        first_end = shadow.ends[place]
        # A leader of the past, which is cut off, may order it of an observer of its epoch: it has all that was
        # committed before, and nobody counts the observer.
        committed = history.end_before(process.replica.role.epoch + 1)
        if first_end <= committed and history.chain_at.get(first_end) == shadow.numbers[place]:
            text = f"node {process.node.id} removes records after {end_offset}, but all up to {committed} is committed"
            raise Violation("S06", text)

    def _resets(self, process: Process, effect: do.ResetLog) -> None:
        node_id = process.node.id
        end = effect.id.end_offset
        if isinstance(process.replica.role, Leader):
            raise Violation("S12", f"node {node_id} leads, and empties its log")
        if end < self._committed_up_to[node_id]:
            raise Violation(
                "S11",
                f"node {node_id} resets its log to {end}, but had committed up to {self._committed_up_to[node_id]}",
            )
        base = self._ledger.history.chain_at.get(end)
        if base is None:
            raise Violation("S17", f"node {node_id} resets its log to {end}, where no committed batch ends")
        self._ledger.shadow(process).reset(end, base)

    def _advances(self, process: Process, effect: do.AdvanceLogStart) -> None:
        start = effect.start_offset
        history = self._ledger.history
        shadow = self._ledger.shadow(process)
        if start > history.end:
            raise Violation(
                "S10", f"node {process.node.id} deletes its log below {start}, but only {history.end} is committed"
            )
        if shadow.at(start) is None:
            raise Violation("S17", f"node {process.node.id} deletes its log below {start}, within a batch")
        shadow.advance(start)

    def _saves_epochs(self, process: Process, effect: do.SaveEpochs) -> None:
        self._are_epochs(process, "saves", effect.epochs)

    def _are_epochs(self, process: Process, verb: str, epochs: Iterable[tuple[int, int]]) -> None:
        shadow = self._ledger.shadow(process)
        end = shadow.end  # what begins there has no record, yet or any more
        if [entry for entry in epochs if entry[1] < end] != [each for each in shadow.epoch_starts if each[1] < end]:
            raise Violation(
                "S16", f"node {process.node.id} {verb} epochs {epochs}, but its log has {shadow.epoch_starts}"
            )

    def _commits(self, process: Process, effect: do.HighWatermark) -> None:
        self._committed_up_to[process.node.id] = max(self._committed_up_to[process.node.id], effect.offset)

    def _loads(self, process: Process, effect: do.LoadSnapshot) -> None:
        self._committed_up_to[process.node.id] = max(self._committed_up_to[process.node.id], effect.id.end_offset)
