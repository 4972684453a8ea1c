"""Voter sets (KIP-853): S19 VoterSetSafety, S30 VoterSetKnown, L06 ChangeEnds.

S19: a leader appends a voter set only where the one before it is committed, and a record of its own epoch; two
successive sets share a voter in each of their majorities. S30: a replica follows the newest voter set of its log from
the append on, also after a truncation, a restart or the load of a snapshot; an acknowledged change is committed. L06: a
change ends: it is answered in time, a removed leader resigns when its removal is committed, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface import effects as do
from raft.state.roles import Leader, Resigned
from records.errors import Error, error_name
from records.messages.voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterResponse,
)
from simulations.world.violation import Violation
from simulations.world.voter_sets import share_majorities
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.inputs import Requested, Source
    from raft.state.roles import Role
    from simulations.properties.answers import Answers
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Process
    from simulations.world.voter_sets import Key
    from simulations.world.world import World

# A timer is in whole milliseconds, and a step may wait for the one before it.
LATE_MS = 50


class Asked(NamedTuple):
    """A request for a change, at one process. told: is given the error of the answer. is_late: the process was asleep
    when the request came, and takes it later.
    """

    process: Process
    request: Any
    told: Callable[[int], None]
    is_late: bool


class Changes:
    """Checks voter sets. answers: how often each kind of request was answered with each error."""

    def __init__(self, ledger: Ledger, world: World, answers: Answers) -> None:
        self._ledger = ledger
        self._world = world
        self._answers = answers
        self._asked: set[tuple[str, int, bytes]] = set()  # kind of request, id and directory id
        self._waiting: dict[tuple[int, int, int], Asked] = {}  # by node, life, connection
        self._removed: dict[int, tuple[Role, int]] = {}  # node id: a leader that is no voter, and since when
        self.answers: dict[tuple[str, str], int] = {}
        self._caught_up: dict[int, set[Key]] = {}  # node id: of the voters whose record waits for its offset
        self.performs: dict[type, Any] = {
            do.Append: self._appends, do.Reply: self._replies, do.ReserveOffsets: self._reserves,
        }  # fmt: skip
        self.asked = {"AddVoter": self._asks, "RemoveVoter": self._asks}

    def on_started(self, process: Process) -> None:
        self._removed.pop(process.node.id, None)

    # What a leader appends

    def _appends(self, process: Process, effect: do.Append) -> None:
        role = process.replica.role
        if not isinstance(role, Leader) or effect.epoch != role.epoch:
            return
        ledger = self._ledger
        shadow = ledger.shadow(process)
        start, end = shadow.at(effect.base_offset), shadow.last
        before = ledger.formatted if start is None else ledger.voter_sets.at(start)
        after = ledger.voter_sets.at(end)
        if after is before or {key[0] for key in before.keys} == {key[0] for key in after.keys}:
            self._keeps(process, before.keys, after.keys)
            return
        who = f"node {process.node.id}, leader of epoch {role.epoch}, appends the voters {after.ids}"
        self._is_asked(process, who, set(before.keys), set(after.keys))
        if not share_majorities(before, after):
            raise Violation("S19", f"{who}; a majority of {before.ids} may have no voter of them")
        history = ledger.history
        committed = {each.offset for each in ledger.voter_sets.all_at(history.log.last)}
        if before.offset >= history.end or (before.offset >= 0 and before.offset not in committed):
            raise Violation("S19", f"{who}; the voters {before.ids} at {before.offset} are not committed")
        if not history.has_committed(role.epoch):
            raise Violation("S19", f"{who}, and has not committed a record of its epoch")

    def _reserves(self, process: Process, _effect: do.ReserveOffsets) -> None:
        """The leader has decided; a new voter may be silent, and be forgotten, until the record is appended."""
        role = process.replica.role
        change = role.state.change if isinstance(role, Leader) else None
        voters = () if change is None or change.voters is None else change.voters
        keys: list[Key] = [(voter.key.id, voter.key.directory_id) for voter in voters]
        self._caught_up[process.node.id] = {
            key for key in keys if (seen := self._answers.progress_of(process, key)) and seen.caught_up_ms >= 0
        }

    def _is_asked(self, process: Process, who: str, before: set[Key], after: set[Key]) -> None:
        """Somebody asked for this change; a new voter had caught up with the leader."""
        for kind, keys in (("AddVoter", after - before), ("RemoveVoter", before - after)):
            for key in keys:
                if (kind, *key) not in self._asked:
                    raise Violation("S19", f"{who}; nobody asked for the {kind} of {key}")
        for key in after - before:
            seen = self._answers.progress_of(process, key)
            if key not in self._caught_up.get(process.node.id, ()) and (seen is None or seen.caught_up_ms < 0):
                raise Violation("S19", f"{who}; node {key[0]} has never caught up: {seen}")

    def _keeps(self, process: Process, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        """An update changes no voter; with kraft.version 1 directory ids become known."""
        if before != after and any(not key[1].strip(b"\0") for key in after):
            raise Violation("S19", f"node {process.node.id} appends voters without directory ids: {after}")
        for old, new in zip(before, after, strict=True):
            if old != new and old[1].strip(b"\0"):
                raise Violation("S19", f"node {process.node.id} replaces the voter {old[0]} by one with another disk")

    # What a replica follows

    def on_stepped(self, process: Process) -> None:
        ledger, replica = self._ledger, process.replica
        shadow = ledger.shadows.get(process.node.id)
        if shadow is None or replica.log.end != shadow.end or replica.log.last_epoch != max(shadow.last_epoch, 0):
            return  # orders are not performed yet
        known = ledger.voters(process)
        said = tuple(tuple(voter.key) for voter in replica.voters)
        hosts = tuple(voter.endpoints[0].host for voter in replica.voters)
        if (said, hosts) != (known.keys, known.hosts):
            text = f"node {process.node.id} follows the voters {replica.voters} at {hosts}; its log has {known}"
            raise Violation("S30", text)
        if replica.is_voter != known.holds(process.node.key):
            raise Violation("S30", f"node {process.node.id} says that it is a voter: {replica.is_voter}, of {known}")
        self._leads_on(process, known)

    def _leads_on(self, process: Process, known: Any) -> None:
        """A leader whose removal is committed resigns."""
        role, watermark = process.replica.role, process.replica.high_watermark
        if not isinstance(role, Leader) or known.holds(process.node.key):
            return
        if watermark is not None and watermark > known.offset:
            raise Violation(
                "L06", f"node {process.node.id} leads epoch {role.epoch} on, and is removed from the voters"
            )

    # Requests

    def _asks(self, _process: Process, frame: Frame, requested: Requested) -> None:
        """A node asks for a change by itself."""
        request = requested.request
        self._asked.add((frame.name, request.voter_id, request.voter_directory_id))

    def asks(self, process: Process, source: Source, request: Any, told: Callable[[int], None]) -> None:
        """The administrator asks a process for a change."""
        key = (process.node.id, process.life, source.connection)
        self._waiting[key] = Asked(process, request, told, is_late=not process.is_awake)
        kind = "AddVoter" if isinstance(request, AddRaftVoterRequest) else "RemoveVoter"
        self._asked.add((kind, request.voter_id, request.voter_directory_id))
        limit_ms = process.now_ms() + process.replica.config.request_timeout_ms + LATE_MS
        self._world.at(process.clock.when(limit_ms), self._is_late, key, limit_ms)

    def _is_late(self, key: tuple[int, int, int], limit_ms: int) -> None:
        asked = self._waiting.get(key)
        if asked is None or asked.process.is_dead or asked.process.has_failed:
            self._waiting.pop(key, None)
            return
        process = asked.process
        now_ms = process.now_ms()
        waits = not process.is_awake or process.clock.frozen or process.replica._held  # noqa: SLF001
        if waits or asked.is_late or now_ms < limit_ms:
            # It was paused, or its answers wait for the disk: it has as long again.
            self._waiting[key] = asked._replace(is_late=False)
            limit_ms = max(limit_ms, now_ms + process.replica.config.request_timeout_ms + LATE_MS)
            self._world.after(LATE_MS * MS, self._is_late, key, limit_ms)
            return
        what = type(asked.request).__name__
        raise Violation("L06", f"node {process.node.id} has not answered a {what} within its request timeout")

    def _replies(self, process: Process, effect: do.Reply) -> None:
        asked = self._waiting.pop((process.node.id, process.life, effect.source.connection), None)
        if asked is None:
            return
        response = effect.response
        assert isinstance(response, (AddRaftVoterResponse, RemoveRaftVoterResponse)), response
        error = response.error_code
        count = (type(asked.request).__name__, error_name(error))
        self.answers[count] = self.answers.get(count, 0) + 1
        if error == Error.NONE:
            self._is_made(process, asked.request)
        self._world.after(0, asked.told, error)

    def _is_made(self, process: Process, request: Any) -> None:
        """A change that is acknowledged is in the committed voter set."""
        is_add = isinstance(request, AddRaftVoterRequest)
        key = (request.voter_id, request.voter_directory_id)
        waits = not is_add or request.ack_when_committed
        voters = self._ledger.committed_voters if waits else self._ledger.voters(process)
        if (key in voters.keys) != is_add:
            verb = "adds" if is_add else "removes"
            where = "committed" if waits else "its own"
            text = f"node {process.node.id} says that it {verb} voter {key[0]}; the {where} voters are {voters.keys}"
            raise Violation("S30", text)

    def became(self, process: Process, was: Role | None, role: Role) -> None:
        """A leader that is removed resigns for that only when its removal is committed."""
        if not isinstance(was, Leader) or not isinstance(role, Resigned):
            return
        if was.state.is_removed and process.replica.log.committed <= self._ledger.voters(process).offset:
            raise Violation("L06", f"node {process.node.id} resigns, and its removal is not committed")
