"""From static to dynamic voters: the upgrade of kraft.version from 0 to 1 (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.append import append_control, drain
from raft.interface.effects import KraftVersionSupport, ProposalRefused
from raft.interface.voters import voters_record
from raft.state.roles import Leader
from records.control import KRaftVersionRecord
from records.control_batch import encode_control

if TYPE_CHECKING:
    from raft.interface.config import Voter
    from raft.interface.inputs import UpgradeKraftVersion
    from raft.state.replica import Replica

DYNAMIC = 1


def start(replica: Replica, role: Leader) -> None:
    """A leader with kraft.version 0 learns the directory ids and versions of the static voters from themselves.

    Nothing of it is in the log, so each leader starts with its own entry alone.
    """
    if replica.kraft_version == 0:
        role.state.reported_voters = replica.voters.replace(replica.own_voter())
        _report_support(replica, role)


def learn_voter(replica: Replica, role: Leader, voter: Voter) -> None:
    """A static voter has reported its directory id, endpoints and versions."""
    reported = role.state.reported_voters
    assert reported is not None, "with kraft.version 1 the log has the voters"
    role.state.reported_voters = reported.replace(voter)
    _report_support(replica, role)


def _report_support(replica: Replica, role: Leader) -> None:
    reported = role.state.reported_voters
    assert reported is not None, "with kraft.version 1 there is nothing to upgrade to"
    replica.emit(KraftVersionSupport(role.epoch, DYNAMIC if reported.supports(DYNAMIC) else 0))


def on_upgrade(replica: Replica, upgrade: UpgradeKraftVersion, now_ms: int) -> None:
    """Append kraft.version 1 and the voters, with what they have reported, as one batch."""
    role = replica.role
    state = role.state if isinstance(role, Leader) else None
    if (
        not isinstance(role, Leader)
        or state is None
        or replica.shutting_down
        or upgrade.epoch != role.epoch
        or upgrade.base_offset != state.proposals.next_offset
        or state.reported_voters is None
        or not state.reported_voters.supports(upgrade.level)
    ):
        replica.emit(ProposalRefused(upgrade.epoch, upgrade.base_offset))
        return
    assert upgrade.level == DYNAMIC, f"kraft.version {upgrade.level} is not known"
    voters, state.reported_voters = state.reported_voters, None
    drain(replica, role, now_ms)
    records = [
        encode_control(KRaftVersionRecord(version=0, kraft_version=upgrade.level)),
        encode_control(voters_record(voters)),
    ]
    base_offset = upgrade.base_offset
    append_control(replica, role, records, [(base_offset, upgrade.level), (base_offset + 1, voters)], now_ms)
    replica.note("kraft_version_upgraded", kraft_version=upgrade.level, offset=base_offset, voters=list(voters.ids))
