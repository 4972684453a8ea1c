"""Counts the outcome of each message, by role, kind of message and outcome.

The outcome of a request is its answer, even if it is given later: an error by its name, or the kind of data. The
outcome of an answer is its content, or what was done with its records, if the node waits for it; otherwise `late`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface import effects as do
from raft.interface.inputs import Answered, Requested
from raft.state.roles import Prospective, Unattached
from records.errors import error_name
from records.messages.elections import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    VoteRequest,
    VoteResponse,
)
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from simulations.coverage.table import ASKS, ERRORS, LATE, MALFORMED, OTHER, Cell, answer_to
from simulations.spec.forms import is_of_log
from simulations.world.messages import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.state.roles import Role
    from simulations.world.process import Process

_REQUESTS = frozenset((
    VoteRequest, BeginQuorumEpochRequest, EndQuorumEpochRequest, FetchRequest, FetchSnapshotRequest,
))  # fmt: skip
_REPLIES = frozenset((do.Reply, do.ReplyRecords, do.ReplySnapshot))


class _Sent(NamedTuple):
    """A request that was sent. name: of its kind, a pre-vote apart; epoch: in the request; tenure: the role in which it
    was sent; until_ms: its timeout.
    """

    name: str
    epoch: int
    tenure: int
    until_ms: int


class _Life:
    """role, log_end: before the step; tenure: the number of roles so far, where granting a vote begins no new one;
    sent: by number; newest: the number of the last request to each peer; asked: role and kind of the unanswered
    requests, by source.
    """

    def __init__(self) -> None:
        self.role: Role | None = None
        self.log_end = 0
        self.tenure = 0
        self.sent: dict[int, _Sent] = {}
        self.newest: dict[int, int] = {}
        self.asked: dict[Any, tuple[str, str]] = {}

    def goes_on(self, role: Role) -> None:
        was = self.role
        if role is not was:
            self.role = role
            gives_vote = type(role) is type(was) and was is not None and role.epoch == was.epoch
            self.tenure += not (gives_vote and type(role) in {Unattached, Prospective})


class Cells:
    """counts: by (role, kind of message, outcome)."""

    def __init__(self) -> None:
        self.counts: Counter[Cell] = Counter()
        self._lives: dict[tuple[int, int], _Life] = {}

    def on_stepped(self, process: Process, event: Any, effects: list[Any]) -> None:
        """Count a step of a node."""
        life = self._lives.setdefault((process.node.id, process.life), _Life())
        kind = type(event)
        if kind is Requested and type(event.request) in _REQUESTS:
            life.asked[event.source] = (type(life.role).__name__, kind_of(event.request))
        elif kind is Answered and type(event.response) in _SAYS:
            grown = process.replica.log.end - life.log_end
            self._on_answered(life, event, effects, process.now_ms(), grown)
        life.goes_on(process.replica.role)
        life.log_end = process.replica.log.end
        for effect in effects:
            if type(effect) in _REPLIES:
                if effect.source in life.asked:
                    self.counts[*life.asked.pop(effect.source), outcome_of_reply(effect)] += 1
            elif type(effect) is do.Send and type(effect.request) in _REQUESTS:
                until_ms = process.now_ms() + process.node.config.request_timeout_ms
                epoch = KINDS[type(effect.request)].gist(effect.request)[0]
                life.sent[effect.number] = _Sent(kind_of(effect.request), epoch, life.tenure, until_ms)
                life.newest[effect.peer] = effect.number

    def _on_answered(self, life: _Life, event: Answered, effects: list[Any], now_ms: int, grown: int) -> None:
        sent, role = life.sent.pop(event.number), life.role
        assert role is not None, "a node that sent a request has a role"
        name = type(role).__name__
        is_live = (
            name in ASKS[sent.name]
            and (sent.tenure, sent.epoch) == (life.tenure, role.epoch)
            and life.newest[event.peer] == event.number
            and now_ms < sent.until_ms
        )
        outcome = outcome_of_answer(sent.name, event.response, effects, grown) if is_live else LATE
        self.counts[name, answer_to(sent.name), outcome] += 1


def kind_of(request: Any) -> str:
    """The kind of a request; a pre-vote is a kind of its own."""
    if type(request) is VoteRequest and is_of_log(request) and request.topics[0].partitions[0].pre_vote:
        return "PreVote"
    return KINDS[type(request)].name


def outcome_of_reply(effect: Any) -> str:
    """The outcome of a request, by the answer that the node gives."""
    response = effect.response
    if response.error_code:
        return error_name(response.error_code)
    if isinstance(effect, do.ReplyRecords):
        return "records"
    if isinstance(effect, do.ReplySnapshot):
        return "bytes"
    return _SAYS[type(response)](_part(response))


def outcome_of_answer(name: str, response: Any, effects: list[Any], grown: int) -> str:
    """The content of an answer to a request of this kind, or what is done with it.

    grown: by how much the log has grown; an order of the step may wait for a save, and come later.
    """
    error = response.error_code
    if not error and not is_of_log(response):
        return MALFORMED
    error = error or _part(response).error_code
    if error:
        return error_name(error) if error_name(error) in ERRORS[name] else OTHER
    part = _part(response)
    if type(response) is FetchSnapshotResponse:
        return "written" if any(type(each) is do.WriteSnapshotPart for each in effects) else "unused"
    said = _SAYS[type(response)](part)
    if said == "nothing" and part.records:
        return "records" if grown else "damaged"
    if said == "diverging":
        return "diverging" if grown < 0 else "unused"
    return said


def _part(response: Any) -> Any:
    topics = response.responses if type(response) is FetchResponse else response.topics
    return topics[0].partitions[0]


def _of_vote(part: Any) -> str:
    if part.error_code:
        return error_name(part.error_code)
    return "granted" if part.vote_granted else "refused"


def _of_epoch(part: Any) -> str:
    return error_name(part.error_code) if part.error_code else "taken"


def _of_fetch(part: Any) -> str:
    if part.error_code:
        return error_name(part.error_code)
    if part.diverging_epoch.epoch >= 0:
        return "diverging"
    return "snapshot" if part.snapshot_id.epoch >= 0 else "nothing"


_SAYS: dict[type, Callable[[Any], str]] = {
    VoteResponse: _of_vote,
    BeginQuorumEpochResponse: _of_epoch,
    EndQuorumEpochResponse: _of_epoch,
    FetchResponse: _of_fetch,
    FetchSnapshotResponse: _of_epoch,
}
