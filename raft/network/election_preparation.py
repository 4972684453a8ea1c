"""What an election would otherwise wait for: connections between the voters, and the codecs of its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.voters import endpoint_of
from records.codec import prepare
from records.messages.elections import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    VoteRequest,
    VoteResponse,
)  # fmt: skip
from records.messages.fetch import FetchRequest, FetchResponse
from records.schema import schema_of

if TYPE_CHECKING:
    import asyncio

    from raft.interface.config import Endpoint
    from raft.network.channels import Channels
    from raft.state.replica import Replica

INTERVAL_S = 0.2

# In the order in which an election needs them.
MESSAGES: tuple[type, ...] = (
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    VoteRequest,
    VoteResponse,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
)


class ElectionPreparation:
    """Keeps a connection open from this voter to each other voter, and makes the codecs before they are needed.

    A follower talks to its leader alone, and a leader to nobody. Without this, Vote, BeginQuorumEpoch and
    EndQuorumEpoch first wait for a connection, its ApiVersions, and a codec each.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, replica: Replica, channels: Channels) -> None:
        self._loop = loop
        self._replica = replica
        self._channels = channels
        self._unprepared = list(reversed(MESSAGES))
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Open the missing connections now, and again at each interval."""
        replica = self._replica
        if replica.is_voter and not replica.is_only_voter:
            for voter_id in replica.voters.ids:
                endpoint = self._endpoint_of(voter_id)
                if voter_id != replica.key.id and endpoint is not None:
                    self._channels.open(voter_id, endpoint)
            if self._unprepared:
                self._loop.call_soon(self._prepare_next)
        self._timer = self._loop.call_later(INTERVAL_S, self.start)

    def _endpoint_of(self, voter_id: int) -> Endpoint | None:
        """The address to which the next request to a voter goes. A leader is fetched from where it says that it is,
        which the voter set need not know; a refusal at another address would end this node's trust in it.
        """
        replica, role = self._replica, self._replica.role
        if voter_id == role.leader_id and role.endpoints:
            return endpoint_of(role.endpoints, replica.config.listener)
        return replica.endpoint_of(voter_id)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._unprepared.clear()

    def _prepare_next(self) -> None:
        """Prepare one message in each iteration of the loop, so that other inputs are handled in between."""
        if self._unprepared:
            message = self._unprepared.pop()
            served = schema_of(message).served
            assert served is not None, f"{message.__name__} is a message of the quorum"
            prepare(message, served[1])
            self._loop.call_soon(self._prepare_next)
