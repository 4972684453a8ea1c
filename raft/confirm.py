"""Does this replica lead still, now? What the state machine may ask before it answers a read (Raft 6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.fetch_request import answer_voters, tell_confirmed
from raft.roles import Leader

if TYPE_CHECKING:
    from raft.inputs import ConfirmLeadership
    from raft.replica import Replica


def on_confirm(replica: Replica, asked: ConfirmLeadership, _now_ms: int) -> None:
    """Have the voters prove it; see `raft/rounds.py`.

    Where this replica does not lead, that it lost leadership was, or will be, told, and is the answer.
    """
    role = replica.role
    if not isinstance(role, Leader):
        return
    role.state.rounds.ask(asked.number)
    answer_voters(replica, role)
    tell_confirmed(replica, role)
