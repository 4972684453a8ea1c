"""A change of the voter set that is under way at the leader (KIP-853); `raft.change_stages` has its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raft.interface.config import Voter
    from raft.interface.inputs import Requested
    from raft.interface.voters import VoterSet

UNKNOWN = -1


class VoterChange:
    """One change. requested: the request, None once it is answered; voter: the one that is added or updated, before
    its versions are known; voters: the new set, None until it is known; deadline_ms: when the request times out.
    offset: of the new set's record, UNKNOWN before it is appended. reserves: whether it waits for the offset.
    """

    __slots__ = ("deadline_ms", "offset", "requested", "reserves", "voter", "voters")

    def __init__(self, requested: Requested, deadline_ms: int, voter: Voter | None = None) -> None:
        self.requested: Requested | None = requested
        self.deadline_ms = deadline_ms
        self.voter = voter
        self.voters: VoterSet | None = None
        self.offset = UNKNOWN
        self.reserves = False

    @property
    def waits_for_versions(self) -> bool:
        """Whether the new voter has yet to say which levels of kraft.version it supports."""
        return self.voters is None
