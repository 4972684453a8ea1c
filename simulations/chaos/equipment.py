"""A disk, a clock and syncs for each node in place of the machine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulations.chaos.clocks import Clocks
from simulations.chaos.disks import Disks
from simulations.chaos.syncs import Syncs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import ExitStack
    from pathlib import Path

# Old segments and snapshots are deleted once a minute by a node that runs so long, as by stock: under faults not often.
DISK_BYTES = 256 << 20


class Equipment(NamedTuple):
    """None: that of the machine."""

    disks: Disks | None = None
    clocks: Clocks | None = None
    syncs: Syncs | None = None


OF_THE_MACHINE = Equipment()


def equip(directory: Path, nodes: Iterable[int], ending: ExitStack, say: Callable[[str], object]) -> Equipment:
    """All that this machine allows; what it does not is said with the reason.

    directory: of the nodes, without files of theirs. ending: unmounts the disks.
    """
    nodes = tuple(nodes)
    disks, clocks = None, None
    try:
        disks = Disks(directory, nodes, DISK_BYTES)
        ending.callback(disks.close)
    except OSError as error:
        say(f"no disk is filled: {error}")
    try:
        clocks = Clocks(directory, nodes)
    except FileNotFoundError as error:
        say(f"no clock is moved: {error}")
    return Equipment(disks, clocks, Syncs(directory, nodes))
