"""Changes of leaders and ISRs of many partitions when a broker's state changes (KIP-631, KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.rules import bulk_elections

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.results import Item
    from controller.state.partitions.partitions import Rows
    from controller.state.state import State


def leader_and_isr_changes(
    state: State,
    env: Env,
    rows: Rows,
    *,
    removed: int | None = None,
    added: int | None = None,
    lost_data: int | None = None,
) -> list[Item]:
    """The records that change the partitions in these rows, which are distinct and ascending.

    removed: a broker that leaves their ISRs and may not lead. added: a broker that counts as active from now on.
    lost_data: a broker that was shut down uncleanly and therefore leaves ISRs and ELRs.
    """
    changes = bulk_elections.leader_and_isr_changes(state, env, rows, removed=removed, added=added, lost_data=lost_data)
    return [changes] if len(changes) else []
