"""Batches that the state machine proposed and that the leader has not yet appended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.limits import NEVER

if TYPE_CHECKING:
    from raft.interface.inputs import Propose


class Proposals:
    """Batches that wait for the linger. next_offset: of the next proposal; drain_ms: when to append them."""

    __slots__ = ("drain_ms", "next_offset", "size", "waiting")

    def __init__(self, next_offset: int) -> None:
        self.next_offset = next_offset
        self.waiting: list[Propose] = []
        self.size = 0
        self.drain_ms = NEVER

    def add(self, proposal: Propose, drain_ms: int) -> None:
        self.waiting.append(proposal)
        self.size += len(proposal.data)
        self.next_offset = proposal.last_offset + 1
        self.drain_ms = min(self.drain_ms, drain_ms)

    def drain(self) -> list[Propose]:
        waiting = self.waiting
        self.waiting = []
        self.size = 0
        self.drain_ms = NEVER
        return waiting
