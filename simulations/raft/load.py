"""Clients of the registers: they write to nodes that say that they lead, and request confirmations of leadership."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from random import Random

    from simulations.plans.plan import Load
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process
    from simulations.world.world import World

REGISTERS = 8

# The limit on uncommitted writes of one leader; at the limit clients wait.
PENDING_MAX = 60


class Clients:
    """writes: how many records were written so far, committed or not."""

    def __init__(self, world: World, ledger: Ledger, load: Load, rng: Random) -> None:
        self._world = world
        self._ledger = ledger
        self._load = replace(load)  # its pace may change, and the plan stays as it is
        self._rng = rng
        self.writes = 0
        self._is_over = False
        if load.every_ms:
            self._later(load.every_ms)

    def set_pace(self, every_ms: int) -> None:
        """Write at least this often from now on."""
        if not self._load.every_ms or self._load.every_ms > every_ms:
            begin = not self._load.every_ms
            self._load.every_ms = every_ms
            if begin:
                self._later(every_ms)

    def stop(self) -> None:
        """No client writes or asks any more."""
        self._is_over = True

    def leaders(self) -> list[Process]:
        """Processes whose state machine accepts writes now."""
        return [
            each for each in self._ledger.running()
            if each.is_listening and each.is_awake and each.machine.leads is not None
        ]  # fmt: skip

    def _later(self, every_ms: int) -> None:
        self._world.after(between(self._rng, 1, 2 * every_ms * MS), self._act)

    def _act(self) -> None:
        if self._is_over:
            return
        self._later(self._load.every_ms)
        leaders = self.leaders()
        if not leaders:
            return
        leader = leaders[int(self._rng.random() * len(leaders))]
        if self._rng.random() * 100 < self._load.asks:
            leader.machine.ask()
        elif len(leader.machine.pending) < PENDING_MAX:
            count = between(self._rng, 1, self._load.records)
            registers = [int(self._rng.random() * REGISTERS) for _ in range(count)]
            first, self.writes = self.writes, self.writes + count
            leader.machine.write(registers, first, self._load.size, between(self._rng, 0, self._load.slow_ms * MS))
