"""ConfirmLeadership: whether this replica is still the leader, asked before a linearizable read (Raft 6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.fetch_request import answer_voters, emit_confirmed
from raft.state.roles import Leader

if TYPE_CHECKING:
    from raft.interface.inputs import ConfirmLeadership
    from raft.state.replica import Replica


def on_confirm(replica: Replica, asked: ConfirmLeadership, _now_ms: int) -> None:
    """Start a round in which a majority of the voters must fetch again; see `raft/state/rounds.py`.

    A replica that is not the leader does nothing: a `LeaderChanged` notifies the state machine that leadership is lost.
    """
    role = replica.role
    if not isinstance(role, Leader):
        return
    role.state.rounds.ask(asked.number)
    answer_voters(replica, role)
    emit_confirmed(replica, role)
