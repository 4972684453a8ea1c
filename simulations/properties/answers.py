"""Answers: rogue clients get the expected answers, and none waits longer than its timeout.

S25 RightAnswer (errors, leader, position in the log, as `expected_answers` models them), S26 QuorumDescribed
(DescribeQuorum has the state of each replica), L05 (a parked Fetch is answered at its timeout, and not before without
news).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface import effects as do
from raft.interface.inputs import Saved
from raft.state.roles import Follower, Leader
from records.errors import Error
from records.messages.fetch import FetchRequest
from records.messages.quorum import DescribeQuorumRequest
from records.uuids import ZERO_UUID
from simulations.properties.expected_answers import ExpectedAnswer, predict_answer
from simulations.world.machine import endpoint
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from raft.interface.inputs import Requested, Source
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Process
    from simulations.world.world import World

# A timer is in whole milliseconds, and a step may wait for the one before it.
LATE_MS = 5

# The version from which on an answer has the leader's endpoint.
_NAMES_NODES = {"VoteResponse": 1, "BeginQuorumEpochResponse": 1, "EndQuorumEpochResponse": 1, "FetchResponse": 17,
                "FetchSnapshotResponse": 1}  # fmt: skip


class Asked(NamedTuple):
    """A request that is being handled, and its expected answer. end, watermark, start: of the log at that time."""

    process: Process
    requested: Requested
    expected_answer: ExpectedAnswer
    end: int
    watermark: int | None
    start: int

    @property
    def source(self) -> Source:
        return self.requested.source


class Fetched(NamedTuple):
    """A leader's knowledge of a replica: its last fetch offset, when by the leader's clock, where the leader's log
    ended then, and when it last had all of it; -1 for never.
    """

    offset: int
    at_ms: int
    leader_end: int
    caught_up_ms: int


class Answers:
    """Checks the answers to rogue clients, and how long they wait."""

    def __init__(self, ledger: Ledger, world: World) -> None:
        self._ledger = ledger
        self._world = world
        self._now: Asked | None = None
        self._waiting: dict[tuple[int, int, int], tuple[Asked, int]] = {}  # by node, life, connection: until when
        self._saving: dict[int, tuple[int, int]] = {}  # node id: life and number of the save that answers wait for
        self._books: dict[tuple[int, int, int], dict[tuple[int, bytes], Fetched]] = {}  # by leader, life and epoch
        self.performs: dict[type, Any] = {
            do.Reply: self._replies, do.ReplyRecords: self._replies, do.ReplySnapshot: self._replies,
            do.SaveElection: self._saves, do.HighWatermark: self._commits, do.VotersChanged: self._voters_change,
        }  # fmt: skip
        self.inputs = {Saved: self._on_saved}
        self.asked = {"Fetch": self._fetches}

    def asks(self, process: Process, requested: Requested) -> None:
        """A rogue client's request is about to be handled."""
        self._now = _note_request(process, requested)
        if type(requested.request) is FetchRequest:
            self._note_fetch(self._now)

    def wait(self) -> None:
        """The last request may have to wait for its answer."""
        asked = self._now
        assert asked is not None, "a request is being taken"
        process, request = asked.process, asked.requested.request
        until_ms = process.clock.ms(self._world.now) + max(getattr(request, "max_wait_ms", 0), 0)
        early_ms = 0 if self._is_saving(process) else until_ms
        self._waiting[process.node.id, process.life, asked.source.connection] = (asked, early_ms)
        self._look_later(asked, until_ms)

    def has_taken(self) -> None:
        """The request was handled; an answer from now on is a late one."""
        self._now = None

    def _saves(self, process: Process, effect: do.SaveElection) -> None:
        self._saving[process.node.id] = (process.life, effect.number)

    def _on_saved(self, process: Process, event: Saved, _effects: list[Any]) -> None:
        if self._saving.get(process.node.id) == (process.life, event.number):
            del self._saving[process.node.id]

    def _is_saving(self, process: Process) -> bool:
        """Whether its answers wait for the disk."""
        return self._saving.get(process.node.id, (0, 0))[0] == process.life

    def _fetches(self, process: Process, _frame: Frame, requested: Requested) -> None:
        self._note_fetch(_note_request(process, requested))

    # A leader's knowledge of the replicas

    def _note_fetch(self, asked: Asked) -> None:
        process, expected_answer = asked.process, asked.expected_answer
        if expected_answer[:2] != (Error.NONE, Error.NONE) or expected_answer.detail is not None:
            return
        request = asked.requested.request
        part = request.topics[0].partitions[0]
        sender = request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id
        if sender < 0:
            return
        now_ms = process.clock.ms(self._world.now)
        book = self._books.setdefault((process.node.id, process.life, process.replica.epoch), {})
        # Where voters are known by their ids alone, one with an empty disk is the one that it was.
        by_id = any(voter.key == (sender, ZERO_UUID) for voter in process.replica.voters)
        key = (sender, ZERO_UUID if by_id else part.replica_directory_id)
        if any(voter.key == key for voter in process.replica.voters):
            _take_directory(book, key)
        last = book.get(key, _NEVER)
        caught_up_ms = last.caught_up_ms
        if part.fetch_offset >= asked.end:
            caught_up_ms = now_ms
        elif last.leader_end > 0 and part.fetch_offset >= last.leader_end:
            caught_up_ms = max(caught_up_ms, last.at_ms)
        book[key] = Fetched(part.fetch_offset, now_ms, asked.end, caught_up_ms)

    def _voters_change(self, process: Process, effect: do.VotersChanged) -> None:
        """What is known of a static voter is kept by its directory id, though it may be removed before it fetches."""
        book = self._books.get((process.node.id, process.life, process.replica.epoch), {})
        for voter in effect.voters:
            _take_directory(book, voter.key)

    def progress_of(self, process: Process, key: tuple[int, bytes]) -> Fetched | None:
        """What a leader must know of a replica, in its present epoch; None where it did not fetch."""
        return self._books.get((process.node.id, process.life, process.replica.epoch), {}).get(key)

    # What leaves

    def _replies(self, process: Process, effect: Any) -> None:
        asked = self._now
        source = effect.source
        if source.connection >= 0:
            return  # not of a rogue client; other properties check the answers within the quorum
        waited = self._waiting.pop((process.node.id, process.life, source.connection), None)
        if asked is None or asked.process is not process or asked.source != source:
            if waited is not None:
                self._is_due(*waited, effect)
            return
        response = effect.response
        said = _actual_answer(response)
        expected_answer = asked.expected_answer
        if said.error == Error.NOT_LEADER_OR_FOLLOWER and expected_answer.error == Error.NONE and not _leads_on(asked):
            return  # it was to wait, and within the same step the leader resigned
        if said[:4] != expected_answer[:4]:
            raise Violation("S25", f"{_requester(asked)} is answered {said}, expected {expected_answer}")
        detail = _detail(effect)
        is_fetch = type(asked.requested.request) is FetchRequest and expected_answer.error == Error.NONE
        if (expected_answer.detail is not None or is_fetch) and detail != expected_answer.detail:
            raise Violation("S25", f"{_requester(asked)} is answered {detail}, expected {expected_answer.detail}")
        self._names_leader(asked, response, said)
        if is_fetch:
            self._check_fetch(asked, effect)
        elif type(asked.requested.request) is DescribeQuorumRequest and expected_answer.error == Error.NONE:
            self._check_description(asked, response)

    def _names_leader(self, asked: Asked, response: Any, said: ExpectedAnswer) -> None:
        """A leader, or a node that follows one, answers with the leader's endpoint."""
        since = _NAMES_NODES.get(type(response).__name__)
        if since is None:
            return
        role = asked.process.replica.role
        leader = said.leader if said.leader != 0 else role.leader_id
        endpoints = [(node.node_id, node.host, node.port) for node in response.node_endpoints]
        right = []
        if leader is not None and leader > 0 and asked.requested.version >= since:
            # A node that has moved may be known at an address that it had before.
            hosts = self._hosts(leader) if leader in self._ledger.nodes else [endpoint(leader).host]
            host = endpoints[0][1] if endpoints and endpoints[0][1] in hosts else hosts[0]
            right = [(leader, host, endpoint(leader).port)]
        must = said.leader == role.leader_id and isinstance(role, (Leader, Follower)) and said.epoch == role.epoch
        if endpoints != right and (endpoints or must):
            raise Violation("S25", f"{_requester(asked)} gets the leader's endpoint {endpoints}, expected {right}")

    def _hosts(self, node_id: int) -> list[str]:
        """The addresses of a node, the present one first, and then those that it had."""
        node = self._ledger.nodes[node_id]
        return [node.host, *sorted(host for host, owner in node.network.hosts.items() if owner is node)]

    def _check_fetch(self, asked: Asked, effect: Any) -> None:
        replica = asked.process.replica
        request = asked.requested.request
        part = request.topics[0].partitions[0]
        data = effect.response.responses[0].partitions[0]
        known = {-1 if mark is None else mark for mark in (asked.watermark, replica.high_watermark)}
        if data.high_watermark not in known or data.log_start_offset not in {asked.start, replica.log.start}:
            text = f"the high watermark {data.high_watermark} and the start {data.log_start_offset}"
            raise Violation("S25", f"{_requester(asked)} gets {text}; they are {known} and {replica.log.start}")
        ends = {asked.end, replica.log.end}  # it may have waited within the step, and been called up
        if isinstance(effect, do.ReplyRecords):
            size = min(max(request.max_bytes, 0), replica.config.fetch_bytes_max)
            is_right = effect.start_offset == part.fetch_offset < effect.end_offset and effect.end_offset in ends
            if not is_right or effect.bytes_max != size or asked.expected_answer.detail is not None:
                raise Violation("S25", f"{_requester(asked)} gets {effect}, of a log that ends at {ends}")
        elif asked.expected_answer.detail is None and part.fetch_offset < asked.end:
            raise Violation("S25", f"{_requester(asked)} gets nothing of a log that ends at {asked.end}")
        elif (
            not self._may_be_called_up(asked) and asked.expected_answer.detail is None and not _has_news(asked, replica)
        ):
            raise Violation("S25", f"{_requester(asked)} is answered early, without news")

    def _may_be_called_up(self, asked: Asked) -> bool:
        """Whether a parked Fetch may be answered early: one that need not wait, and one of a voter of the leader's log,
        whose next Fetch confirms the leader.
        """
        request, process = asked.requested.request, asked.process
        voter_ids = self._ledger.voters(process).ids
        return request.max_wait_ms == 0 or request.replica_state.replica_id in {*self._ledger.voter_ids, *voter_ids}

    def _is_due(self, waited: Asked, until_ms: int, effect: Any) -> None:
        """A parked request is answered: by records, by the high watermark, at the end of a leadership, or in time."""
        process = waited.process
        replica = process.replica
        if type(waited.requested.request) is not FetchRequest or waited.expected_answer[1::3] != (Error.NONE, None):
            return  # it was held back until something was saved
        said = _actual_answer(effect.response)
        if said.error != Error.NONE:
            if said.error != Error.NOT_LEADER_OR_FOLLOWER or _leads_on(waited):
                raise Violation("S25", f"{_requester(waited)} waited, and is answered {said}")
            return
        is_early = process.clock.ms(self._world.now) < until_ms
        if is_early and not isinstance(effect, do.ReplyRecords) and not _has_news(waited, replica):
            raise Violation("S25", f"{_requester(waited)} is answered without news before its time is over")

    def _look_later(self, asked: Asked, until_ms: int) -> None:
        when = asked.process.clock.when(until_ms + LATE_MS)
        self._world.at(max(when, self._world.now + LATE_MS * MS), self._look, asked, until_ms)

    def _look(self, asked: Asked, until_ms: int) -> None:
        process = asked.process
        key = process.node.id, process.life, asked.source.connection
        if process.is_dead or key not in self._waiting or self._waiting[key][0] is not asked:
            return
        is_at_work = process.is_awake and not process.clock.frozen and not self._is_saving(process)
        if is_at_work and process.clock.ms(self._world.now) >= until_ms + LATE_MS:
            raise Violation("L05", f"{_requester(asked)} should be answered by {until_ms} ms, and has no answer")
        self._look_later(asked, until_ms)

    def _commits(self, process: Process, _effect: do.HighWatermark) -> None:
        """A parked Fetch of an observer is answered at once when more is committed (KIP-1166)."""
        now_ms = process.clock.ms(self._world.now)
        for (node_id, life, _), (asked, _) in self._waiting.items():
            request = asked.requested.request
            if (node_id, life) != (process.node.id, process.life) or type(request) is not FetchRequest:
                continue
            if not self._may_be_called_up(asked) and _leads_on(asked) and _has_news(asked, process.replica):
                self._look_later(asked, now_ms)

    # DescribeQuorum

    def _check_description(self, asked: Asked, response: Any) -> None:
        process = asked.process
        replica = process.replica
        book = self._books.get((process.node.id, process.life, replica.epoch), {})
        now_ms = process.clock.ms(self._world.now)
        version = asked.requested.version
        part = response.topics[0].partitions[0]
        voters = {voter.key.id: voter.key.directory_id for voter in replica.voters}
        for voter_id, directory in [key for key in book if key[1] != ZERO_UUID] + list(voters.items()):
            _take_directory(book, (voter_id, directory))
        right = []
        for voter_id in sorted(voters):
            named = [key for key in book if key[0] == voter_id and voters[voter_id] in {ZERO_UUID, key[1]}]
            last = max((book[key] for key in named), key=lambda fetched: fetched.at_ms, default=_NEVER)
            if voter_id == process.node.id:
                last = Fetched(asked.end, now_ms, asked.end, now_ms)
            right.append(_state(process, (voter_id, voters[voter_id]), last, version))
        session_ms = replica.config.observer_session_ms
        strange = [key for key in book if voters.get(key[0]) not in {ZERO_UUID, key[1]}]
        own = (process.node.id, process.node.key.directory_id)
        if own[0] not in voters:
            book[own] = Fetched(asked.end, now_ms, asked.end, now_ms)  # a leader that removed itself
            strange = sorted({*strange, own})
        seen = [key for key in sorted(strange) if now_ms - book[key].at_ms < session_ms]
        for key in strange:
            if key not in seen:
                del book[key]  # a replica that is left out is forgotten
        observers = [_state(process, key, book[key], version) for key in seen]
        description = (
            [_replica_values(state) for state in part.current_voters],
            [_replica_values(state) for state in part.observers],
        )
        if description != (right, observers):
            raise Violation("S26", f"{_requester(asked)} is answered {description}, expected {(right, observers)}")
        watermarks = {-1 if mark is None else mark for mark in (asked.watermark, replica.high_watermark)}
        if part.high_watermark not in watermarks:
            raise Violation(
                "S26", f"{_requester(asked)} is answered the high watermark {part.high_watermark}: {watermarks}"
            )
        nodes = [(node.node_id, [(end.name, end.host, end.port) for end in node.listeners]) for node in response.nodes]
        known = self._ledger.voters(process)
        hosts = dict(zip(known.ids, known.hosts, strict=True))
        places = [(each, [tuple(endpoint(each)._replace(host=hosts[each]))]) for each in sorted(voters)]
        if nodes != (places if version >= 2 else []):
            raise Violation("S26", f"{_requester(asked)} is answered nodes {nodes}")


def _note_request(process: Process, requested: Requested) -> Asked:
    replica = process.replica
    log = replica.log
    expected_answer = predict_answer(process, requested.request)
    return Asked(process, requested, expected_answer, log.end, replica.high_watermark, log.start)


_NEVER = Fetched(-1, -1, -1, -1)


def _take_directory(book: dict[tuple[int, bytes], Fetched], key: tuple[int, bytes]) -> None:
    """Name a voter by its directory id, where kraft.version was raised since it fetched as a static voter."""
    by_id = (key[0], ZERO_UUID)
    if key != by_id and by_id in book:
        book.setdefault(key, book.pop(by_id))


def _state(process: Process, key: tuple[int, bytes], last: Fetched, version: int) -> tuple[Any, ...]:
    offset_ms = process.replica.wall_offset_ms
    wall = [at_ms if at_ms < 0 else at_ms + offset_ms for at_ms in (last.at_ms, last.caught_up_ms)]
    return key[0], key[1] if version >= 2 else ZERO_UUID, last.offset, *wall


def _replica_values(state: Any) -> tuple[Any, ...]:
    times = state.last_fetch_timestamp, state.last_caught_up_timestamp
    return state.replica_id, state.replica_directory_id, state.log_end_offset, *times


def _actual_answer(response: Any) -> ExpectedAnswer:
    """The errors and the leader in an answer of any kind."""
    top = int(response.error_code)
    topics = response.responses if hasattr(response, "responses") else response.topics
    if not topics:
        return ExpectedAnswer(top)
    part = topics[0].partitions[0]
    leader = getattr(part, "current_leader", part)
    return ExpectedAnswer(top, part.error_code, leader.leader_epoch, leader.leader_id)


def _detail(effect: Any) -> Any:
    """The other fields of an answer, in the form of `expected_answer`."""
    response = effect.response
    if isinstance(effect, do.ReplySnapshot):
        part = response.topics[0].partitions[0]
        return part.snapshot_id.end_offset, part.snapshot_id.epoch, part.position, part.size
    if hasattr(response, "responses"):
        if not response.responses:
            return None
        data = response.responses[0].partitions[0]
        if _pair(data.diverging_epoch) != (-1, -1):
            return ("diverging", *_pair(data.diverging_epoch))
        return ("snapshot", *_pair(data.snapshot_id)) if _pair(data.snapshot_id) != (-1, -1) else None
    part = response.topics[0].partitions[0] if response.topics else None
    return getattr(part, "vote_granted", None)


def _pair(place: Any) -> tuple[int, int]:
    return place.end_offset, place.epoch


def _leads_on(asked: Asked) -> bool:
    """Whether the node still leads the epoch in which the request came."""
    role = asked.process.replica.role
    return role.epoch == asked.expected_answer.epoch and isinstance(role, Leader)


def _has_news(asked: Asked, replica: Any) -> bool:
    """Whether more is committed than the sender knew. A leader may resign in the step in which it commits."""
    known = asked.requested.request.topics[0].partitions[0].high_watermark
    watermark = replica.high_watermark if isinstance(replica.role, Leader) else replica.log.committed
    return watermark is not None and known < watermark


def _requester(asked: Asked) -> str:
    return f"a client that asked node {asked.process.node.id} {_short(asked.requested.request)}"


def _short(request: Any) -> str:
    text = str(request)
    return text if len(text) <= 300 else f"{text[:300]}…"
